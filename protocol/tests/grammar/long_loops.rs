//! Loops that are too long to be followed to their end.

use p2p_protocol::grammar::{CheckOptions, Coverage, Report, check};

use crate::source::{lines, protocol, with_messages};

fn report(arguments: &str, roles: &str) -> Report {
    check(&protocol(&with_messages(arguments, roles)), &CheckOptions::default())
}

/// The rules of the findings, at two ranks.
fn rules(roles: &str) -> Vec<&'static str> {
    let report = report("ranks = 2", roles);
    assert_eq!(lines(&report.errors), [""; 0]);
    assert_eq!(report.sizes[0].coverage, Coverage::Beginning);
    report.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn what_is_wrong_in_the_first_rounds_is_found() {
    let circle = "#[rank(_)] fn all() {
        for _ in 0..1_000_000 { ssend(1 - rank, A); recv(1 - rank, A); }
    }";
    assert_eq!(rules(circle), ["deadlock"]);
    let outside = "#[rank(_)] fn all() { for _ in 0..1_000_000 { send(size, A); } }";
    assert!(rules(outside).contains(&"peer-out-of-range"));
    let types = "#[rank(0)] fn left() { for _ in 0..1_000_000 { send(1, A); } }
                 #[rank(1)] fn right() { for _ in 0..1_000_000 { recv(0, B); } }";
    assert!(!rules(types).is_empty());
    let nobody = "#[rank(0)] fn left() { for _ in 0..1_000_000 { ssend(1, A); } }
                  #[rank(1)] fn right() { recv(0, A); }";
    assert_eq!(rules(nobody), ["unmatched-send"]);
    let behind_a_choice = "#[rank(_)] fn all() {
        for _ in 0..1_000_000 {
            match choose() { Go => { ssend(1 - rank, A); recv(1 - rank, A); } Stop => {} }
        }
    }";
    assert!(!rules(behind_a_choice).is_empty());
}

#[test]
fn large_values_are_tried_in_the_first_rounds_as_well() {
    let roles = "#[rank(_)] fn all(n: usize) {
        for _ in 0..1_000_000 { if n > 5000 { ssend(1 - rank, A); recv(1 - rank, A); } }
    }";
    assert_eq!(rules(roles), ["deadlock"]);
}

#[test]
fn what_only_seems_wrong_since_the_rest_is_missing_is_not() {
    for right in [
        "#[rank(_)] fn all() {
            for _ in 0..1_000_000 { sendrecv(1 - rank, A, 1 - rank, A); }
            barrier();
        }",
        // The ranks are cut at different places.
        "#[rank(0)] fn left() { for _ in 0..1_000_000 { ssend(1, A); } ssend(1, B); }
         #[rank(1)] fn right() {
            for _ in 0..1_000 { for _ in 0..1_000 { recv(0, A); } }
            recv(0, B);
         }",
        "#[rank(0)] fn left() { for _ in 0..1_000_000 { ssend(1, A); ssend(1, A); } }
         #[rank(1)] fn right() { for _ in 0..2_000_000 { recv(0, A); } }",
        "#[rank(0)] fn left() { for _ in 0..1_000_000 { barrier(); } recv(1, A); }
         #[rank(1)] fn right() { let a = isend(0, A); for _ in 0..1_000_000 { barrier(); } wait(a); }",
        "#[rank(0)] fn left() { recv(1, B); for _ in 0..1_000_000 { recv(1, A); } }
         #[rank(1)] fn right() { send(0, B); for _ in 0..1_000_000 { send(0, A); } }",
        // All that rank 0 waits for comes after the loop.
        "#[rank(0)] fn left() { recv(1, B); ssend(1, A); recv(1, A); }
         #[rank(1)] fn right() {
            for i in 0..1_000_000 { if i == 1_000_000 { barrier(); } }
            send(0, B);
            recv(0, A);
            send(0, A);
         }",
        // Only the choice of some runs leads into the loop.
        "#[rank(0)] fn left() {
            match choose(1) { Go => { for _ in 0..1_000_000 { ssend(1, A); } } Stop => {} }
            ssend(1, B);
         }
         #[rank(1)] fn right() {
            match offer(0) { Go => { for _ in 0..1_000_000 { recv(0, A); } } Stop => {} }
            recv(0, B);
         }",
        "#[rank(0)] fn left() {
            let pending = requests();
            for _ in 0..1_000_000 { pending.push(isend(1, A)); }
            wait_all(pending);
         }
         #[rank(1)] fn right() { for _ in 0..1_000_000 { recv(any(..), A); } }",
    ] {
        assert_eq!(rules(right), [""; 0], "{right}");
    }
}

#[test]
fn a_size_of_which_nothing_was_looked_at_is_never_called_checked() {
    // To tell so many ranks takes too long, even once.
    let role = "#[rank(_)] fn all() { match choose(0..1_000_000_000) { Go => {} Stop => {} } }";
    let report = report("ranks = 2..", role);
    assert_eq!(report.sizes.len(), 1);
    assert_eq!(report.sizes[0].coverage, Coverage::Nothing);
    let said = lines(&report.errors).join("; ");
    assert!(said.contains("nothing was checked with 2 ranks"), "{said}");
}

#[test]
fn a_size_that_is_begun_says_so_at_the_longest_loop() {
    let report = report(
        "ranks = 2..",
        "#[rank(_)]
        fn all() {
            for i in 0..9 {
                barrier();
            }
            for i in 0..1 << 40 {
                barrier();
            }
        }",
    );
    assert_eq!(lines(&report.errors), [""; 0]);
    assert_eq!(report.sizes.len(), 1);
    let unfinished = report.unfinished.as_ref().expect("it is too long");
    assert_eq!(unfinished.span.start().line, 11);
    assert!(unfinished.message.starts_with("only the first rounds of long loops were checked"));
    assert!(unfinished.help.as_ref().is_some_and(|help| help.contains("a parameter")));
    assert_eq!(
        report.summary(),
        "Not checked completely for any size. With 2 ranks only the first rounds of long loops \
         were looked at."
    );
}

#[test]
fn a_larger_size_that_is_too_long_is_not_looked_at_unless_it_is_asked_for() {
    let role = "#[rank(_)] fn all() { for _ in 0..20_000 { barrier(); } }";
    let protocol = protocol(&with_messages("ranks = 2..", role));
    let chosen = check(&protocol, &CheckOptions::default());
    assert!(chosen.unfinished.is_none());
    assert!(chosen.sizes.iter().all(|checked| checked.coverage == Coverage::Complete));
    let options = CheckOptions { sizes: Some(vec![2, 30]), ..CheckOptions::default() };
    let named = check(&protocol, &options);
    assert_eq!(named.sizes[1].coverage, Coverage::Beginning);
    assert!(named.unfinished.is_some_and(|error| error.message.contains("with 30 ranks")));
}
