//! Every rule over every fixture.
//!
//! A fixture says itself what is wrong with it: `//~ rule` on the line of a finding, `//~^ rule`
//! on the line below it. What is found and what is expected must be the same, except that a rule
//! which is off by default may find more. One snapshot a rule lists all that it finds, so that a
//! change of a rule shows what it does to all the others' fixtures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Parser;
use p2p_analyzer::catalogue;
use p2p_analyzer::cli::CommandLine;
use p2p_analyzer::config::Selector;
use p2p_analyzer::source::Language;
use p2p_protocol::finding::Level;

/// A rule and the place where it finds something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    file: String,
    line: usize,
    rule: String,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").canonicalize().expect("the fixtures")
}

fn relative(path: &Path) -> String {
    let path = path.strip_prefix(fixtures()).expect("a file below the fixtures");
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// What is found in the whole folder with every rule switched on, each with its message.
fn hits() -> Vec<(Hit, String)> {
    let line = CommandLine::parse_from(["p2p-check".as_ref(), fixtures().as_os_str()]);
    let outcome = p2p_analyzer::check(&line.check, &[(Selector::All, Level::Warn)]);
    let hit = |it: &p2p_analyzer::diagnostic::Diagnostic| {
        let primary = it.primary.as_ref().expect("a finding has a place");
        let file = outcome.sources.file(primary.at.file);
        let line = file.position(primary.at.bytes.start).line;
        let rule = it.rule.unwrap_or("error").to_owned();
        (Hit { file: relative(&file.path), line, rule }, it.message.clone())
    };
    outcome.diagnostics.iter().map(hit).collect()
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder that can be read");
    for entry in entries.map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() && !entry.ends_with("target") {
            sources(&entry, files);
        } else if Language::of_named(&entry).is_some() {
            files.push(entry);
        }
    }
}

/// What the fixtures say about themselves.
fn expectations() -> BTreeSet<Hit> {
    let mut files = Vec::new();
    sources(&fixtures(), &mut files);
    let mut expected = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a fixture that can be read");
        for (index, line) in text.lines().enumerate() {
            for comment in line.split("//~").skip(1) {
                let above = comment.chars().take_while(|&letter| letter == '^').count();
                let rules = comment[above..].split(',').map(|rule| rule.trim().to_owned());
                let (file, line) = (relative(&file), index + 1 - above);
                expected.extend(rules.map(|rule| Hit { file: file.clone(), line, rule }));
            }
        }
    }
    expected
}

/// One test, because judging the folder takes long and some runners start each test by itself.
#[test]
fn every_rule_over_every_fixture() {
    let hits = hits();
    every_rule_finds_something_in_some_fixture(&hits);
    findings_are_those_that_the_fixtures_expect(&hits);
    every_rule_has_its_snapshot(&hits);
}

fn findings_are_those_that_the_fixtures_expect(hits: &[(Hit, String)]) {
    let expected = expectations();
    assert!(expected.len() > 20, "the expectations were not found: {expected:?}");
    let found: BTreeMap<&Hit, &String> = hits.iter().map(|(hit, message)| (hit, message)).collect();
    let off_by_default =
        |rule: &str| catalogue::find(rule).is_some_and(|rule| rule.level == Level::Allow);
    let mut differences = Vec::new();
    for hit in expected.iter().filter(|hit| !found.contains_key(hit)) {
        let Hit { file, line, rule } = hit;
        differences.push(format!("fixtures/{file}:{line}: expected and not found: {rule}"));
    }
    for (hit, message) in &found {
        let Hit { file, line, rule } = hit;
        if !expected.contains(hit) && !off_by_default(rule) {
            differences
                .push(format!("fixtures/{file}:{line}: found and not expected: {rule}: {message}"));
        }
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

fn every_rule_has_its_snapshot(hits: &[(Hit, String)]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for rule in p2p_protocol::rules::all() {
            let of_rule = hits.iter().filter(|(hit, _)| hit.rule == rule.name);
            let lines =
                of_rule.map(|(hit, message)| format!("{}:{} {message}", hit.file, hit.line));
            insta::assert_snapshot!(rule.name, lines.collect::<Vec<_>>().join("\n"));
        }
    });
}

fn every_rule_finds_something_in_some_fixture(hits: &[(Hit, String)]) {
    let found: BTreeSet<&str> = hits.iter().map(|(hit, _)| hit.rule.as_str()).collect();
    let silent: Vec<&str> = p2p_protocol::rules::all()
        .iter()
        .map(|rule| rule.name)
        .filter(|&name| !found.contains(name))
        .collect();
    assert!(silent.is_empty(), "no fixture triggers {silent:?}");
}

#[test]
fn every_rule_folder_is_a_rule_with_its_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/src/rules");
    let entries = std::fs::read_dir(folder).expect("the rules' folder");
    let mut folders: Vec<String> = entries
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().join("doc.md").is_file())
        .map(|entry| entry.file_name().into_string().expect("a name in ASCII"))
        .collect();
    folders.sort();
    let mut names: Vec<&str> = p2p_protocol::rules::all().iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    assert_eq!(names, folders);
}

#[test]
fn every_text_has_its_sections() {
    let headings =
        ["\n## What it does\n", "\n## Why is this bad\n", "\n## Example\n", "\n## Use instead\n"];
    for rule in catalogue::all() {
        assert!(rule.doc.starts_with(&format!("# {}\n", rule.name)), "{}", rule.name);
        let places: Vec<_> = headings.iter().map(|heading| rule.doc.find(heading)).collect();
        assert!(places.iter().all(Option::is_some), "{}: {places:?}", rule.name);
        assert!(places.is_sorted(), "{}: the sections are out of order", rule.name);
    }
}
