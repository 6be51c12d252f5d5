//! Ranks of which nothing more is known (docs/semantics.md, "Opaque").
//!
//! Such a rank may send, receive and enter anything. What it sent before is still there; for
//! whatever else others need of it, it is taken to do it. Who could take a message of it by a
//! wildcard may take that or another, so nothing more is known of them either.

use super::matching::{Completes, PendingId};
use super::{Machine, Met, Schedule, Status};
use crate::engine::evidence::At;
use crate::model::{Action, Peer, Rank};

impl Machine<'_> {
    pub(super) fn is_opaque(&self, rank: Rank) -> bool {
        self.opaque > 0
            && self.ranks.get(rank as usize).is_some_and(|state| state.status == Status::Opaque)
    }

    /// From here on nothing is known of a rank, nor of those that its messages may mislead.
    pub(super) fn become_opaque(&mut self, rank: Rank) {
        let mut open = vec![rank];
        while let Some(rank) = open.pop() {
            if self.is_opaque(rank) {
                continue;
            }
            self.state_mut(rank).status = Status::Opaque;
            self.opaque += 1;
            self.moved += 1;
            open.extend(self.misled_by(rank));
            self.serve(rank);
            self.leave_collectives(rank);
        }
        // What is left of the waits for an opaque rank, and the probes.
        self.look_at_collectives();
        for rank in 0..self.world.size() {
            if self.state(rank).status == Status::Probing {
                self.queue(rank);
            }
        }
    }

    /// The ranks whose wildcards could take a message of an opaque one.
    fn misled_by(&self, opaque: Rank) -> Vec<Rank> {
        let waits = |&rank: &Rank| {
            let posted = self.state(rank).wildcards.iter().any(|&wildcard| {
                let pending = &self.pending[wildcard as usize];
                self.sources(pending.peer, pending.communicator).any(|source| source == opaque)
            });
            let probes = self.state(rank).status == Status::Parked
                && matches!(self.event(rank).map(|event| &event.action),
                    Some(Action::Probe { envelope, .. }) if self
                        .sources(envelope.peer, envelope.communicator)
                        .any(|source| source == opaque));
            posted || probes
        };
        (0..self.world.size()).filter(waits).collect()
    }

    /// An opaque rank takes what was sent to it, sends what is awaited of it, and has no receives
    /// that could still take anything else.
    fn serve(&mut self, opaque: Rank) {
        let peer = Peer::Rank(opaque.cast_signed());
        let ids = 0..PendingId::try_from(self.pending.len()).expect("fewer than 2^32 operations");
        for id in ids.clone() {
            let pending = self.pending[id as usize];
            let own = pending.live && !pending.sending && pending.rank == opaque;
            // In a run without order, it is still to be seen which of them have partners.
            let wildcard = matches!(pending.peer, Peer::Any { .. });
            if own && (wildcard || self.schedule != Schedule::Unordered) {
                self.withdraw(id);
            }
        }
        for id in ids {
            let pending = self.pending[id as usize];
            if !pending.live || pending.peer != peer {
                continue;
            }
            if pending.sending {
                self.give_to_opaque(id);
            } else {
                self.take_from_opaque(id, opaque);
            }
        }
    }

    /// A message to an opaque rank that no earlier receive of it takes.
    pub(super) fn give_to_opaque(&mut self, message: PendingId) {
        let pending = self.withdraw(message);
        self.meet_opaque((pending.rank, pending.position as usize), pending.completes, None);
    }

    /// A receive from an opaque rank that no earlier message of it serves.
    pub(super) fn take_from_opaque(&mut self, receive: PendingId, opaque: Rank) {
        let pending = self.pending[receive as usize];
        if !pending.live || self.first_accepted(receive).is_some() {
            return;
        }
        self.withdraw(receive);
        let met = Met::of(opaque, pending.tag);
        self.meet_opaque((pending.rank, pending.position as usize), pending.completes, Some(met));
    }

    /// An operation is done that an opaque rank is the other end of.
    pub(super) fn meet_opaque(&mut self, at: At, completes: Completes, met: Option<Met>) {
        if let Some(matched) = &mut self.matched {
            matched.push(at);
        }
        self.complete(at.0, completes, met, None);
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::samples::{envelope, receive, receive_any, send, world};
    use crate::engine::{Judge, Limits, Options, Semantics, explore};
    use crate::model::{
        Action, Collective, CollectiveKind, Completion, Envelope, Peer, SourceId, Tag,
    };

    fn rules(ranks: Vec<Vec<Action>>) -> Vec<&'static str> {
        let mut judge = Judge::new(Options::default());
        judge.judge(&world(ranks));
        judge.finish().findings.iter().map(|one| one.rule).collect()
    }

    fn barrier() -> Action {
        let kind = CollectiveKind::Barrier;
        let data = None;
        Action::Collective(Collective { data, ..Collective::of(kind, 0) })
    }

    #[test]
    fn whatever_is_needed_of_an_opaque_rank_comes() {
        let other = vec![send(1, 0), receive(1, 5), barrier(), receive(1, 6)];
        assert_eq!(rules(vec![other, vec![Action::Opaque]]), [""; 0]);
    }

    #[test]
    fn what_others_owe_each_other_is_still_missed() {
        let ranks = vec![vec![receive(1, 0)], vec![barrier()], vec![Action::Opaque]];
        assert_eq!(rules(ranks), ["collective-missing-rank"]);
        let ranks = vec![vec![receive(1, 0)], vec![], vec![Action::Opaque]];
        assert_eq!(rules(ranks), ["unmatched-receive"]);
    }

    #[test]
    fn what_came_before_is_still_known() {
        let ranks = vec![vec![send(1, 0), Action::Opaque], vec![receive(0, 0), receive(0, 1)]];
        let outcome = explore(&world(ranks), Semantics::Buffered, Limits { states: 10 });
        assert!(outcome.can_finish && !outcome.can_hang && !outcome.can_finish_unclean);
        let waits_first = vec![receive(0, 7), Action::Opaque];
        assert_eq!(rules(vec![vec![], waits_first]), ["unmatched-receive"]);
    }

    #[test]
    fn who_may_be_misled_is_opaque_too() {
        let ranks = vec![
            vec![receive_any(0, 3), receive(1, 0), send(2, 9)],
            vec![send(0, 0)],
            vec![Action::Opaque],
            vec![receive(0, 4)],
        ];
        assert_eq!(rules(ranks), [""; 0]);
    }

    #[test]
    fn a_cancelled_receive_that_might_be_served_leaves_things_open() {
        let start =
            Action::StartReceive { envelope: envelope(Peer::Rank(1), 0), request: 0, binds: None };
        let waits = Action::Wait { requests: [0].into(), completion: Completion::All };
        let cancels = vec![start, Action::Cancel { request: 0 }, waits];
        assert_eq!(rules(vec![cancels.clone(), vec![send(0, 0)]]), [""; 0]);
        assert_eq!(rules(vec![cancels.clone(), vec![]]), [""; 0]);
        assert_eq!(rules(vec![cancels, vec![receive(0, 3)]]), ["unmatched-receive"]);
    }

    #[test]
    fn a_tag_decides_how_a_rank_goes_on() {
        const SLOT: SourceId = 0;
        let any = Envelope { tag: Tag::Any, ..envelope(Peer::Any { first: 1, end: 2 }, 0) };
        let branch =
            |otherwise| Action::BranchOnTag { slot: SLOT, arms: [(7, 2)].into(), otherwise };
        let root = |otherwise| {
            vec![
                Action::Receive { envelope: any, binds: Some(SLOT) },
                branch(otherwise),
                receive(1, 1),
            ]
        };
        assert_eq!(rules(vec![root(3), vec![send(0, 7), send(0, 1)]]), [""; 0]);
        assert_eq!(rules(vec![root(3), vec![send(0, 8)]]), [""; 0]);
        assert_eq!(rules(vec![root(3), vec![send(0, 7)]]), ["unmatched-receive"]);
    }
}
