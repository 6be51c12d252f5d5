//! What one rank does, in rounds.
//!
//! A round starts some messages, then waits for some, and may end in a collective. Within a round
//! the order does not matter to anybody: messages of one pair of ranks keep theirs, and what is
//! waited for is there when the round is over. A blocking send is a round of its own; a
//! send-receive and two started operations with one wait for both are the same round.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    Action, Behaviour, Collective, Completion, Departure, Envelope, Mode, Peer, Position, RequestId,
};

/// A message that is started, or a receive that is posted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// The step.
    pub(super) position: Position,
    /// How it is sent; `None`: it is received.
    pub(super) mode: Option<Mode>,
    pub(super) envelope: Envelope,
}

/// How a round ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// In another round, which begins with this step.
    Open(Position),
    /// In a collective.
    Collective(Position, Collective),
    /// With the last of the rank's steps.
    Last,
}

impl End {
    /// The step that it ends before or with.
    pub(super) fn position(self) -> Option<Position> {
        match self {
            End::Open(position) | End::Collective(position, _) => Some(position),
            End::Last => None,
        }
    }
}

/// Some steps of one rank.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// What is started, in order.
    pub(super) moves: Vec<Move>,
    /// What is waited for: numbers in the order of all that was ever started.
    pub(super) completes: BTreeSet<usize>,
    pub(super) end: End,
}

/// Where a rank stands between two rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Walker {
    pub(super) position: Position,
    /// How much it has started so far.
    started: usize,
    /// What its active requests were started as.
    active: BTreeMap<RequestId, usize>,
    /// The plans of its persistent requests.
    plans: BTreeMap<RequestId, Move>,
}

/// What a step is to a round.
enum Step {
    Next,
    /// It belongs to the next round.
    Over,
    Ends(End),
    Goes(Vec<Position>),
    Unknown,
}

/// A way through a behaviour that is open to the end of its round.
type Way = (Round, Walker);

impl Walker {
    /// The rounds that may come next, each with where it leads: several where the rank decides or
    /// is told. `None` where it depends on what is not known.
    pub(super) fn next(&self, behaviour: &Behaviour) -> Option<Vec<Way>> {
        let empty =
            Round { moves: Vec::new(), completes: BTreeSet::new(), end: End::Open(self.position) };
        let mut open = vec![(empty, self.clone())];
        let mut rounds = Vec::new();
        let mut left = 4 * behaviour.events.len() + 4;
        while let Some((mut round, mut walker)) = open.pop() {
            // Who goes round without a message does not come to a round's end.
            left = left.checked_sub(1)?;
            match walker.step(behaviour, &mut round) {
                Step::Unknown => return None,
                Step::Next => {
                    walker.position += 1;
                    open.push((round, walker));
                }
                Step::Goes(targets) => open.extend(
                    targets
                        .into_iter()
                        .map(|position| (round.clone(), Walker { position, ..walker.clone() })),
                ),
                Step::Over => {
                    let end = End::Open(walker.position);
                    rounds.push((Round { end, ..round }, walker));
                }
                Step::Ends(end) => {
                    walker.position += 1;
                    rounds.push((Round { end, ..round }, walker));
                }
            }
        }
        Some(rounds)
    }

    /// Takes the step at its position into a round.
    fn step(&mut self, behaviour: &Behaviour, round: &mut Round) -> Step {
        let Some(event) = behaviour.events.get(self.position) else { return Step::Ends(End::Last) };
        let sends = |mode: Mode, envelope: &Envelope| (Some(mode), *envelope);
        let takes = |envelope: &Envelope| (None, *envelope);
        match &event.action {
            Action::Send { mode, envelope } => {
                self.blocking(round, &[sends(*mode, envelope)], Step::Next)
            }
            Action::Receive { envelope, .. } => {
                self.blocking(round, &[takes(envelope)], Step::Next)
            }
            Action::SendReceive { send, receive } => {
                let both = [sends(Mode::Standard, send), takes(receive)];
                self.blocking(round, &both, Step::Next)
            }
            Action::Offer { envelope, arms } => {
                let arms = arms.iter().map(|arm| arm.target).collect();
                self.blocking(round, &[takes(envelope)], Step::Goes(arms))
            }
            Action::StartSend { mode, envelope, request } => {
                self.starting(round, *request, self.a_move(sends(*mode, envelope)))
            }
            Action::StartReceive { envelope, request, .. } => {
                self.starting(round, *request, self.a_move(takes(envelope)))
            }
            Action::PlanSend { mode, envelope, request } => {
                self.plans.insert(*request, self.a_move(sends(*mode, envelope)));
                Step::Next
            }
            Action::PlanReceive { envelope, request } => {
                self.plans.insert(*request, self.a_move(takes(envelope)));
                Step::Next
            }
            Action::Start { requests } => self.starting_planned(round, requests),
            Action::Wait { requests, completion: Completion::All } => {
                let done = requests.iter().filter_map(|request| self.active.remove(request));
                round.completes.extend(done);
                Step::Next
            }
            Action::Collective(collective) | Action::StartCollective { collective, .. } => {
                Step::Ends(End::Collective(self.position, *collective))
            }
            Action::Choose { arms } => Step::Goes(arms.iter().map(|arm| arm.target).collect()),
            Action::Jump { target } => Step::Goes(vec![*target]),
            Action::Probe { .. }
            | Action::Access { .. }
            | Action::Vanish { .. }
            | Action::Measured { .. }
            | Action::Argument { .. }
            | Action::Create { .. }
            | Action::Release { .. }
            | Action::Initialize
            | Action::Finalize
            | Action::Compute { .. }
            | Action::Outside { .. }
            | Action::AttachBuffer { .. }
            | Action::DetachBuffer => Step::Next,
            Action::Leave { departure: Departure::Returned } => Step::Ends(End::Last),
            Action::Wait { .. }
            | Action::Test { .. }
            | Action::Put { .. }
            | Action::Get { .. }
            | Action::Cancel { .. }
            | Action::Free { .. }
            | Action::Overwrite { .. }
            | Action::OneSided(_)
            | Action::Branch { .. }
            | Action::BranchOnTag { .. }
            | Action::Leave { .. }
            | Action::Opaque => Step::Unknown,
        }
    }

    fn a_move(&self, (mode, envelope): (Option<Mode>, Envelope)) -> Move {
        Move { position: self.position, mode, envelope }
    }

    /// Messages that are started and waited for at once.
    fn blocking(
        &mut self,
        round: &mut Round,
        moves: &[(Option<Mode>, Envelope)],
        then: Step,
    ) -> Step {
        if !round.completes.is_empty() {
            return Step::Over;
        }
        for &one in moves {
            let number = self.put(round, self.a_move(one));
            round.completes.extend(number);
        }
        then
    }

    fn starting(&mut self, round: &mut Round, request: RequestId, one: Move) -> Step {
        if !round.completes.is_empty() {
            return Step::Over;
        }
        let number = self.put(round, one);
        self.active.extend(number.map(|number| (request, number)));
        Step::Next
    }

    fn starting_planned(&mut self, round: &mut Round, requests: &[RequestId]) -> Step {
        if !round.completes.is_empty() {
            return Step::Over;
        }
        for request in requests {
            let Some(&planned) = self.plans.get(request) else { return Step::Unknown };
            let number = self.put(round, Move { position: self.position, ..planned });
            self.active.extend(number.map(|number| (*request, number)));
        }
        Step::Next
    }

    /// The number of what is started; nothing moves where nobody is at the other end.
    fn put(&mut self, round: &mut Round, one: Move) -> Option<usize> {
        if one.envelope.peer == Peer::Null {
            return None;
        }
        round.moves.push(one);
        self.started += 1;
        Some(self.started - 1)
    }
}
