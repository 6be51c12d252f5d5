//! A buffer that a call reaches past the end of.

use super::arguments::{Handed, handed};
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::Argument;

pub(super) const RULE: Rule = Rule {
    name: "buffer-too-small",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let wrong = handed(case, |argument| matches!(argument, Argument::Room { .. }));
    let finding = |all: &Vec<Handed>| {
        let Argument::Room { needs, has } = all[0].argument else { return None };
        let what = format!("memory of {has} bytes, and it uses {needs} bytes there");
        let finding = RULE.handed(case.world, all, &what, format!("{has} bytes here"));
        Some(finding.note("what lies behind the buffer is sent, or overwritten").help(
            "lower the count, or make the buffer as large as count times the datatype's extent",
        ))
    };
    wrong.iter().filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{argument, c, found};
    use crate::model::Argument;

    #[test]
    fn it_is_told_with_its_call() {
        let wrong = c(vec![vec![argument(Argument::Room { needs: 80, has: 40 })], vec![]]);
        assert_eq!(
            found(&wrong, "buffer-too-small")[0].message,
            "rank 0 hands `MPI_Send` memory of 40 bytes for `count`, and it uses 80 bytes there (with 2 ranks)"
        );
    }
}
