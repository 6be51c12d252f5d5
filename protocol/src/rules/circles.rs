//! Ranks that wait for each other: where each of them waits, where what it waits for was started, and
//! the ways out.

use super::Rule;
use super::draft::by_place;
use crate::engine::{At, Blocked, Case, Circle, describe, envelope};
use crate::finding::{Finding, Label, ranks};
use crate::model::{Action, Envelope, Peer, Rank, World};

/// How many starts of requests are shown with a finding.
const SHOWN: usize = 3;

impl Rule {
    /// A finding about ranks that wait for each other: at the lowest of them, with all the others.
    pub(super) fn circle(&self, case: &Case<'_>, circle: &Circle, message: String) -> Finding {
        let world = case.world;
        let at = |member: &&Blocked| (member.rank, member.position);
        let places = by_place(case, &circle.members, at);
        let (first, others) = places.split_first().expect("a circle has a member");
        let finding = self
            .finding(world, at(&first.1[0]), message, waiting_here(&first.1))
            .ranks(circle.members.iter().map(|member| member.rank).collect())
            .between_all()
            .waits(world, &circle.waits)
            .trace(&circle.trace);
        let finding = others.iter().fold(finding, |finding, (_, members)| {
            finding.other_end(world, at(&members[0]), waiting_here(members))
        });
        finding.starts(world, &circle.members)
    }
}

/// Whether some rank of a circle waits in a collective.
pub(super) fn is_in_collective(world: &World, circle: &Circle) -> bool {
    circle.members.iter().any(|member| {
        let event = describe::event(world, (member.rank, member.position));
        event.action.collective().is_some()
    })
}

/// Whether some rank of a circle waits for the other side of an epoch of a window.
fn is_in_epoch(world: &World, circle: &Circle) -> bool {
    circle.members.iter().any(|member| {
        let event = describe::event(world, (member.rank, member.position));
        matches!(event.action, Action::OneSided(_))
    })
}

/// "rank 0 waits here for rank 1", "ranks 0 to 3 wait here".
fn waiting_here(members: &[&Blocked]) -> String {
    match members {
        [one] => format!("rank {} waits here for {}", one.rank, ranks(&one.waits_for)),
        many => {
            let all: Vec<Rank> = many.iter().map(|member| member.rank).collect();
            format!("{} wait here", ranks(&all))
        }
    }
}

impl Finding {
    /// Shows where the requests start that these ranks wait for.
    fn starts(mut self, world: &World, members: &[Blocked]) -> Self {
        for member in members {
            let article = if member.open.len() == 1 { "the" } else { "a" };
            for &open in member.open.iter().filter(|&&open| open != member.position) {
                let event = describe::event(world, (member.rank, open));
                let is_shown = self.requests.iter().any(|label| label.place == event.place);
                if !is_shown && self.requests.len() < SHOWN {
                    let what = match (envelope(event, true), envelope(event, false)) {
                        (Some(_), _) => "send",
                        (None, Some(_)) => "receive",
                        (None, None) => "collective",
                    };
                    let text = format!("{article} {what} that is waited for starts here");
                    self.requests.push(Label { place: event.place, text });
                }
            }
        }
        self
    }

    /// Shows where the rank of a request waits for it, if it does.
    pub(super) fn waited_for(
        mut self,
        world: &World,
        waits: &[Blocked],
        (rank, start): At,
    ) -> Self {
        let wait = waits.iter().find(|blocked| {
            blocked.rank == rank && blocked.position != start && blocked.open.contains(&start)
        });
        if let Some(wait) = wait {
            let place = describe::place(world, (rank, wait.position));
            self.requests.push(Label { place, text: format!("rank {rank} waits for it here") });
        }
        self
    }

    /// The ways out of a circle.
    pub(super) fn cures(self, case: &Case<'_>, circle: &Circle) -> Self {
        let world = case.world;
        if is_in_epoch(world, circle) {
            return self.help("let each rank that `MPI_Win_start` names call `MPI_Win_post` for those who start, before it waits for them, and each that `MPI_Win_post` names start and complete");
        }
        if is_in_collective(world, circle) {
            return self.help("call the collective at the same point between the messages on every rank: before them, or after them");
        }
        if let Some(help) = other_order(world, circle) {
            return self.help(help);
        }
        if circle.members.iter().any(|member| waits_before_it_receives(world, member)) {
            return self
                .help(world.dialect.words(
                    "wait for the send after the receive",
                    "wait for the send after the receive: call `wait()` there, or take the `WaitGuard` out of the inner block, as it waits where its block ends",
                    "wait for the send after the receive: call `MPI_Wait` there",
                ))
                .help(world.dialect.words(
                    "or do both at once: `sendrecv`",
                    "or do both at once: `mpi::point_to_point::send_receive_into`",
                    "or do both at once: `MPI_Sendrecv`",
                ));
        }
        let at_once = world.dialect.words(
            "`sendrecv`, or post `irecv` before the send",
            "`mpi::point_to_point::send_receive_into`, or `immediate_send` in a `mpi::request::scope` around both",
            "`MPI_Sendrecv`, or post `MPI_Irecv` before the send",
        );
        let first = if only_receives(world, circle) {
            "let one of these ranks send before it receives: here everybody waits for a message first"
        } else {
            "let one side receive while the other sends: even ranks send first, odd ranks receive first"
        };
        self.help(first).help(format!("or do both at once: {at_once}"))
    }
}

/// Whether all ranks of a circle wait for messages, and none for one of its own to be taken.
fn only_receives(world: &World, circle: &Circle) -> bool {
    let mut open = circle.members.iter().flat_map(|member| {
        member.open.iter().map(|&position| describe::event(world, (member.rank, position)))
    });
    open.all(|event| envelope(event, true).is_none() && envelope(event, false).is_some())
}

/// Whether a rank waits for sends that it has started, and receives only after that.
fn waits_before_it_receives(world: &World, member: &Blocked) -> bool {
    let from_here = &world.behaviours[member.rank as usize].events[member.position..];
    let Some((waiting, later)) = from_here.split_first() else { return false };
    matches!(waiting.action, Action::Wait { .. })
        && member
            .open
            .iter()
            .all(|&open| envelope(describe::event(world, (member.rank, open)), true).is_some())
        && later.iter().any(|event| envelope(event, false).is_some())
}

/// What to do where two ranks send and receive the same two messages, each in another order.
fn other_order(world: &World, circle: &Circle) -> Option<String> {
    let [one, two] = circle.members.as_slice() else { return None };
    let at = |member: &Blocked| match member.open[..] {
        [open] => Some((member.rank, open)),
        _ => None,
    };
    let (one, two) = (at(one)?, at(two)?);
    let sends = |at| envelope(describe::event(world, at), true).is_some();
    let (send, receive) = if sends(one) { (one, two) } else { (two, one) };
    let sent = envelope(describe::event(world, send), true)?;
    let wanted = envelope(describe::event(world, receive), false)?;
    let is_between = |sent: &Envelope| {
        sent.communicator == wanted.communicator
            && sent.peer == Peer::Rank(receive.0.cast_signed())
            && wanted.peer == Peer::Rank(send.0.cast_signed())
    };
    let comes_later = world.behaviours[send.0 as usize].events[send.1 + 1..]
        .iter()
        .filter_map(|event| envelope(event, true))
        .any(|later| is_between(later) && later.tag == wanted.tag);
    let taken = describe::receive_for(world, send, receive.0)?;
    (is_between(sent) && sent.tag != wanted.tag && comes_later && taken.1 > receive.1).then(|| {
        let (earlier, later) = (describe::sent(world, send), describe::received(world, receive));
        format!(
            "let rank {} receive {earlier} before {later}, in the order in which rank {} sends them, or send them in the other order",
            receive.0, send.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples::{found, rsmpi, started, wait};
    use crate::engine::samples::{receive, send};
    use crate::finding::Finding;
    use crate::model::Action;

    fn circle(ranks: Vec<Vec<Action>>) -> Finding {
        let mut found = found(&rsmpi(ranks), "deadlock-unbuffered");
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    #[test]
    fn a_wait_is_shown_with_what_it_waits_for() {
        let rank = |other| vec![started(send(other, 0), 0), wait(&[0]), receive(other, 0)];
        let found = circle(vec![rank(1), rank(0)]);
        let requests: Vec<(u32, &str)> =
            found.requests.iter().map(|label| (label.place.0, label.text.as_str())).collect();
        let text = "the send that is waited for starts here";
        assert_eq!(requests, [(1, text), (4, text)]);
        assert!(found.help[0].starts_with("wait for the send after the receive: "), "{found:?}");
        assert!(!found.help.iter().any(|help| help.contains("immediate_send")));

        let plain = circle(vec![vec![send(1, 0), receive(1, 0)], vec![send(0, 0), receive(0, 0)]]);
        assert!(plain.requests.is_empty());
    }

    #[test]
    fn a_send_is_shown_with_where_it_is_waited_for() {
        let ranks = vec![vec![started(send(1, 0), 0), receive(1, 3), wait(&[0])], vec![send(0, 3)]];
        let found = found(&rsmpi(ranks), "unmatched-send");
        let requests: Vec<u32> = found[0].requests.iter().map(|label| label.place.0).collect();
        assert_eq!(requests, [3]);
    }

    #[test]
    fn two_messages_that_are_received_in_another_order_are_told_as_that() {
        let found = circle(vec![vec![send(1, 1), send(1, 2)], vec![receive(0, 2), receive(0, 1)]]);
        assert_eq!(
            found.help,
            [
                "let rank 1 receive 1 u8 (tag 1) before 1 u8 (tag 2), in the order in which rank 0 sends them, or send them in the other order"
            ]
        );
    }
}
