//! Ranks that may change places.
//!
//! Two workers that do the same, stand at the same step and are named by nobody are the same to
//! everybody: whichever of them a wildcard takes a message of, what follows is the same but for
//! their numbers. One of them is enough (symmetry reduction, Clarke and others 1996).

use rustc_hash::FxHashMap;

use super::matching::{Completes, Pending};
use super::options::{Choice, until};
use super::{Machine, RequestStatus};
use crate::model::{
    Action, Behaviour, CollectiveKind, CommunicatorId, Data, Peer, Place, Position, Rank, Tag,
    WindowStep, World,
};

/// Which ranks could ever change places, and until when others name them.
#[derive(Debug, Default)]
pub(super) struct Symmetry {
    /// Ranks of the same number do the same; `None` for those that nobody is like.
    class: Vec<Option<u32>>,
    /// The last step at which a rank names another, counting loops to their end.
    named: FxHashMap<(Rank, Rank), Position>,
}

impl Symmetry {
    pub(super) fn of(world: &World) -> Self {
        if !may_change_places(world) {
            return Symmetry { class: vec![None; world.behaviours.len()], ..Symmetry::default() };
        }
        let mut known: FxHashMap<(&[crate::model::Event], Vec<bool>), Vec<Rank>> =
            FxHashMap::default();
        for (rank, behaviour) in (0..).zip(&world.behaviours) {
            let member = |communicator| world.belongs(communicator, rank);
            let communicators = 0..CommunicatorId::try_from(world.communicators.len()).unwrap_or(0);
            let accepted =
                wildcards(world).into_iter().map(|(first, end)| (first..end).contains(&rank));
            let traits = communicators.map(member).chain(accepted).collect();
            known.entry((&behaviour.events, traits)).or_default().push(rank);
        }
        let mut class = vec![None; world.behaviours.len()];
        for (number, ranks) in (0..).zip(known.into_values()).filter(|(_, ranks)| ranks.len() > 1) {
            for rank in ranks {
                class[rank as usize] = Some(number);
            }
        }
        let mut named = FxHashMap::default();
        for (rank, behaviour) in (0..).zip(&world.behaviours) {
            note_names(rank, behaviour, &mut named);
        }
        Symmetry { class, named }
    }
}

/// Whether ranks are told apart by nothing but what they do: in a scan their order matters, epochs know
/// who has come, and where data decide, runs are compared rank by rank.
fn may_change_places(world: &World) -> bool {
    let mut events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    !events.any(|event| match &event.action {
        Action::Branch { .. } => true,
        Action::Collective(collective) | Action::StartCollective { collective, .. } => {
            matches!(collective.kind, CollectiveKind::Scan | CollectiveKind::Exscan)
        }
        Action::OneSided(it) => {
            matches!(it.step, WindowStep::Start { .. } | WindowStep::Post { .. })
        }
        _ => false,
    })
}

/// The ranges of all wildcards, each once.
fn wildcards(world: &World) -> Vec<(Rank, Rank)> {
    let events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    let mut ranges: Vec<(Rank, Rank)> = events
        .filter_map(|event| match super::receiving_peer(&event.action) {
            Some(Peer::Any { first, end }) => Some((first, end)),
            _ => None,
        })
        .collect();
    ranges.sort_unstable();
    ranges.dedup();
    ranges
}

/// Takes down whom a rank names, and until when.
fn note_names(rank: Rank, behaviour: &Behaviour, named: &mut FxHashMap<(Rank, Rank), Position>) {
    let until = until(&behaviour.events);
    for (position, event) in behaviour.events.iter().enumerate() {
        for other in names(&event.action).into_iter().filter_map(|name| Rank::try_from(name).ok()) {
            let last = named.entry((rank, other)).or_default();
            *last = (*last).max(until[position]);
        }
    }
}

/// The ranks that a step names by their number.
fn names(action: &Action) -> Vec<i32> {
    let peers = action.peers().filter_map(|peer| match peer {
        Peer::Rank(rank) => Some(rank),
        _ => None,
    });
    let root = action.collective().and_then(|collective| collective.root);
    peers.chain(root).collect()
}

/// What an unmatched operation is, apart from when it was started.
type Essence = (u32, bool, Peer, Tag, CommunicatorId, Option<u32>, bool);

/// A message on its way: who sends it, its tag and communicator, what it carries, and where it is
/// sent.
type Sent = (Rank, Tag, CommunicatorId, Data, Place);

impl Machine<'_> {
    /// Of the options of one wildcard, one for each kind of sender.
    pub(in crate::engine) fn representatives(&self, choices: &[Choice]) -> Vec<Choice> {
        let senders = choices.iter().map(|&choice| self.sender(choice));
        let Some(senders) = senders.collect::<Option<Vec<_>>>() else { return choices.to_vec() };
        if senders.iter().all(|&(sender, _)| self.class(sender).is_none()) {
            return choices.to_vec();
        }
        let named = self.named();
        // The options of those that others are like, and all that is kept.
        let mut firsts: Vec<(Rank, _)> = Vec::new();
        let mut kept = Vec::new();
        for (&choice, (sender, of)) in choices.iter().zip(senders) {
            if !named[sender as usize] && self.class(sender).is_some() {
                let alike = |&(other, as_of)| as_of == of && self.may_change_places(sender, other);
                if firsts.iter().any(alike) {
                    continue;
                }
                firsts.push((sender, of));
            }
            kept.push(choice);
        }
        kept
    }

    /// Whose message an option takes or sees, and by which wildcard: of which rank, started when.
    fn sender(&self, choice: Choice) -> Option<(Rank, (Rank, Option<u32>))> {
        match choice {
            Choice::Match { message, wildcard } => {
                let rank = self.pending[wildcard as usize].rank;
                Some((self.pending[message as usize].rank, (rank, Some(wildcard))))
            }
            Choice::Probe { rank, source } => Some((source, (rank, None))),
            _ => None,
        }
    }

    /// What a rank is like, if some other is like it.
    fn class(&self, rank: Rank) -> Option<u32> {
        self.symmetry.class.get(rank as usize).copied().flatten()
    }

    /// Whether two ranks that nobody names may change places.
    fn may_change_places(&self, one: Rank, other: Rank) -> bool {
        self.class(one).is_some()
            && self.class(one) == self.class(other)
            && self.stand_alike(one, other)
            && self.essences(one) == self.essences(other)
            && self.sent_to(one).is_some_and(|sent| Some(sent) == self.sent_to(other))
    }

    /// Whether two ranks are in the same state, as far as that is their own.
    fn stand_alike(&self, one: Rank, other: Rank) -> bool {
        let (first, second) = (self.state(one), self.state(other));
        let live = |rank: Rank| {
            let state = self.state(rank);
            let slots = state.sources.iter().enumerate();
            slots
                .map(|(slot, met)| {
                    met.filter(|_| self.liveness.matters(rank, state.position, slot))
                })
                .collect::<Vec<_>>()
        };
        let requests = first.requests.iter().zip(&second.requests).all(|(first, second)| {
            first.status == second.status
                && first.plan == second.plan
                && first.awaited == second.awaited
                && (!first.is_active()
                    || (first.described, first.started) == (second.described, second.started))
        });
        (first.position, first.status, first.met, first.attached, first.buffered)
            == (second.position, second.status, second.met, second.attached, second.buffered)
            && first.collectives == second.collectives
            && requests
            && live(one) == live(other)
    }

    /// Which ranks some rank knows apart from others, now or at a later step.
    fn named(&self) -> Vec<bool> {
        let mut named = vec![false; self.ranks.len()];
        let mut name = |rank: Rank| {
            if let Some(named) = named.get_mut(rank as usize) {
                *named = true;
            }
        };
        for (&(by, rank), &last) in &self.symmetry.named {
            if last >= self.state(by).position as Position {
                name(rank);
            }
        }
        let concrete = |peer: Peer| match peer {
            Peer::Rank(rank) => Rank::try_from(rank).ok(),
            _ => None,
        };
        for (by, state) in (0..).zip(&self.ranks) {
            let slots = state.sources.iter().enumerate().filter_map(|(slot, met)| {
                met.filter(|_| self.liveness.matters(by, state.position, slot))
            });
            let requests = state.requests.iter().filter_map(|request| match request.status {
                RequestStatus::Complete(met) => met,
                _ => None,
            });
            let here = state.met.iter().map(|(met, _)| *met);
            slots.chain(requests).chain(here).for_each(|met| name(met.source));
            let plans = state.requests.iter().filter_map(|request| concrete(request.plan?.1));
            plans.for_each(&mut name);
        }
        let posted = self.pending.iter().filter(|pending| pending.live && !pending.sending);
        posted.filter_map(|pending| concrete(pending.peer)).for_each(name);
        named
    }

    /// The unmatched operations of a rank, in order.
    fn essences(&self, rank: Rank) -> Vec<Essence> {
        let mut own: Vec<&Pending> =
            self.pending.iter().filter(|pending| pending.live && pending.rank == rank).collect();
        own.sort_unstable_by_key(|pending| pending.sequence);
        let essence = |pending: &&Pending| {
            let completes = match pending.completes {
                Completes::Nothing => None,
                Completes::Step => Some(u32::MAX),
                Completes::Buffered => Some(u32::MAX - 1),
                Completes::Request(id, generation) => {
                    let current = self.request(rank, id).generation == generation;
                    current.then_some(id)
                }
            };
            let Pending { position, sending, peer, tag, communicator, freed, .. } = **pending;
            (position, sending, peer, tag, communicator, completes, freed)
        };
        own.iter().map(essence).collect()
    }

    /// What is on its way to a rank, by sender and in order; a sender that waits for it to be taken
    /// is not like any other.
    fn sent_to(&self, rank: Rank) -> Option<Vec<Sent>> {
        let peer = Peer::Rank(rank.cast_signed());
        let mut sent: Vec<&Pending> = self
            .pending
            .iter()
            .filter(|pending| pending.live && pending.sending && pending.peer == peer)
            .collect();
        if sent.iter().any(|pending| pending.completes != Completes::Nothing) {
            return None;
        }
        sent.sort_unstable_by_key(|pending| (pending.rank, pending.sequence));
        let what = |pending: &&Pending| {
            let event =
                &self.world.behaviours[pending.rank as usize].events[pending.position as usize];
            let data = super::envelope(event, true).expect("a message was started by a send").data;
            (pending.rank, pending.tag, pending.communicator, data, event.place)
        };
        Some(sent.iter().map(what).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::samples::{envelope, receive, send, world};
    use crate::engine::{Judge, Options};
    use crate::model::{Action, Envelope, Mode, Peer, Place, Tag};

    const RANKS: u32 = 64;

    /// What is said of a world besides the race itself, and how many states that took.
    fn judged(ranks: Vec<Vec<Action>>) -> (Vec<&'static str>, usize) {
        let mut world = world(ranks);
        for (rank, behaviour) in (0_u32..).zip(&mut world.behaviours) {
            for (position, event) in (0..).zip(&mut behaviour.events) {
                // All workers run the same text.
                event.place = Place(position + if rank == 0 { 1_000 } else { 0 });
            }
        }
        let mut judge = Judge::new(Options::default());
        assert!(judge.judge(&world), "not everything was followed");
        let states = judge.states();
        let findings = judge.finish().findings;
        let rules = findings.iter().map(|one| one.rule).filter(|rule| *rule != "message-race");
        (rules.collect(), states)
    }

    fn any(tag: i32) -> Action {
        let envelope = envelope(Peer::Any { first: 1, end: RANKS }, tag);
        Action::Receive { envelope, binds: Some(0) }
    }

    fn answer(tag: i32) -> Action {
        Action::Send { mode: Mode::Standard, envelope: envelope(Peer::Source(0), tag) }
    }

    /// Takes tasks (tag 1) until it is told to stop (tag 9), and sends the result of each (tag 2).
    fn worker() -> Vec<Action> {
        let task = Envelope { tag: Tag::Any, ..envelope(Peer::Rank(0), 0) };
        vec![
            Action::Receive { envelope: task, binds: Some(0) },
            Action::BranchOnTag { slot: 0, arms: [(9, 4)].into(), otherwise: 2 },
            send(0, 2),
            Action::Jump { target: 0 },
        ]
    }

    /// Hands out a task to each, and more of them to whoever has finished.
    fn farm(more: usize, stops: usize) -> Vec<Vec<Action>> {
        let first = (1..RANKS.cast_signed()).map(|rank| send(rank, 1));
        let more = (0..more).flat_map(|_| [any(2), answer(1)]);
        let stops = (0..stops).flat_map(|_| [any(2), answer(9)]);
        let master = first.chain(more).chain(stops).collect();
        std::iter::once(master).chain((1..RANKS).map(|_| worker())).collect()
    }

    #[test]
    fn workers_may_change_places() {
        let (rules, states) = judged(farm(20, RANKS as usize - 1));
        assert_eq!(rules, [""; 0]);
        assert!(states < 400, "{states} states");
    }

    #[test]
    fn one_worker_too_few_is_told_to_stop() {
        let (rules, _) = judged(farm(3, RANKS as usize - 2));
        assert!(!rules.is_empty());
    }

    #[test]
    fn a_worker_that_is_named_later_is_another() {
        let any = Action::Receive {
            envelope: envelope(Peer::Any { first: 1, end: 4 }, 0),
            binds: Some(0),
        };
        let master = vec![any.clone(), answer(1), any, answer(1), receive(3, 0)];
        let worker = || vec![send(0, 0), receive(0, 1)];
        let last = vec![send(0, 0)];
        let (rules, _) = judged(vec![master, worker(), worker(), last]);
        assert_eq!(
            rules.iter().filter(|rule| **rule == "deadlock-by-race").count(),
            1,
            "{rules:?}"
        );
    }
}
