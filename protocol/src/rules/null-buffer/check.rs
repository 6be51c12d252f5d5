//! A null pointer where there is something to be read or written.

use super::arguments::{Handed, handed};
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::Argument;

pub(super) const RULE: Rule = Rule {
    name: "null-buffer",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let wrong = handed(case, |argument| *argument == Argument::NullBuffer);
    let finding = |all: &Vec<Handed>| {
        RULE.handed(case.world, all, "a null pointer", "no memory here")
            .note("MPI ends the job with MPI_ERR_BUFFER, or the rank crashes")
            .help("hand over memory that the data fit into; where nothing is to be sent, a count of 0")
    };
    wrong.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{argument, c, found};
    use crate::model::Argument;

    #[test]
    fn it_is_told_with_its_call() {
        let wrong = c(vec![vec![argument(Argument::NullBuffer)], vec![]]);
        assert_eq!(
            found(&wrong, "null-buffer")[0].message,
            "rank 0 hands `MPI_Send` a null pointer for `count` (with 2 ranks)"
        );
    }
}
