//! Each report of the same findings, made by hand so that the words of the rules do not matter.

use std::sync::Arc;

use p2p_analyzer::diagnostic::{Diagnostic, Failure, Severity};
use p2p_analyzer::report::{Outcome, human, short};
use p2p_analyzer::source::{Location, SourceFile};
use p2p_protocol::finding::{Certainty, Finding, Label, Level, Step, Wait};
use p2p_protocol::model::Place;

const TEXT: &str =
    "fn member() {\n    ssend((rank + 1) % size, Token);\n    recv(left, Token);\n}\n";

fn place_of(word: &str) -> std::ops::Range<usize> {
    let start = TEXT.find(word).expect("a word of the text");
    start..start + word.len()
}

fn ring(ranks: u32) -> Finding {
    let wait = |rank| Wait {
        rank,
        operation: "ssend((rank + 1) % size, Token)".to_owned(),
        place: Place(0),
        waits_for: vec![(rank + 1) % ranks],
    };
    Finding {
        rule: "deadlock",
        level: Level::Deny,
        certainty: Certainty::Certain,
        message: "every rank waits in `ssend` for the next".to_owned(),
        primary: Label { place: Place(0), text: "rank 0 waits here".to_owned() },
        secondary: vec![Label { place: Place(1), text: "and never comes here".to_owned() }],
        requests: Vec::new(),
        ranks: (0..ranks).collect(),
        between: (0..ranks).collect(),
        sizes: (ranks..=ranks + 2).collect(),
        waits: (0..ranks).map(wait).collect(),
        trace: Vec::new(),
        notes: vec!["a synchronous send waits for its receive".to_owned()],
        help: vec!["let even ranks send first".to_owned()],
    }
}

fn outcome(findings: &[Finding]) -> Outcome {
    let mut outcome = Outcome::default();
    let file = SourceFile::new("/job/ring.rs".into(), "ring.rs".into(), TEXT.to_owned());
    let file = outcome.sources.add(file);
    let bytes = [0..2, place_of("ssend((rank + 1) % size, Token)"), place_of("recv(left, Token)")];
    let places: Arc<[Location]> = bytes.into_iter().map(|bytes| Location { file, bytes }).collect();
    let message = |finding: &Finding| Diagnostic::of_finding(finding, Severity::Error, &places);
    outcome.diagnostics = findings.iter().map(message).collect();
    outcome
}

#[test]
fn a_finding_for_people() {
    let mut second = ring(3);
    second.sizes = vec![3];
    let outcome = outcome(&[ring(2), second]);
    insta::assert_snapshot!(human::report(&outcome, false, true), @r"
    error[deadlock]: every rank waits in `ssend` for the next
      ┌─ ring.rs:2:5
      │
    2 │     ssend((rank + 1) % size, Token);
      │     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ rank 0 waits here
    3 │     recv(left, Token);
      │     ----------------- and never comes here
      │
      = who waits for whom:
          rank 0 waits in `ssend((rank + 1) % size, Token)` for rank 1 (ring.rs:2)
          rank 1 waits in `ssend((rank + 1) % size, Token)` for rank 0 (ring.rs:2)
          and so back to rank 0: none can move
      = smallest size: 2 ranks; also with 3 and 4 ranks
      = a synchronous send waits for its receive
      = help: let even ranks send first
      = rule: `cargo p2p-check explain deadlock`

    error[deadlock]: every rank waits in `ssend` for the next
      ┌─ ring.rs:2:5
      │
    2 │     ssend((rank + 1) % size, Token);
      │     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ rank 0 waits here
    3 │     recv(left, Token);
      │     ----------------- and never comes here
      │
      = who waits for whom:
          rank 0 waits in `ssend((rank + 1) % size, Token)` for rank 1 (ring.rs:2)
          rank 1 waits in `ssend((rank + 1) % size, Token)` for rank 2 (ring.rs:2)
          rank 2 waits in `ssend((rank + 1) % size, Token)` for rank 0 (ring.rs:2)
          and so back to rank 0: none can move
      = size: 3 ranks
      = a synchronous send waits for its receive
      = help: let even ranks send first
    ");
}

#[test]
fn a_finding_in_one_line() {
    let mut outcome = outcome(&[ring(2)]);
    let failure = Failure::at(place_of("left"), "`left` is not known here");
    outcome.diagnostics.push(Diagnostic::of_failure(failure, Some(0)));
    outcome.diagnostics.push(Diagnostic::of_failure(Failure::new("`x.rs` cannot be read"), None));
    insta::assert_snapshot!(short::report(&outcome), @r"
    ring.rs:2:5: error: every rank waits in `ssend` for the next [deadlock]
    ring.rs:3:10: error: `left` is not known here
    error: `x.rs` cannot be read
    ");
}

#[test]
fn what_is_long_is_counted() {
    let mut long = ring(40);
    long.certainty = Certainty::Possible { assuming: "messages are long".to_owned() };
    let step = |rank| Step { rank, text: "sends Token to rank 1".to_owned(), place: Place(0) };
    long.trace = (0..20).map(step).collect();
    let text = human::report(&outcome(&[long]), false, true);
    assert!(text.contains("  = this happens if messages are long\n"), "{text}");
    assert!(text.contains("\n      and so back to rank 0: none can move\n"), "{text}");
    assert!(text.contains("\n      11. rank 10 sends Token to rank 1 (ring.rs:2)\n      ... 8"));
    assert!(text.contains("\n      20. rank 19 sends Token to rank 1 (ring.rs:2)\n"), "{text}");
    assert!(text.lines().count() < 45, "{text}");
}
