//! The examples on rsmpi and in C in the rules' texts: each wrong one breaks its rule, each right one
//! breaks none.

use std::collections::BTreeSet;

use p2p_protocol::finding::Level;
use p2p_protocol::rules;

use super::project::Project;

/// The programs on MPI that a rule's text shows in a language: what is wrong, and what to use instead.
fn programs<'d>(doc: &'d str, language: &str) -> Vec<&'d str> {
    let fence = format!("```{language}\n");
    let code = doc.split(&fence).skip(1).filter_map(|rest| rest.split("```").next());
    code.filter(|code| code.contains("mpi::initialize") || code.contains("mpi.h")).collect()
}

#[test]
fn the_examples_on_rsmpi_are_real() {
    are_real("rust", "rs");
}

#[test]
fn the_examples_in_c_are_real() {
    are_real("c", "c");
}

fn are_real(language: &str, extension: &str) {
    let project = Project::new(&format!("texts_{language}"));
    let mut shown = BTreeSet::new();
    for rule in rules::all() {
        let programs = programs(rule.doc, language);
        if programs.is_empty() {
            continue;
        }
        let [wrong, right] = programs[..] else { panic!("{}: one pair of programs", rule.name) };
        let file = |which: &str| format!("{}/{which}.{extension}", rule.name);
        if rule.level == Level::Allow {
            let settings = format!("[lints]\n{} = \"warn\"\n", rule.name);
            project.write(&format!("{}/p2p-check.toml", rule.name), &settings);
        }
        project.write(&file("wrong"), wrong);
        project.write(&file("right"), right);
        shown.insert((file("wrong"), rule.name.to_owned()));
    }
    assert!(!shown.is_empty(), "some rule shows a program");
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
    let right = format!("right.{extension}");
    let right: Vec<_> = found.iter().filter(|(file, _)| file.ends_with(&right)).collect();
    assert!(right.is_empty(), "found in what is right: {right:?}");
}
