//! A request that is waited for by a copy of its handle, after another copy was.

use super::arguments::{Handed, handles};
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::{HandleKind, HandleState};

pub(super) const RULE: Rule = Rule {
    name: "wait-twice",
    group: Group::Request,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let stale = handles(case, HandleKind::Request, |state| state == HandleState::Freed);
    let finding = |all: &Vec<Handed>| {
        let what = "a copy of a request, which was completed or freed by way of another copy";
        RULE.handed(case.world, all, what, "this request is gone already")
            .note("a wait sets the handle that it is given to MPI_REQUEST_NULL, and no copy of it: that stands for nothing any more, or for another operation")
            .help("hand over the same variable each time, or set the copies to `MPI_REQUEST_NULL`")
    };
    stale.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{argument, c, found};
    use crate::model::{Argument, HandleKind, HandleState};

    #[test]
    fn a_stale_copy_is_told_with_its_call() {
        let stale = Argument::Handle { kind: HandleKind::Request, state: HandleState::Freed };
        assert_eq!(
            found(&c(vec![vec![argument(stale)], vec![]]), "wait-twice")[0].message,
            "rank 0 hands `MPI_Send` a copy of a request for `count`, which was completed or freed by way of another copy (with 2 ranks)"
        );
    }
}
