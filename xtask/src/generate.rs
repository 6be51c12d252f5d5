//! `cargo xtask generate`: the book's pages about the rules.
//!
//! A rule's `doc.md` is the only text about it. The pages, their index and their lines in the
//! book's table of contents are made from it, and kept in the repository so that they can be read
//! there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use p2p_analyzer::catalogue::{self, Entry};
use p2p_protocol::finding::Level;

use crate::Result;
use crate::workspace::{files, read, root, write};

/// The line of the table of contents that the rules' pages hang under.
const CONTENTS_LINE: &str = "- [Rules](rules/README.md)";

/// Writes the pages; with `check`, compares them only.
pub(crate) fn run(check: bool) -> Result {
    let pages = pages()?;
    let mut stale = Vec::new();
    for (path, text) in &pages {
        if std::fs::read_to_string(path).is_ok_and(|old| old == *text) {
            continue;
        }
        if !check {
            write(path, text)?;
        }
        stale.push(path.clone());
    }
    for path in files(&root().join("docs/rules"), ".md")? {
        if !pages.contains_key(&path) {
            if !check {
                std::fs::remove_file(&path)?;
            }
            stale.push(path);
        }
    }
    report(&stale, check)
}

/// Says what was or would be changed.
fn report(stale: &[PathBuf], check: bool) -> Result {
    let names: Vec<_> = stale
        .iter()
        .map(|path| path.strip_prefix(root()).unwrap_or(path).display().to_string())
        .collect();
    match (check, names.is_empty()) {
        (_, true) => println!("the pages about the rules are up to date"),
        (false, false) => println!("written: {}", names.join(", ")),
        (true, false) => {
            let names = names.join(", ");
            return Err(format!("{names}: out of date; run `cargo xtask generate`").into());
        }
    }
    Ok(())
}

/// All generated files and what is to be in them.
fn pages() -> Result<BTreeMap<PathBuf, String>> {
    let docs = root().join("docs");
    let rules = catalogue::all();
    let mut pages: BTreeMap<PathBuf, String> = rules
        .iter()
        .map(|rule| (docs.join(format!("rules/{}.md", rule.name)), page(rule)))
        .collect();
    pages.insert(docs.join("rules/README.md"), index(&rules));
    let contents = docs.join("SUMMARY.md");
    let text = contents_with(&read(&contents)?, &rules)?;
    pages.insert(contents, text);
    Ok(pages)
}

/// A rule's page: its text, with its group and level under the title.
fn page(rule: &Entry) -> String {
    let (title, rest) = rule.doc.split_once('\n').unwrap_or((rule.doc, ""));
    let facts = format!("*Group {}, {}.*", rule.group, level(rule.level));
    format!("{title}\n\n{facts}\n{rest}")
}

/// The table of all rules, by group.
fn index(rules: &[Entry]) -> String {
    let mut text = "# Rules\n\n\
        Every rule has one name. It is what reports print, what levels and suppressions take, and \
        what\n`cargo p2p-check explain` explains.\n"
        .to_owned();
    let mut group = "";
    for rule in rules {
        if rule.group != group {
            group = rule.group;
            let _ = write!(text, "\n## {group}\n\n| rule | level | |\n| --- | --- | --- |\n");
        }
        let Entry { name, level: default, .. } = rule;
        let _ = writeln!(text, "| [{name}]({name}.md) | {} | {} |", level(*default), summary(rule));
    }
    text
}

/// The table of contents with a line for each rule under the line for all of them.
fn contents_with(old: &str, rules: &[Entry]) -> Result<String> {
    let (before, after) = old
        .split_once(CONTENTS_LINE)
        .ok_or_else(|| format!("docs/SUMMARY.md has no line `{CONTENTS_LINE}`"))?;
    let after = after.trim_start_matches('\n');
    let rest = after.split_inclusive('\n').skip_while(|line| line.starts_with("  - ["));
    let mut text = format!("{before}{CONTENTS_LINE}\n");
    for Entry { name, .. } in rules {
        let _ = writeln!(text, "  - [{name}](rules/{name}.md)");
    }
    text.extend(rest);
    Ok(text)
}

/// The sentence under a rule's title.
fn summary(rule: &Entry) -> &'static str {
    let mut lines = rule.doc.lines().skip(1).filter(|line| !line.is_empty());
    lines.next().filter(|line| !line.starts_with('#')).unwrap_or_default()
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Allow => "allow",
        Level::Warn => "warn",
        Level::Deny => "deny",
    }
}
