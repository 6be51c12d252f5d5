//! Where a rank may come to from a step, whatever others do: for rules about what is never done.

use crate::model::{Action, Behaviour, Departure, Event, Position};

/// The steps of one rank, and how they follow each other.
#[derive(Clone, Copy)]
pub(super) struct Flow<'b> {
    events: &'b [Event],
}

/// The steps that may come behind others.
pub(super) struct Reached<'b> {
    events: &'b [Event],
    /// For each step, and for the end behind the last one.
    reached: Vec<bool>,
}

impl<'b> Flow<'b> {
    pub(super) fn of(behaviour: &'b Behaviour) -> Self {
        Flow { events: &behaviour.events }
    }

    /// The steps at which something is done.
    pub(super) fn steps(
        self,
        is_meant: impl Fn(&Action) -> bool + 'b,
    ) -> impl Iterator<Item = Position> + 'b {
        let all = self.events.iter().enumerate();
        all.filter(move |(_, event)| is_meant(&event.action)).map(|(position, _)| position)
    }

    /// What may come behind these steps. A step at which `stops` holds is come to and not passed.
    pub(super) fn behind(
        self,
        from: impl IntoIterator<Item = Position>,
        stops: impl Fn(&Action) -> bool,
    ) -> Reached<'b> {
        let mut reached = vec![false; self.events.len() + 1];
        let mut open = Vec::new();
        for position in from {
            self.open_behind(position, &mut open);
        }
        while let Some(position) = open.pop() {
            let Some(known) = reached.get_mut(position).filter(|known| !**known) else { continue };
            *known = true;
            if self.events.get(position).is_some_and(|event| !stops(&event.action)) {
                self.open_behind(position, &mut open);
            }
        }
        Reached { events: self.events, reached }
    }

    /// What comes behind a step as long as there is one way only, in the order of the steps.
    pub(super) fn straight_behind(self, position: Position) -> impl Iterator<Item = &'b Action> {
        let behind = self.events.get(position + 1..).unwrap_or_default();
        let actions = behind.iter().map(|event| &event.action);
        actions.take_while(|action| action.falls_through() && action.targets().is_empty())
    }

    /// The steps that may come next are to be looked at.
    fn open_behind(self, position: Position, open: &mut Vec<Position>) {
        let Some(event) = self.events.get(position) else { return };
        open.extend(event.action.targets());
        open.extend(event.action.falls_through().then_some(position + 1));
    }
}

impl Reached<'_> {
    /// Whether a step is among them.
    pub(super) fn has(&self, position: Position) -> bool {
        self.reached.get(position).copied().unwrap_or(false)
    }

    /// Whether a step is among them at which something is done.
    pub(super) fn does(&self, is_meant: impl Fn(&Action) -> bool) -> bool {
        self.actions().any(is_meant)
    }

    /// Whether the rank's ordinary end is among them, and nothing of which nobody knows what it
    /// does.
    pub(super) fn ends(&self) -> bool {
        let returns =
            |action: &Action| matches!(action, Action::Leave { departure: Departure::Returned });
        (self.has(self.events.len()) || self.does(returns))
            && !self.does(|action| *action == Action::Opaque)
    }

    fn actions(&self) -> impl Iterator<Item = &Action> {
        let events = self.events.iter().zip(&self.reached);
        events.filter(|(_, reached)| **reached).map(|(event, _)| &event.action)
    }
}

#[cfg(test)]
mod tests {
    use super::Flow;
    use crate::engine::samples::{send, world};
    use crate::model::{Action, Departure};

    #[test]
    fn ways_are_followed_to_the_end() {
        let leave = Action::Leave { departure: Departure::Aborted };
        let actions = vec![
            Action::Branch { targets: [1, 3].into() },
            send(1, 0),
            leave,
            Action::Jump { target: 5 },
            send(1, 1),
        ];
        let world = world(vec![actions]);
        let flow = Flow::of(&world.behaviours[0]);
        let reached = flow.behind([0], |_| false);
        let positions: Vec<usize> = (0..6).filter(|at| reached.has(*at)).collect();
        assert_eq!(positions, [1, 2, 3, 5]);
        assert!(reached.ends());
        let stopped = flow.behind([0], |action| matches!(action, Action::Jump { .. }));
        assert!(stopped.has(3) && !stopped.ends(), "the other way aborts");
    }
}
