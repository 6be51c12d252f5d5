//! A datatype that is not there.

use super::arguments::{Handed, handles};
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::{HandleKind, HandleState};

pub(super) const RULE: Rule = Rule {
    name: "invalid-datatype",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let wrong = handles(case, HandleKind::Datatype, |state| state != HandleState::Uncommitted);
    let finding = |all: &Vec<Handed>| {
        let finding = RULE.handle(case.world, all);
        finding
            .note("MPI ends the job with MPI_ERR_TYPE, or crashes")
            .help("hand over a datatype that was made and is not freed yet")
    };
    wrong.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{argument, c, found};
    use crate::model::{Argument, HandleKind, HandleState};

    #[test]
    fn it_is_told_with_its_call() {
        let handle = Argument::Handle { kind: HandleKind::Datatype, state: HandleState::Null };
        let found = found(&c(vec![vec![argument(handle)], vec![]]), "invalid-datatype");
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "rank 0 hands `MPI_Send` MPI_DATATYPE_NULL for `count` (with 2 ranks)"
        );
    }
}
