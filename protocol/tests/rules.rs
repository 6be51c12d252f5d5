//! Holds every rule to its own text: the examples in `doc.md` and the files in `cases` are judged,
//! and what is found must be what they say. Examples on rsmpi and in C are for the front ends that read
//! them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use p2p_protocol::finding::Level;
use p2p_protocol::grammar::{self, CheckOptions};
use p2p_protocol::rules::{self, Rule};
use quote::ToTokens;

/// The headings of a rule's text, which all have ..
const HEADINGS: [&str; 4] = ["What it does", "Why is this bad", "Example", "Use instead"];

/// .. and those that may follow.
const MORE_HEADINGS: [&str; 2] = ["On rsmpi", "Known limits"];

/// A line and the rule that is broken there.
type Hit = (usize, String);

#[test]
fn every_folder_is_a_rule_and_every_rule_a_folder() {
    let folders: BTreeSet<String> = entries(&rules_folder())
        .into_iter()
        .filter(|path| path.is_dir())
        .map(|path| name(&path))
        .collect();
    let registered: Vec<String> = rules::all().iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(registered.len(), registered.iter().collect::<BTreeSet<_>>().len(), "names repeat");
    assert_eq!(registered.into_iter().collect::<BTreeSet<_>>(), folders);
}

#[test]
fn names_are_kebab_case_without_numbers() {
    for rule in rules::all() {
        let plain = rule
            .name
            .split('-')
            .all(|word| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase()));
        assert!(plain, "{}", rule.name);
    }
}

#[test]
fn every_text_has_the_same_parts() {
    for rule in rules::all() {
        let (title, rest) = rule.doc.split_once("\n\n").unwrap_or_default();
        assert_eq!(title, format!("# {}", rule.name));
        let summary = rest.lines().next().unwrap_or_default();
        assert!(summary.ends_with('.'), "{}: a sentence follows the title", rule.name);
        let headings: Vec<&str> =
            rule.doc.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let rest = headings.strip_prefix(&HEADINGS[..]);
        let complete = rest.is_some_and(|rest| {
            rest.is_sorted_by_key(|heading| MORE_HEADINGS.iter().position(|known| known == heading))
                && rest.iter().all(|heading| MORE_HEADINGS.contains(heading))
        });
        assert!(complete, "{}: {headings:?}", rule.name);
    }
}

#[test]
fn the_examples_in_the_texts_are_real() {
    for rule in rules::all().iter().filter(|rule| is_shown_in_the_language(rule)) {
        let wrong = rules_in(&example(rule.doc, "Example"), rule.name);
        assert_eq!(wrong, [rule.name], "the example of {}", rule.name);
        let right = rules_in(&example(rule.doc, "Use instead"), rule.name);
        assert!(right.is_empty(), "what to use instead of {}: {right:?}", rule.name);
    }
}

#[test]
fn the_cases_show_what_they_say() {
    for rule in rules::all() {
        let cases = cases(rule);
        // What the language cannot break is tried on worlds made by hand.
        let by_hand =
            read(&rules_folder().join(rule.name).join("check.rs")).contains("#[cfg(test)]");
        assert!(cases.len() >= 2 || by_hand, "{} has no cases", rule.name);
        assert!(
            cases.len() >= 2 || !is_shown_in_the_language(rule),
            "{} can be broken in the language, and no case does it",
            rule.name
        );
        for case in cases {
            let text = read(&case);
            let expected = expectations(&text);
            assert_eq!(expected.is_empty(), name(&case).starts_with("right"), "{}", case.display());
            assert_eq!(judge(&text, rule.name), expected, "{}", case.display());
        }
    }
}

#[test]
fn right_and_wrong_differ_in_one_place() {
    for rule in rules::all() {
        for wrong in cases(rule) {
            if !name(&wrong).starts_with("wrong") {
                continue;
            }
            let right = wrong.with_file_name(name(&wrong).replacen("wrong", "right", 1));
            let (before, after) = (lines(&wrong), lines(&right));
            assert_ne!(before, after, "{}", wrong.display());
            let shorter = before.len().min(after.len());
            let pairs = || before.iter().zip(&after);
            let head = pairs().take_while(|(before, after)| before == after).count();
            let backwards = before.iter().rev().zip(after.iter().rev());
            let tail = backwards.take_while(|(before, after)| before == after).count();
            let tail = tail.min(shorter - head);
            let changed = before.len().max(after.len()) - head - tail;
            assert!(changed <= 2, "{} differs in {changed} lines", wrong.display());
        }
    }
}

#[test]
fn the_other_examples_are_programs() {
    for rule in rules::all().iter().filter(|rule| !is_shown_in_the_language(rule)) {
        for heading in ["Example", "Use instead"] {
            let text = example(rule.doc, heading);
            let is_program = match is_shown_in_c(rule) {
                true => text.contains("#include <mpi.h>") && text.contains("int main"),
                false => syn::parse_file(&text).is_ok(),
            };
            assert!(is_program, "{heading} of {}", rule.name);
        }
        assert_ne!(example(rule.doc, "Example"), example(rule.doc, "Use instead"), "{}", rule.name);
    }
}

/// Whether a rule's text shows a program in C: what it is about cannot be written on rsmpi.
fn is_shown_in_c(rule: &Rule) -> bool {
    rule.doc.contains("\n```c\n")
}

/// Whether a rule's text shows protocols and nothing else; otherwise it shows code on rsmpi or in C.
fn is_shown_in_the_language(rule: &Rule) -> bool {
    if is_shown_in_c(rule) {
        return false;
    }
    let file = syn::parse_file(&example(rule.doc, "Example")).expect("the example is Rust");
    file.items.iter().all(|item| matches!(item, syn::Item::Mod(_)))
}

/// All that is found in a text: what is shown by default, and what this rule finds anyway.
fn judge(text: &str, rule: &str) -> BTreeSet<Hit> {
    let file = syn::parse_file(text).expect("the text is Rust");
    let mut hits = BTreeSet::new();
    for item in file.items {
        let syn::Item::Mod(mut module) = item else { continue };
        let attribute = module.attrs.remove(0);
        let arguments = attribute
            .meta
            .require_list()
            .map_or_else(|_| proc_macro2::TokenStream::new(), |list| list.tokens.clone());
        let (protocol, errors) = grammar::parse(arguments, module.to_token_stream());
        let messages: Vec<_> = errors.iter().map(|error| &error.message).collect();
        assert!(messages.is_empty(), "{messages:?} in\n{text}");
        let protocol = protocol.expect("a text without errors is a protocol");
        let report = grammar::check(&protocol, &CheckOptions::default());
        let messages: Vec<_> = report.errors.iter().map(|error| &error.message).collect();
        assert!(messages.is_empty(), "{messages:?} in\n{text}");
        for finding in report.findings {
            if finding.level > Level::Allow || finding.rule == rule {
                let place = protocol.places[finding.primary.place.0 as usize];
                hits.insert((place.start().line, finding.rule.to_owned()));
            }
        }
    }
    hits
}

/// What a text says is found in it: `//~ rule` on the line, `//~^ rule` on the line below.
fn expectations(text: &str) -> BTreeSet<Hit> {
    let hit = |(index, line): (usize, &str)| {
        let (_, rule) = line.split_once("//~")?;
        Some(match rule.strip_prefix('^') {
            Some(rule) => (index, rule.trim().to_owned()),
            None => (index + 1, rule.trim().to_owned()),
        })
    };
    text.lines().enumerate().filter_map(hit).collect()
}

/// The code under a heading of a rule's text.
fn example(doc: &str, heading: &str) -> String {
    let (_, part) = doc.split_once(&format!("\n## {heading}\n")).expect("the heading is there");
    let (_, code) = part.split_once("```").expect("code follows the heading");
    let (_, code) = code.split_once('\n').expect("the language's name ends its line");
    code.split("```").next().unwrap_or_default().to_owned()
}

/// A case's lines without the expectations.
fn lines(path: &Path) -> Vec<String> {
    let text = read(path);
    let code = text.lines().map(|line| line.split("//~").next().unwrap_or_default().trim_end());
    code.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The rules that are broken in a text, wherever.
fn rules_in(text: &str, rule: &str) -> Vec<String> {
    let rules: BTreeSet<String> = judge(text, rule).into_iter().map(|(_, rule)| rule).collect();
    rules.into_iter().collect()
}

/// The files that show where a rule is broken and where it is not.
fn cases(rule: &Rule) -> Vec<PathBuf> {
    let folder = rules_folder().join(rule.name).join("cases");
    if folder.exists() { entries(&folder) } else { Vec::new() }
}

fn rules_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
