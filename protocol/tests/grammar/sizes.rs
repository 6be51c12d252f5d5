//! Which sizes are checked, and with which parameters.

use p2p_protocol::finding::Level;
use p2p_protocol::grammar::{CheckOptions, Report, check, evaluate};

use crate::source::{lines, protocol, with_messages};

fn report(arguments: &str, roles: &str) -> Report {
    check(&protocol(&with_messages(arguments, roles)), &CheckOptions::default())
}

fn sizes(report: &Report) -> Vec<u32> {
    report.sizes.iter().map(|checked| checked.size).collect()
}

const RING: &str =
    "#[rank(_)] fn all() { sendrecv((rank + 1) % size, A, (rank + size - 1) % size, A); }";

#[test]
fn sizes_are_those_that_the_protocol_is_for() {
    let all: Vec<u32> = (1..=64).collect();
    assert_eq!(sizes(&report("", RING)), all);
    assert_eq!(sizes(&report("ranks = 2..", RING)), all[1..]);
    assert_eq!(sizes(&report("ranks = 4", RING)), [4]);
    assert_eq!(sizes(&report("ranks = 2..=3 | 7", RING)), [2, 3, 7]);
    let powers = report("ranks = n if n.is_power_of_two() && size > 1", RING);
    assert_eq!(sizes(&powers), [2, 4, 8, 16, 32, 64]);
    assert_eq!(powers.summary(), "Checked for 2, 4, 8, 16, 32 and 64 ranks.");
    assert_eq!(sizes(&report("ranks = 100", RING)), [100]);
    assert_eq!(sizes(&report("ranks = 2..13, grid(3, Q)", RING)), [3, 6, 9, 12]);
    assert_eq!(sizes(&report("grid(P, P)", RING)), [1, 4, 9, 16, 25, 36, 49, 64]);
}

#[test]
fn a_protocol_for_no_size_is_an_error() {
    let report = report("ranks = 5..2", RING);
    assert_eq!(lines(&report.errors).len(), 1);
    assert!(report.errors[0].message.contains("no number of ranks"));
}

#[test]
fn a_size_that_the_protocol_is_not_for_has_no_world() {
    let errors = evaluate(&protocol(&with_messages("ranks = 2..", RING)), 1, &[], None)
        .expect_err("it needs two ranks");
    assert!(errors[0].message.contains("not for 1 rank"));
}

#[test]
fn only_named_sizes_are_checked() {
    let protocol = protocol(&with_messages("ranks = 2..", RING));
    let options = CheckOptions { sizes: Some(vec![128, 1, 3]), ..CheckOptions::default() };
    assert_eq!(sizes(&check(&protocol, &options)), [3, 128]);
}

#[test]
fn parameters_take_values_around_the_constants_that_matter() {
    let report = report(
        "ranks = 2",
        "const LIMIT: usize = 9;
        #[rank(_)]
        fn all(steps: usize) {
            for step in 0..steps {
                if step % 5 == 4 { barrier(); }
                if steps > LIMIT { barrier(); }
            }
        }",
    );
    assert_eq!(lines(&report.errors), [""; 0]);
    let values = [0, 1, 2, 3, 4, 5, 6, 8, 9, 10];
    assert_eq!(report.sizes[0].parameters, [("steps".to_owned(), values.to_vec())]);
    assert_eq!(
        report.summary(),
        "Checked for 2 ranks with steps in 0, 1, 2, 3, 4, 5, 6, 8, 9, 10."
    );
}

#[test]
fn values_that_a_protocol_cannot_have_are_left_out() {
    let role = "#[rank(_)] fn all(steps: usize) { if rank % steps == 0 { } }";
    let report = report("ranks = 2", role);
    assert_eq!(lines(&report.errors), [""; 0]);
    assert_eq!(report.sizes[0].parameters[0].1, [1, 2, 3]);
}

#[test]
fn many_parameters_are_varied_one_at_a_time() {
    let role =
        "#[rank(_)] fn all(a: usize, b: usize, c: u8) { for i in 0..a + b + c { barrier(); } }";
    let report = report("ranks = 2", role);
    assert_eq!(report.sizes.len(), 1);
    assert!(report.sizes[0].parameters.iter().all(|(_, values)| values == &[0, 1, 2, 3]));
}

#[test]
fn errors_name_the_smallest_size_and_each_place_once() {
    let role = "#[rank(0..4)] fn some() { send(7 / (3 - size), A); }";
    let report = report("ranks = 2..", role);
    let said = lines(&report.errors).join("; ");
    assert_eq!(report.errors.len(), 2, "{said}");
    assert!(said.contains("divides by zero, for rank 0 of 3"), "{said}");
    assert!(said.contains("rank 4 of 5 has no role"), "{said}");
}

#[test]
fn a_rule_that_is_allowed_is_found_and_not_shown() {
    let roles = "#[rank(0)] fn left() { ssend(1, A); recv(1, A); }
                 #[rank(1)] fn right() { ssend(0, A); recv(0, A); }";
    let denied = report("ranks = 2", roles);
    assert_eq!(denied.findings.len(), 1);
    assert_eq!((denied.findings[0].rule, denied.findings[0].level), ("deadlock", Level::Deny));
    let allowed = report("ranks = 2, allow(deadlock)", roles);
    assert_eq!(allowed.findings[0].level, Level::Allow);
}
