//! What to say of a finding that depends on how many ranks there are: a program may be meant for some
//! numbers only, and then it should say so.

use std::collections::BTreeSet;

use super::find;
use crate::engine::Verdict;
use crate::finding::{Finding, Group, Level, sizes};
use crate::model::Dialect;

/// Adds to each finding of a program that is right with the fewest ranks, and with others not, how to
/// state for which it is meant.
pub(crate) fn say_what_is_meant(verdict: &mut Verdict, dialect: Dialect) {
    // A protocol states its numbers of ranks anyway.
    if dialect == Dialect::Protocol {
        return;
    }
    let shown = verdict.findings.iter().filter(|finding| finding.level != Level::Allow);
    let wrong: BTreeSet<u32> = shown.flat_map(|finding| finding.sizes.iter().copied()).collect();
    let unknown = verdict.checked.iter().filter(|checked| !checked.complete);
    let unknown: BTreeSet<u32> = unknown.map(|checked| checked.size).collect();
    let checked: BTreeSet<u32> = verdict.checked.iter().map(|checked| checked.size).collect();
    let right: Vec<u32> = checked.difference(&(&wrong | &unknown)).copied().collect();
    if right.is_empty() || right.first() != checked.first() {
        return;
    }
    let help = stating(&right, &wrong, dialect);
    for finding in verdict.findings.iter_mut().filter(|finding| depends_on_size(finding)) {
        finding.help.push(help.clone());
    }
}

/// Whether another number of ranks can be the reason: not where a race needs some to happen at all.
fn depends_on_size(finding: &Finding) -> bool {
    let group = find(finding.rule).map(|rule| rule.group);
    matches!(group, Some(Group::Pairing | Group::Deadlock | Group::Collective))
        && finding.trace.is_empty()
}

fn stating(right: &[u32], wrong: &BTreeSet<u32>, dialect: Dialect) -> String {
    let (first, last) = (right[0], right[right.len() - 1]);
    let is_even = |size: &u32| size.is_multiple_of(2);
    let (meant, asserted, refused) = if first == last {
        let asserted = format!("assert_eq!(world.size(), {first})");
        (format!("{} only", sizes(right)), asserted, format!("size != {first}"))
    } else if wrong.iter().all(|size| *size > last) {
        let asserted = format!("assert!(world.size() <= {last})");
        (format!("at most {last} ranks"), asserted, format!("size > {last}"))
    } else if right.iter().all(is_even) && !wrong.iter().any(is_even) {
        let asserted = "assert_eq!(world.size() % 2, 0)".to_owned();
        ("an even number of ranks".to_owned(), asserted, "size % 2 != 0".to_owned())
    } else {
        let listed = |between: &str, one: fn(&u32) -> String| {
            right.iter().map(one).collect::<Vec<_>>().join(between)
        };
        let asserted =
            format!("assert!(matches!(world.size(), {}))", listed(" | ", u32::to_string));
        let refused = listed(" && ", |size| format!("size != {size}"));
        (format!("{} only", sizes(right)), asserted, refused)
    };
    let says_so = match dialect {
        Dialect::C => format!("if ({refused}) MPI_Abort(MPI_COMM_WORLD, 1);"),
        _ => asserted,
    };
    format!("if the program is meant for {meant}, let it say so: `{says_so}`")
}

#[cfg(test)]
mod tests {
    use super::super::samples::rsmpi;
    use crate::engine::samples::{receive, receive_any, send};
    use crate::engine::{Judge, Options};
    use crate::model::{Action, World};

    /// What helps where rank 1 receives twice what rank 0 sends once, with these numbers of ranks.
    fn help(wrong: &[usize]) -> Vec<String> {
        let mut judge = Judge::new(Options::default());
        for size in 2..9 {
            let receives = vec![receive(0, 0); if wrong.contains(&size) { 2 } else { 1 }];
            judge.judge(&of_size(size, vec![vec![send(1, 0)], receives]));
        }
        let findings = judge.finish().findings;
        findings
            .into_iter()
            .flat_map(|finding| finding.help)
            .filter(|help| help.contains("meant"))
            .collect()
    }

    fn of_size(size: usize, mut ranks: Vec<Vec<Action>>) -> World {
        ranks.resize(size, Vec::new());
        rsmpi(ranks)
    }

    #[test]
    fn a_program_for_some_numbers_of_ranks_should_say_so() {
        let said = |wrong: &[usize]| help(wrong).join("; ");
        assert_eq!(
            said(&[3, 4, 5, 6, 7, 8]),
            "if the program is meant for 2 ranks only, let it say so: `assert_eq!(world.size(), 2)`"
        );
        assert_eq!(
            said(&[4, 5, 6, 7, 8]),
            "if the program is meant for at most 3 ranks, let it say so: `assert!(world.size() <= 3)`"
        );
        assert_eq!(
            said(&[3, 5, 7]),
            "if the program is meant for an even number of ranks, let it say so: `assert_eq!(world.size() % 2, 0)`"
        );
        assert_eq!(
            said(&[3, 5, 6, 7]),
            "if the program is meant for 2, 4 and 8 ranks only, let it say so: `assert!(matches!(world.size(), 2 | 4 | 8))`"
        );
    }

    #[test]
    fn what_happens_with_the_fewest_ranks_is_a_fault() {
        assert_eq!(help(&[2, 3, 4, 5, 6, 7, 8]), [""; 0]);
        assert_eq!(help(&[2, 4, 6, 8]), [""; 0]);
    }

    #[test]
    fn a_race_needs_ranks_to_happen_at_all() {
        let mut judge = Judge::new(Options::default());
        judge.judge(&of_size(2, Vec::new()));
        let root = vec![receive_any(1, 3), receive(2, 0)];
        judge.judge(&of_size(3, vec![root, vec![send(0, 0)], vec![send(0, 0)]]));
        let findings = judge.finish().findings;
        assert!(!findings.is_empty());
        assert!(!findings.iter().flat_map(|one| &one.help).any(|help| help.contains("meant for")));
    }
}
