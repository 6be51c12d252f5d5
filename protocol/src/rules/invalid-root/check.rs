//! A root that the communicator does not have.

use super::arguments::{Handed, handed};
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::Argument;

pub(super) const RULE: Rule = Rule {
    name: "invalid-root",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let wrong = handed(case, |argument| matches!(argument, Argument::Root(_)));
    let finding = |all: &Vec<Handed>| {
        let Argument::Root(number) = all[0].argument else { return None };
        let what = format!("{number}, and the communicator has no such rank");
        let finding = RULE.handed(case.world, all, &what, "no such rank");
        Some(
            finding
                .note("MPI ends the job with MPI_ERR_ROOT")
                .help("name a rank of the communicator as root"),
        )
    };
    wrong.iter().filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{argument, c, found};
    use crate::model::Argument;

    #[test]
    fn it_is_told_with_its_call() {
        let wrong = c(vec![vec![argument(Argument::Root(7))], vec![]]);
        let found = found(&wrong, "invalid-root");
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "rank 0 hands `MPI_Send` 7 for `count`, and the communicator has no such rank (with 2 ranks)"
        );
    }
}
