//! MPI's functions for inter-communicators, which two groups of ranks talk over.

use std::rc::Rc;

use p2p_protocol::model::{Action, Collective, CollectiveKind};

use super::super::communicator::Made;
use super::communicator::{Known, keep, known, known_intra};
use super::invocation::Invocation;
use crate::evaluate::Understood;
use crate::evaluate::handle::{Communicator, KnownCommunicator};
use crate::evaluate::machine::{Machine, Outcome, Told};
use crate::evaluate::state::Counted;

/// `(communicator, its leader, the leaders' communicator, the other leader, tag, new communicator)`:
/// what the leaders tell each other of their groups is told to all of both.
pub(super) fn create(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (of, local) = known_intra(machine, asked, 0)?;
    let (_, peers) = known_intra(machine, asked, 2)?;
    let leader = asked.number(machine, 1).and_then(|rank| local.member(rank.into()));
    let other = asked.number(machine, 3).and_then(|rank| peers.member(rank.into()));
    let leaders = leader.zip(other).and_then(|(leader, other)| {
        Some((u32::try_from(leader.get()).ok()?, u32::try_from(other.get()).ok()?))
    });
    let (Some((leader, other)), Some(tag)) = (leaders, asked.number(machine, 4)) else {
        return Err(asked.lost(machine, "which groups it brings together is not known here"));
    };
    machine.understood(asked.place(), Understood::Fully);
    let both: Rc<[u32]> = Rc::new([leader.min(other), leader.max(other)]);
    let meeting = format!("leaders of groups on {} with tag {tag}", peers.id);
    let id = machine.communicator(&meeting, "leaders of groups", &both);
    let met = KnownCommunicator { id, members: both.into(), ..local.clone() };
    let number = machine.count(Counted::Meetings(id));
    let mine = local.members.each().clone();
    let told = Told::Numbers(mine.iter().map(|rank| Some(i128::from(*rank))).collect());
    let Some(all) = machine.exchange(&met, told) else { return Err(machine.untold(asked.place())) };
    let theirs = all.get(usize::from(other > leader)).and_then(ranks);
    let (Some(theirs), Some(number)) = (theirs, number) else {
        return Err(asked.lost(machine, "which ranks the other group has is not known"));
    };
    let all = united(&mine, &theirs);
    let name = format!("{} and another group", of.name);
    let id = machine.communicator(&format!("{meeting}, meeting {number}"), "two groups", &all);
    let collective = Collective::of(CollectiveKind::MakeCommunicator, id);
    machine.emit(Action::Collective(collective), asked.place())?;
    let known =
        KnownCommunicator { id, remote: Some(theirs), grid: None, neighbors: None, ..local };
    let made = Communicator { known: Some(known), name: name.into(), made: None };
    keep(machine, asked, 5, Some(Rc::new(made)))
}

/// The ranks that a leader tells of.
fn ranks(told: &Told) -> Option<Rc<[u32]>> {
    let Told::Numbers(numbers) = told else { return None };
    numbers.iter().map(|number| u32::try_from((*number)?).ok()).collect()
}

/// The ranks of both groups, in an order that is the same for both.
pub(super) fn united(one: &[u32], other: &[u32]) -> Rc<[u32]> {
    let (first, second) = if one.first() < other.first() { (one, other) } else { (other, one) };
    first.iter().chain(second).copied().collect()
}

/// `(inter-communicator, whether this group comes last, new communicator)`
pub(super) fn merge(machine: &mut Machine<'_>, asked: &Invocation<'_, '_>) -> Outcome<()> {
    let (of, between): Known = known(machine, asked, 0)?;
    let Some(theirs) = between.remote.clone() else {
        return Err(asked.lost(machine, "its communicator has no other group"));
    };
    machine.understood(asked.place(), Understood::Fully);
    let mine = between.members.each().clone();
    let high = asked.number(machine, 1).map(|high| i128::from(high != 0));
    let collective = Collective::of(CollectiveKind::MakeCommunicator, between.id);
    machine.emit(Action::Collective(collective), asked.place())?;
    let number = machine.count(Counted::Collectives(between.id));
    let all = united(&mine, &theirs);
    let met = KnownCommunicator { members: all.clone().into(), remote: None, ..between };
    let Some(told) = machine.exchange(&met, Told::Numbers(vec![high])) else {
        return Err(machine.untold(asked.place()));
    };
    let comes_last = |group: &[u32]| {
        let at = all.iter().position(|rank| Some(rank) == group.first())?;
        match told.get(at)? {
            Told::Numbers(numbers) => *numbers.first()?,
            Told::Nothing => None,
        }
    };
    let members: Option<Rc<[u32]>> = match (comes_last(&mine), comes_last(&theirs)) {
        (Some(0), Some(1)) => Some(mine.iter().chain(theirs.iter()).copied().collect()),
        (Some(1), Some(0)) => Some(theirs.iter().chain(mine.iter()).copied().collect()),
        // Which comes first is MPI's affair.
        (Some(_), Some(_)) => Some(all.clone()),
        _ => None,
    };
    let Some(members) = members else {
        return Err(asked.lost(machine, "which group comes first is not known"));
    };
    let made = Made { number, what: "merged".to_owned(), members };
    let made = made.communicator(machine, &of, &met, None);
    keep(machine, asked, 2, Some(made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_groups_see_the_same_order() {
        assert_eq!(united(&[3, 1], &[0, 2])[..], [0, 2, 3, 1]);
        assert_eq!(united(&[0, 2], &[3, 1])[..], [0, 2, 3, 1]);
    }
}
