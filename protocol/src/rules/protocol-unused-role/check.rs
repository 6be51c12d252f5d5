//! A role that no rank ever plays.

use super::{Check, Rule};
use crate::engine::Casting;
use crate::finding::{Certainty, Finding, Group, Label, Level, sizes};

pub(super) const RULE: Rule = Rule {
    name: "protocol-unused-role",
    group: Group::Protocol,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::Casting(check),
};

fn check(casting: &Casting) -> Vec<Finding> {
    let unused = casting.roles.iter().zip(&casting.played).filter(|(_, played)| !**played);
    let finding = |(role, _): (&crate::model::Role, &bool)| Finding {
        rule: RULE.name,
        level: RULE.level,
        certainty: Certainty::Certain,
        message: format!("no rank plays `{}` (with {})", role.name, sizes(&casting.sizes)),
        primary: Label { place: role.place, text: "nobody is this".to_owned() },
        secondary: Vec::new(),
        requests: Vec::new(),
        ranks: Vec::new(),
        between: Vec::new(),
        sizes: casting.sizes.clone(),
        waits: Vec::new(),
        trace: Vec::new(),
        notes: vec!["what nobody plays is never run, and never checked".to_owned()],
        help: vec!["give it the ranks that are meant, or remove it".to_owned()],
    };
    unused.map(finding).collect()
}
