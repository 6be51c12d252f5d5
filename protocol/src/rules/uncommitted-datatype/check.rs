//! A datatype that was not committed.

use super::arguments::{Handed, handles};
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::{HandleKind, HandleState};

pub(super) const RULE: Rule = Rule {
    name: "uncommitted-datatype",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let wrong = handles(case, HandleKind::Datatype, |state| state == HandleState::Uncommitted);
    let finding = |all: &Vec<Handed>| {
        let finding = RULE.handle(case.world, all);
        finding.note("MPI ends the job with MPI_ERR_TYPE: a datatype has to be committed before anything travels with it (MPI 4.0, 5.1.9)").help("call `MPI_Type_commit` once, after the datatype was made")
    };
    wrong.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{argument, c, found};
    use crate::model::{Argument, HandleKind, HandleState};

    #[test]
    fn it_is_told_with_its_call() {
        let handle =
            Argument::Handle { kind: HandleKind::Datatype, state: HandleState::Uncommitted };
        let found = found(&c(vec![vec![argument(handle)], vec![]]), "uncommitted-datatype");
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "rank 0 hands `MPI_Send` a datatype that was not committed for `count` (with 2 ranks)"
        );
    }
}
