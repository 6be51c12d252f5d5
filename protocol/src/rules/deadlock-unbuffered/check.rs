//! Ranks that wait for each other unless MPI buffers their messages.

use super::send_to_self::is_send_to_self;
use super::{Check, Rule};
use crate::engine::{Case, Circle, Reading, describe};
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "deadlock-unbuffered",
    group: Group::Deadlock,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

/// The smallest limit up to which a standard send was seen to be buffered, in bytes: Open MPI
/// 4.1.4 over shared memory.
const SMALLEST_EAGER_LIMIT: u64 = 4040;

fn check(case: &Case<'_>) -> Vec<Finding> {
    let circles = case.circles.iter().filter(|circle| {
        circle.reading == Reading::Unbuffered && !is_send_to_self(case, circle)
    });
    circles.map(|circle| report(case, circle)).collect()
}

fn report(case: &Case<'_>, circle: &Circle) -> Finding {
    let message = match circle.members.len() {
        1 => "a rank waits for itself unless its message is buffered".to_owned(),
        count => format!("{count} ranks wait for each other unless their messages are buffered"),
    };
    let finding = RULE
        .circle(case, circle, message)
        .note("MPI may let a standard send wait for its receive, and does so from some size on: Open MPI above 4040 bytes, MPICH above 8255, on one node")
        .help("let one side receive while the other sends: even ranks send first, odd ranks receive first")
        .help("or do both at once: `sendrecv`, or post `irecv` before the send");
    if all_small(case, circle) {
        let note = "every message of the circle is smaller than the smallest limit met in practice, so this is a warning";
        return Finding { level: Level::Warn, ..finding.note(note) };
    }
    finding
}

/// Whether every message that the circle waits in is known to be small.
fn all_small(case: &Case<'_>, circle: &Circle) -> bool {
    circle.members.iter().all(|member| {
        member.open.iter().all(|&position| {
            let bytes = describe::bytes_sent(case.world, (member.rank, position));
            bytes.is_none_or(|bytes| bytes.is_some_and(|bytes| bytes < SMALLEST_EAGER_LIMIT))
        })
    })
}
