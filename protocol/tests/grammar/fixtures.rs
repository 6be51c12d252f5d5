//! Every protocol under `fixtures` is read without an error and judged as its comments say. What
//! programs by hand are judged to be is not for here.

use std::fs;

use p2p_protocol::finding::Level;
use p2p_protocol::grammar::{self, CheckOptions};

use crate::source;

/// The found `(line, rule)`s of a text, or its errors.
fn found(text: &str) -> Result<Vec<(usize, String)>, Vec<String>> {
    let mut found = Vec::new();
    for (attribute, module) in source::modules(text) {
        let (protocol, errors) = grammar::parse(attribute, module);
        let Some(protocol) = protocol.filter(|_| errors.is_empty()) else {
            return Err(source::lines(&errors));
        };
        let report = grammar::check(&protocol, &CheckOptions::default());
        if !report.errors.is_empty() {
            return Err(source::lines(&report.errors));
        }
        for finding in report.findings.iter().filter(|finding| finding.level != Level::Allow) {
            let span = protocol.places[finding.primary.place.0 as usize];
            found.push((span.start().line, finding.rule.to_owned()));
        }
    }
    found.sort();
    Ok(found)
}

#[test]
fn fixtures_are_judged_as_they_say() {
    let mut wrong = Vec::new();
    let mut protocols = 0;
    for path in source::files(&source::fixtures()) {
        if path.starts_with(source::fixtures().join("rsmpi")) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a fixture is readable");
        let declared = source::modules(&text).len();
        if declared == 0 {
            continue;
        }
        protocols += declared;
        let mut expected = source::expectations(&text);
        expected.sort();
        match found(&text) {
            Ok(found) if found == expected => {}
            found => wrong.push(format!("{}: {found:?}, not {expected:?}", path.display())),
        }
    }
    assert!(protocols > 20, "only {protocols} protocols were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
