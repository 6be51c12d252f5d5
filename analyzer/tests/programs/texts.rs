//! The examples on rsmpi in the rules' texts: each wrong one breaks its rule, each right one breaks none.

use std::collections::BTreeSet;

use p2p_protocol::rules;

use super::project::Project;

/// The programs on rsmpi that a rule's text shows: what is wrong, and what to use instead.
fn programs(doc: &str) -> Vec<&str> {
    let code = doc.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
    code.filter(|code| code.contains("mpi::initialize")).collect()
}

#[test]
fn the_examples_on_rsmpi_are_real() {
    let project = Project::new("texts");
    let mut shown = BTreeSet::new();
    for rule in rules::all() {
        let programs = programs(rule.doc);
        if programs.is_empty() {
            continue;
        }
        let [wrong, right] = programs[..] else { panic!("{}: one pair of programs", rule.name) };
        project.write(&format!("{}/wrong.rs", rule.name), wrong);
        project.write(&format!("{}/right.rs", rule.name), right);
        shown.insert((format!("{}/wrong.rs", rule.name), rule.name.to_owned()));
    }
    let run = project.run(&["--message-format", "short", "."]);
    let found: BTreeSet<(String, String)> = (run.lines().into_iter())
        .filter_map(|line| {
            let (file, _) = line.split_once(':')?;
            let (_, rule) = line.strip_suffix(']')?.rsplit_once('[')?;
            Some((file.to_owned(), rule.to_owned()))
        })
        .collect();
    let missed: Vec<_> = shown.difference(&found).collect();
    assert!(missed.is_empty(), "not found: {missed:?}\n{}", run.errors);
    let right: Vec<_> = found.iter().filter(|(file, _)| file.ends_with("right.rs")).collect();
    assert!(right.is_empty(), "found in what is right: {right:?}");
}
