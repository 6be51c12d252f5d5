//! What puts the steps of two ranks in order: collectives that both enter, and messages.
//!
//! Only looked at as far as a rank's way is one, and taken rather for more than there is: two steps count
//! as ordered as soon as they may be.

use std::collections::BTreeSet;

use crate::model::{Action, CommunicatorId, Position, Rank, RequestId, WindowStep, World};

/// The way of a rank from its start, up to where it depends on what nobody knows.
pub(super) struct Way {
    rank: Rank,
    /// The steps that are gone through, which come in their order.
    steps: BTreeSet<Position>,
    /// Those of them that may put it in order with others.
    meetings: Vec<(Position, Meeting)>,
    /// Whether it goes on from here, nobody knows how.
    goes_on: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Meeting {
    Collective(CommunicatorId),
    /// A message, or something else that others may hear of.
    Message,
}

impl Way {
    pub(super) fn of(world: &World, rank: Rank) -> Self {
        let events = &world.behaviours[rank as usize].events;
        let mut way =
            Way { rank, steps: BTreeSet::new(), meetings: Vec::new(), goes_on: false };
        let mut accesses = BTreeSet::new();
        let mut position = 0;
        while let Some(event) = events.get(position) {
            let targets = event.action.targets();
            let next = match targets[..] {
                [only] if !event.action.falls_through() => Some(only).filter(|it| *it > position),
                [] if event.action.falls_through() => Some(position + 1),
                _ => None,
            };
            let Some(next) = next else {
                way.goes_on = !matches!(event.action, Action::Leave { .. });
                break;
            };
            way.steps.insert(position);
            if let Some(meeting) = meeting(&event.action, &mut accesses) {
                way.meetings.push((position, meeting));
            }
            position = next;
        }
        way
    }

    /// Whether a step lies on it.
    pub(super) fn has(&self, position: Position) -> bool {
        self.steps.contains(&position)
    }

    /// The steps of it behind one.
    pub(super) fn behind(&self, position: Position) -> impl Iterator<Item = Position> + '_ {
        self.steps.range(position + 1..).copied()
    }

    /// Whether all that this rank does up to a step may be done before another rank comes to a step.
    pub(super) fn may_be_before(
        &self,
        world: &World,
        here: Position,
        other: &Way,
        there: Position,
    ) -> bool {
        let are_both_in = |communicator: CommunicatorId| {
            world.belongs(communicator, self.rank) && world.belongs(communicator, other.rank)
        };
        let is_met = |meeting: Meeting| match meeting {
            Meeting::Collective(communicator) => are_both_in(communicator),
            Meeting::Message => false,
        };
        let passed = |way: &Way, until: Position, communicator: Meeting| {
            let before = way.meetings.iter().take_while(|(position, _)| *position <= until);
            before.filter(|(_, meeting)| *meeting == communicator).count()
        };
        let before = || other.meetings.iter().rev().filter(|(position, _)| *position < there);
        let is_ahead = before().any(|(_, meeting)| {
            is_met(*meeting) && passed(other, there, *meeting) > passed(self, here, *meeting)
        });
        let hears = before().next().is_some_and(|(_, meeting)| !is_met(*meeting));
        let mut after = self.meetings.iter().skip_while(|(position, _)| *position <= here);
        let speaks = match after.next() {
            Some((_, meeting)) => !is_met(*meeting),
            None => self.goes_on,
        };
        is_ahead || hears && speaks
    }
}

/// What a step lets others know, or lets its rank know of others. `accesses`: the requests of one-sided
/// accesses, which only the rank itself waits for.
fn meeting(action: &Action, accesses: &mut BTreeSet<RequestId>) -> Option<Meeting> {
    match action {
        Action::OneSided(it) => {
            accesses.extend(it.access().and_then(|access| access.request));
            let meets = matches!(
                it.step,
                WindowStep::Start { .. }
                    | WindowStep::Complete
                    | WindowStep::Post { .. }
                    | WindowStep::Wait
            );
            meets.then_some(Meeting::Message)
        }
        Action::Collective(collective) => Some(Meeting::Collective(collective.communicator)),
        Action::Wait { requests, .. } if requests.iter().all(|it| accesses.contains(it)) => None,
        Action::Jump { .. } | Action::AttachBuffer { .. } | Action::Overwrite { .. } => None,
        action if action.moves_nothing() => None,
        action => {
            for request in action.requests() {
                accesses.remove(request);
            }
            match action {
                Action::StartCollective { collective, .. } => {
                    Some(Meeting::Collective(collective.communicator))
                }
                _ => Some(Meeting::Message),
            }
        }
    }
}
