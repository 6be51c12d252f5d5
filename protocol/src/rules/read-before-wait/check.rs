//! A buffer that is read before its message has arrived.

use super::write_before_wait::touched;
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};

pub(super) const RULE: Rule = Rule {
    name: "read-before-wait",
    group: Group::Buffer,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    touched(&RULE, case, false)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{buffered, c, found, one_way, started, wait};
    use crate::engine::samples::{receive, send};
    use crate::model::Action;

    #[test]
    fn what_arrives_is_not_read_before() {
        let access = |writes| Some(Action::Access { requests: Box::new([0]), writes });
        let world = one_way(buffered(receive(1, 0), 0..8), access(false), send(0, 0));
        let wrong = found(&world, "read-before-wait");
        assert_eq!(wrong.len(), 1);
        assert_eq!(
            wrong[0].message,
            "rank 0 reads the buffer of `immediate_receive of 1 u8 from rank 1 (tag 0)` before it has waited for it (with 2 ranks)"
        );
        let world = one_way(buffered(receive(1, 0), 0..8), access(true), send(0, 0));
        assert!(found(&world, "read-before-wait").is_empty());
    }

    #[test]
    fn what_is_read_to_be_written_is_one_fault() {
        let access = |writes| Action::Access { requests: Box::new([0]), writes };
        let receives = vec![started(receive(1, 0), 0), access(false), access(true), wait(&[0])];
        let mut world = c(vec![receives, vec![send(0, 0)]]);
        let events = &mut world.behaviours[0].events;
        events[2].place = events[1].place;
        assert!(found(&world, "read-before-wait").is_empty());
        assert_eq!(found(&world, "write-before-wait").len(), 1);
    }
}
