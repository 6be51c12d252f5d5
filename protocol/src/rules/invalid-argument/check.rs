//! Any other argument that MPI does not take.

use super::arguments::{Handed, handed};
use super::draft::player;
use super::{Check, Rule};
use crate::engine::{Case, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::{Argument, HandleKind, HandleState};

pub(super) const RULE: Rule = Rule {
    name: "invalid-argument",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let wrong = handed(case, |argument| match argument {
        Argument::Other(_) => true,
        Argument::Handle { kind: HandleKind::Request, state } => *state != HandleState::Freed,
        Argument::Handle { kind, .. } => has_no_rule(*kind),
        _ => false,
    });
    wrong.iter().map(|all| report(case, all)).collect()
}

/// Whether there is no rule for handles of this kind alone.
fn has_no_rule(kind: HandleKind) -> bool {
    matches!(
        kind,
        HandleKind::Group
            | HandleKind::Info
            | HandleKind::ErrorHandler
            | HandleKind::Message
            | HandleKind::File
    )
}

fn report(case: &Case<'_>, all: &[Handed]) -> Finding {
    let world = case.world;
    let (first, call) = (all[0], all[0].call(world));
    let finding = match first.argument {
        Argument::Other(text) => {
            let text = describe::text(world, text);
            let (who, parameter) = (player(world, first.at.0), first.parameter(world));
            let message = format!("{who} calls `{call}`, and its argument `{parameter}` {text}");
            RULE.finding(world, first.at, message, format!("`{parameter}` {text}"))
                .ranks(all.iter().map(|one| one.at.0).collect())
        }
        _ => RULE.handle(world, all),
    };
    finding
        .note("MPI ends the job with an error, such as MPI_ERR_ARG")
        .help(format!("hand over what the text of `{call}` in the standard asks for"))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{argument, c, found};
    use crate::model::{Argument, HandleKind, HandleState};

    fn told(wrong: Argument) -> Vec<String> {
        let found = found(&c(vec![vec![argument(wrong)], vec![]]), "invalid-argument");
        found.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn it_is_told_with_its_call() {
        assert_eq!(
            told(Argument::Other(1)),
            ["rank 0 calls `MPI_Send`, and its argument `count` is odd (with 2 ranks)"]
        );
        let (kind, state) = (HandleKind::Request, HandleState::Null);
        assert_eq!(
            told(Argument::Handle { kind, state }),
            ["rank 0 hands `MPI_Send` MPI_REQUEST_NULL for `count` (with 2 ranks)"]
        );
    }

    #[test]
    fn what_has_a_rule_of_its_own_is_left_to_it() {
        let (kind, state) = (HandleKind::Request, HandleState::Freed);
        assert!(told(Argument::Handle { kind, state }).is_empty());
        let (kind, state) = (HandleKind::Window, HandleState::Null);
        assert!(told(Argument::Handle { kind, state }).is_empty());
        assert!(told(Argument::Count(-1)).is_empty());
    }
}
