//! A number of elements that MPI does not take.

use super::arguments::{Handed, handed};
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::Argument;

pub(super) const RULE: Rule = Rule {
    name: "invalid-count",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let wrong = handed(case, |argument| matches!(argument, Argument::Count(_)));
    let finding = |all: &Vec<Handed>| {
        let Argument::Count(number) = all[0].argument else { return None };
        let what = format!("{number}, and counts are not negative");
        let finding = RULE.handed(case.world, all, &what, "negative");
        Some(
            finding
                .note("MPI ends the job with MPI_ERR_COUNT")
                .help("see to it that the number that is computed here is 0 or more"),
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
        let wrong = c(vec![vec![argument(Argument::Count(-1))], vec![]]);
        let found = found(&wrong, "invalid-count");
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "rank 0 hands `MPI_Send` -1 for `count`, and counts are not negative (with 2 ranks)"
        );
    }
}
