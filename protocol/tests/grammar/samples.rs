//! Which values of the parameters are tried.

use p2p_protocol::grammar::{CheckOptions, Coverage, check, evaluate};

use crate::source::{lines, protocol, with_messages};

/// The values that the one parameter of a role with this body has, at two ranks.
fn tried(ty: &str, body: &str) -> Vec<i64> {
    let role = format!("#[rank(_)] fn all(n: {ty}) {{ {body} }}");
    let report = check(&protocol(&with_messages("ranks = 2", &role)), &CheckOptions::default());
    assert_eq!(lines(&report.errors), [""; 0]);
    assert_eq!(report.sizes[0].coverage, Coverage::Complete);
    report.sizes[0].parameters[0].1.clone()
}

#[test]
fn a_fault_behind_a_large_threshold_is_found() {
    for condition in [
        "n > 1000",
        "n % 4096 == 4095",
        "n & 512 != 0",
        "n >> 10 == 1",
        "n >> 3 == 5",
        "n << 3 == 800",
        "n * 2 > 1000",
        "n - 7 == 500",
        "500 == n / 3",
        "1000 - n == 1",
        "-n < -1000",
        "(if n > 1000 { 1 } else { 0 }) == 1",
    ] {
        let roles = format!(
            "#[rank(0)] fn left(n: usize) {{ if {condition} {{ send(1, B); }} }}
             #[rank(1)] fn right() {{}}"
        );
        let report =
            check(&protocol(&with_messages("ranks = 2", &roles)), &CheckOptions::default());
        assert_eq!(lines(&report.errors), [""; 0]);
        let rules: Vec<_> = report.findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["unmatched-send"], "{condition}");
    }
}

#[test]
fn values_in_peers_count_as_well() {
    let values = tried("usize", "send(if n == 700 { 0 } else { 1 }, A);");
    assert_eq!(values, [0, 1, 2, 3, 699, 700, 701]);
}

#[test]
fn a_large_value_is_left_out_where_a_loop_up_to_it_is_too_much() {
    let body = "for i in 0..n { if n > 1_000_000 { barrier(); } if n > 300 { barrier(); } }";
    assert_eq!(tried("usize", body), [0, 1, 2, 3, 299, 300, 301]);
}

#[test]
fn a_large_value_costs_what_a_small_one_does_where_no_loop_runs_up_to_it() {
    let body = "for i in 0..5_000 { barrier(); } if n > 1000 { barrier(); }";
    assert_eq!(tried("usize", body), [0, 1, 2, 3, 999, 1000, 1001]);
}

#[test]
fn values_are_of_the_parameters_type() {
    assert_eq!(tried("u8", "if n > 255 { barrier(); }"), [0, 1, 2, 3, 254, 255]);
    assert_eq!(tried("u16", "if n > 70_000 { barrier(); }"), [0, 1, 2, 3]);
    assert_eq!(tried("i32", "if n > 0 { barrier(); }"), [-1, 0, 1, 2, 3]);
    let largest = i64::MAX;
    let body = format!("if n == {largest} {{ barrier(); }}");
    assert_eq!(tried("u64", &body), [0, 1, 2, 3, largest - 1, largest]);
}

const ROOTED: &str = "#[rank(_)] fn all(root: usize) { bcast(root, B); }";

#[test]
fn values_that_the_protocol_does_not_allow_are_not_tried() {
    let report = |arguments: &str| {
        check(&protocol(&with_messages(arguments, ROOTED)), &CheckOptions::default())
    };
    let free = report("ranks = 2..");
    assert_eq!(free.findings[0].rule, "peer-out-of-range");
    assert!(free.findings[0].help[0].contains("require(root < size)"), "{:?}", free.findings[0]);
    let bound = report("ranks = 2.., require(root < size)");
    assert_eq!(lines(&bound.errors), [""; 0]);
    assert!(bound.findings.is_empty(), "{:?}", bound.findings);
    assert_eq!(bound.sizes[0].parameters[0].1, [0, 1]);
    assert_eq!(bound.sizes[2].parameters[0].1, [0, 1, 2, 3]);
    let none = report("ranks = 2.., require(root > size, root < size)");
    assert!(none.sizes.is_empty());
    assert!(lines(&none.errors)[0].contains("no values of the parameters that were tried"));
    // A size for which no value is allowed is none that the protocol is for.
    let larger = report("ranks = 2.., require(size + root == 5)");
    let sizes: Vec<u32> = larger.sizes.iter().map(|checked| checked.size).collect();
    assert_eq!(sizes, [2, 3, 4, 5]);
    // The constants in a condition count.
    let large = report("ranks = 2000, require(root >= 1000)");
    assert_eq!(large.sizes[0].parameters[0].1, [1000, 1001]);
}

#[test]
fn a_world_with_values_that_are_not_allowed_is_not_made() {
    let protocol = protocol(&with_messages("ranks = 2.., require(root < size)", ROOTED));
    let world = |root: i64| evaluate(&protocol, 4, &[("root".to_owned(), root)], None);
    assert!(world(3).is_ok());
    let errors = world(4).expect_err("there is no rank 4");
    assert!(errors[0].message.contains("`root < size` does not hold with 4 ranks"));
}
