//! `explain` and `rules`: what is known about the rules, for the terminal.

use std::fmt::Write;

use p2p_protocol::finding::Level;

use crate::catalogue::{self, Entry};

/// A rule's text for the terminal: headings bold, code indented, nothing else changed.
pub fn explain(rule: &Entry, color: bool) -> String {
    let (bold, code, plain) = if color { ("\x1b[1m", "\x1b[36m", "\x1b[0m") } else { ("", "", "") };
    let mut text = String::new();
    let mut in_code = false;
    for line in rule.doc.trim().lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            let line = format!("    {code}{line}{plain}");
            _ = writeln!(text, "{}", if color { &line } else { line.trim_end() });
        } else if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim_start();
            _ = writeln!(text, "{bold}{heading}{plain}");
        } else {
            _ = writeln!(text, "{line}");
        }
    }
    _ = writeln!(text, "\nGroup {}, level {}.", rule.group, level(rule.level));
    text
}

/// The table of all rules.
pub fn table() -> String {
    let rules = catalogue::all();
    let width = |of: fn(&Entry) -> &str| rules.iter().map(|rule| of(rule).len()).max().unwrap_or(0);
    let (names, groups) = (width(|rule| rule.name), width(|rule| rule.group));
    let mut text = String::new();
    for rule in &rules {
        let (name, group, level) = (rule.name, rule.group, level(rule.level));
        let summary = summary(rule.doc);
        _ = writeln!(text, "{group:groups$}  {name:names$}  {level:5}  {summary}");
    }
    text
}

/// The paragraph under the title, in one line.
fn summary(doc: &str) -> String {
    let paragraph = doc.trim_start().split("\n\n").nth(1).unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A level as it is written.
fn level(level: Level) -> &'static str {
    match level {
        Level::Allow => "allow",
        Level::Warn => "warn",
        Level::Deny => "deny",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_loses_its_marks_and_keeps_its_words() {
        let doc =
            "# x\n\nSays `x`\nat y.\n\n## What it does\n\nMore.\n\n```rust,ignore\nlet x;\n```\n";
        let rule = Entry { name: "x", group: "race", level: Level::Warn, doc };
        let expected = "x\n\nSays `x`\nat y.\n\nWhat it does\n\nMore.\n\n    let x;\n\n\
                        Group race, level warn.\n";
        assert_eq!(explain(&rule, false), expected);
        assert!(explain(&rule, true).contains("\x1b[1mWhat it does\x1b[0m"));
        assert_eq!(summary(doc), "Says `x` at y.");
    }
}
