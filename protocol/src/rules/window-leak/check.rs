//! A window that is never freed.

use super::{Check, Rule, leaks};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::HandleKind;

pub(super) const RULE: Rule = Rule {
    name: "window-leak",
    group: Group::Resource,
    level: Level::Warn,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    leaks::report(&RULE, case, HandleKind::Window, "MPI_Win_free")
}

#[cfg(test)]
mod tests {
    use super::super::samples::leaks;
    use crate::model::HandleKind;

    #[test]
    fn what_is_made_is_freed() {
        leaks("window-leak", HandleKind::Window);
    }
}
