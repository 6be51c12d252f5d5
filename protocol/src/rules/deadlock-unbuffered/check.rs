//! Ranks that wait for each other unless MPI buffers their messages.

use super::circles::is_in_collective;
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
    // Where a race makes ranks hang whatever is buffered, it is reported for that.
    let races = case.circles.iter().any(|circle| circle.by_race && circle.reading == Reading::Any);
    let circles = case.circles.iter().filter(|circle| {
        circle.reading == Reading::Unbuffered
            && !is_send_to_self(case, circle)
            && !(circle.by_race && races)
    });
    circles.map(|circle| report(case, circle)).collect()
}

fn report(case: &Case<'_>, circle: &Circle) -> Finding {
    let collective = is_in_collective(case.world, circle);
    let message = match circle.members.len() {
        count if collective => {
            format!("{count} ranks wait for each other unless their collective lets them go early")
        }
        1 => "a rank waits for itself unless its message is buffered".to_owned(),
        count => format!("{count} ranks wait for each other unless MPI buffers between them"),
    };
    let finding = RULE.circle(case, circle, message);
    if collective {
        return finding
            .note("a collective may let its ranks go before all have come, or not: a program must not count on it (MPI 4.0, 6.14)")
            .cures(case, circle);
    }
    let finding = finding
        .note("MPI may let a standard send wait for its receive, and does so from some size on: Open MPI above 4040 bytes, MPICH above 8255, on one node")
        .cures(case, circle);
    if all_small(case, circle) {
        let note = "every message of the circle is smaller than the smallest limit met in practice, so this is a warning";
        return Finding { level: Level::Warn, ..finding.note(note) };
    }
    finding
}

/// Whether the circle waits in standard sends, and every one of them is known to be small.
fn all_small(case: &Case<'_>, circle: &Circle) -> bool {
    let open = circle
        .members
        .iter()
        .flat_map(|member| member.open.iter().map(|&position| (member.rank, position)));
    let sent: Vec<Option<u64>> =
        open.filter_map(|at| describe::bytes_sent(case.world, at)).collect();
    !sent.is_empty()
        && sent.iter().all(|bytes| bytes.is_some_and(|bytes| bytes < SMALLEST_EAGER_LIMIT))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{found, rsmpi};
    use crate::engine::samples::{receive, send};

    #[test]
    fn a_program_on_rsmpi_is_told_in_its_own_words() {
        let world = rsmpi(vec![vec![send(1, 0), receive(1, 0)], vec![send(0, 0), receive(0, 0)]]);
        let [finding] = &found(&world, "deadlock-unbuffered")[..] else { panic!("one circle") };
        let waits: Vec<&str> = finding.waits.iter().map(|wait| wait.operation.as_str()).collect();
        assert_eq!(waits, ["send of 1 u8 to rank 1 (tag 0)", "send of 1 u8 to rank 0 (tag 0)"]);
        assert!(finding.help.iter().any(|help| help.contains("send_receive_into")));
    }
}
