//! The command line: exit status, levels, suppressions, rules.

use crate::project::{PAIR, Project, WRONG_TAG};

#[test]
fn exit_status_is_0_for_clean_1_for_findings_2_for_what_cannot_be_checked() {
    let project = Project::new("exit_status");
    project.write("good.rs", PAIR);
    project.write("bad.rs", WRONG_TAG);
    project.write("broken.rs", "#[p2p_protocol] mod x { fn }");
    assert_eq!(project.run(&["good.rs"]).status, 0);
    assert_eq!(project.run(&["bad.rs"]).status, 1);
    assert_eq!(project.run(&["broken.rs"]).status, 2);
    assert_eq!(project.run(&["--exit-zero", "bad.rs"]).status, 0);
    assert_eq!(project.run(&["--exit-zero", "broken.rs"]).status, 2);
    assert_eq!(project.run(&["--help"]).status, 0);
    assert_eq!(project.run(&["--no-such-option"]).status, 2);
    assert_eq!(project.run(&["--summary-json", "good.rs"]).status, 2);
    assert_eq!(project.run(&["-o", "no/such/folder", "good.rs"]).status, 2);
}

#[test]
fn what_cannot_be_read_is_named_and_all_else_is_reported() {
    let project = Project::new("unreadable");
    project.write("src/bad.rs", WRONG_TAG);
    project.write("src/broken.rs", "// p2p_protocol\nfn f() {\n    let = 3;\n}\n");
    project.write_bytes("src/latin.rs", b"// p2p_protocol\n// \xe9\n");
    let run = project.run(&["--message-format", "short", "src", "missing.rs", "notes.txt"]);
    assert_eq!(run.status, 2);
    let lines: Vec<&str> = run.output.lines().collect();
    assert_eq!(lines.len(), 5, "{}", run.output);
    assert_eq!(lines[0], "error: `missing.rs` cannot be read: no such file or directory");
    assert_eq!(lines[1], "error: `notes.txt` cannot be read: no such file or directory");
    assert_eq!(lines[2], "error: `src/latin.rs` cannot be read: it is not UTF-8 (line 2)");
    assert!(lines[3].starts_with("src/bad.rs:12:9: error: "), "{}", lines[3]);
    assert!(lines[3].ends_with(" [tag-mismatch]"), "{}", lines[3]);
    assert!(lines[4].starts_with("src/broken.rs:3:9: error: this is not Rust: "), "{}", lines[4]);
}

#[test]
fn both_programs_understand_both_ways_of_being_called() {
    let project = Project::new("both_ways");
    project.write("bad.rs", WRONG_TAG);
    let plain = project.run(&["bad.rs"]);
    assert_eq!(plain, project.run_as(env!("CARGO_BIN_EXE_cargo-p2p-check"), &["bad.rs"]));
    let by_cargo = project.run_as(env!("CARGO_BIN_EXE_cargo-p2p-check"), &["p2p-check", "bad.rs"]);
    assert_eq!(plain, by_cargo);
    assert_eq!(project.run(&["p2p-check", "bad.rs"]).status, 2);
}

#[test]
fn levels_come_from_the_manifest_then_from_the_command_line_and_the_last_counts() {
    let project = Project::new("levels");
    project.write("bad.rs", WRONG_TAG);
    let status = |arguments: &[&str]| project.run(&[arguments, &["bad.rs"]].concat()).status;
    assert_eq!(status(&["--warn", "tag-mismatch"]), 0);
    assert_eq!(status(&["--allow", "all"]), 0);
    assert_eq!(status(&["--allow", "all", "--deny", "pairing"]), 1);
    assert_eq!(status(&["--deny", "pairing", "--allow", "all"]), 0);
    assert_eq!(status(&["--warn", "no-such-rule"]), 2);

    project.write("Cargo.toml", "[workspace.metadata.p2p-check.lints]\npairing = \"allow\"\n");
    assert_eq!(status(&[]), 0);
    assert_eq!(status(&["--deny", "tag-mismatch"]), 1);
    project.write("p2p-check.toml", "[lints]\ntag-mismatch = \"deny\"\n");
    assert_eq!(status(&[]), 1);

    project.write("p2p-check.toml", "[lints]\ntag-missmatch = \"deny\"\n");
    let run = project.run(&["--message-format", "short", "bad.rs"]);
    assert_eq!(run.status, 2);
    assert_eq!(
        run.output,
        "p2p-check.toml:2:1: error: no rule or group is called `tag-missmatch`; \
         did you mean `tag-mismatch`?\n"
    );
}

#[test]
fn comments_suppress_and_those_that_do_not_are_reported() {
    let project = Project::new("suppressions");
    let with = |comment: &str| {
        WRONG_TAG
            .replace("        bsend(", &format!("        // p2p-check: {comment}\n        bsend("))
    };
    let run = |text: &str| {
        project.write("a.rs", text);
        project.run(&["--message-format", "short", "a.rs"])
    };
    assert_eq!(run(&with("allow(tag-mismatch) for the test")).lines(), [""; 0]);
    assert_eq!(run(&with("allow-file(tag-mismatch)")).lines(), [""; 0]);
    let same_line =
        WRONG_TAG.replace("bsend(1, Ping);", "bsend(1, Ping); // p2p-check: allow(tag-mismatch)");
    assert_eq!(run(&same_line).lines(), [""; 0]);

    let unused = run(&with("allow(deadlock, tag-mismatch)"));
    assert_eq!(unused.status, 0);
    assert_eq!(
        unused.lines(),
        ["a.rs:12:29: warning: `deadlock` finds nothing here to allow [unused-suppression]"]
    );
    let unknown = run(&with("allow(tag-missmatch)"));
    assert_eq!(unknown.status, 1);
    assert_eq!(
        unknown.lines()[0],
        "a.rs:12:29: warning: no rule is called `tag-missmatch`; did you mean `tag-mismatch`? \
         [unused-suppression]"
    );
    let unclear = run(&with("alow(tag-mismatch)"));
    assert!(unclear.lines()[0].starts_with("a.rs:12:9: warning: this suppression cannot be read"));

    // Where not everything was run, nobody can say that a suppression is for nothing.
    project.write("a.rs", &with("allow(deadlock, tag-mismatch)"));
    let partly = project.run(&["--message-format", "short", "--ranks", "2", "a.rs"]);
    assert_eq!((partly.status, partly.lines()), (0, vec![]));
    let elsewhere = "// p2p-check: allow(deadlock)\nfn main() {}\n";
    assert_eq!(run(elsewhere).lines(), [""; 0]);
}

#[test]
fn what_a_protocol_allows_itself_is_not_reported_whatever_the_levels() {
    let project = Project::new("allowed");
    let allowed = WRONG_TAG.replace("ranks = 2", "ranks = 2, allow(tag_mismatch)");
    project.write("a.rs", &allowed);
    assert_eq!(
        project.run(&["--deny", "all", "--message-format", "short", "a.rs"]).lines(),
        [""; 0]
    );
    // The words of the attribute are the language's, so a wrong one is no finding.
    project.write("a.rs", &WRONG_TAG.replace("ranks = 2", "ranks = 2, allow(tag_missmatch)"));
    let run = project.run(&["--message-format", "short", "a.rs"]);
    assert_eq!(run.status, 2);
    assert!(run.output.starts_with("a.rs:3:33: error: "), "{}", run.output);
}

#[test]
fn what_is_allowed_is_counted_and_not_called_right() {
    let project = Project::new("counted");
    let summary = |text: &str, arguments: &[&str]| {
        project.write("a.rs", text);
        let run = project.run(&[arguments, &["a.rs"]].concat());
        assert_eq!(run.status, 0, "{}", run.output);
        run.output
    };
    let allowed = "checked 1 protocol in 1 file with 2 ranks: 1 finding allowed\n";
    assert_eq!(summary(WRONG_TAG, &["--allow", "all"]), allowed);
    let comment = format!("// p2p-check: allow-file(tag-mismatch)\n{WRONG_TAG}");
    assert_eq!(summary(&comment, &[]), allowed);
    let attribute = WRONG_TAG.replace("ranks = 2", "ranks = 2, allow(tag_mismatch)");
    assert_eq!(summary(&attribute, &[]), allowed);
    // A rule that is off by default has been allowed by nobody.
    let race = "#[p2p_protocol(ranks = 3)]\nmod race {\n    type Answer = u8;\n    #[rank(0)]\n    \
                fn root() { recv(any(1..3), Answer); recv(any(1..3), Answer); }\n    \
                #[rank(1..)]\n    fn other() { send(0, Answer); }\n}\n";
    let shown = summary(race, &["--warn", "message-race"]);
    assert!(shown.contains("warning[message-race]"), "{shown}");
    assert_eq!(
        summary(race, &[]),
        "checked 1 protocol in 1 file with 3 ranks: nothing wrong was found\n"
    );
}

#[test]
fn a_wrong_number_is_answered_with_what_is_accepted() {
    let project = Project::new("numbers");
    project.write("good.rs", PAIR);
    for (arguments, wrong) in [
        (["--ranks", "2.."], "`2..` does not say where it ends; write world sizes as `4`,"),
        (["--ranks", "-1"], "`-1` is no number of ranks; write world sizes as `4`,"),
        (["--eager-limit", "4k"], "`4k` is no number of bytes; write it in digits only,"),
        (["--eager-limit", "-1"], "`-1` is no number of bytes; write it in digits only,"),
    ] {
        let run = project.run(&[&arguments[..], &["good.rs"]].concat());
        assert_eq!(run.status, 2);
        assert!(run.errors.contains(wrong), "{}", run.errors);
    }
}

#[test]
fn a_protocol_without_a_size_that_was_asked_for_is_counted() {
    let project = Project::new("no_size");
    project.write("good.rs", PAIR);
    let run = project.run(&["--ranks", "5..=7", "good.rs"]);
    assert_eq!(run.status, 0);
    assert_eq!(
        run.output,
        "nothing was checked in 1 file\n\
         not checked: 1 protocol with no size among those asked for\n"
    );
}

const LONG: &str = "use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
mod long {
    type Ping = u8;
    #[rank(_)]
    fn both() {
        for _ in 0..100_000_000 {
            sendrecv(1 - rank, Ping, 1 - rank, Ping);
        }
    }
}
";

#[test]
fn a_loop_that_is_too_long_is_never_called_checked() {
    let project = Project::new("long_loop");
    project.write("long.rs", LONG);
    let run = project.run(&["--message-format", "short", "long.rs"]);
    assert_eq!(run.status, 2);
    assert_eq!(
        run.lines(),
        ["long.rs:8:9: error: only the first rounds of long loops were checked with 2 ranks: \
          the roles take more than 2000000 steps"]
    );
    let run = project.run(&["long.rs"]);
    let summary = "nothing was checked in 1 file: 1 thing could not be checked";
    assert_eq!(run.output.lines().last(), Some(summary));

    // What is wrong in the first rounds is wrong.
    let exchange = "sendrecv(1 - rank, Ping, 1 - rank, Ping);";
    project
        .write("long.rs", &LONG.replace(exchange, "ssend(1 - rank, Ping); recv(1 - rank, Ping);"));
    let run = project.run(&["--message-format", "short", "long.rs"]);
    assert_eq!(run.status, 2);
    assert!(run.output.contains("[deadlock]"), "{}", run.output);

    // What a compiler has no time for is still checked here.
    project.write("long.rs", &LONG.replace("100_000_000", "100_000"));
    assert_eq!(project.run(&["long.rs"]).status, 0);
}

#[test]
fn the_values_of_parameters_are_in_the_summary() {
    let project = Project::new("values");
    let steps = LONG.replace("fn both()", "fn both(steps: usize)").replace("100_000_000", "steps");
    project.write("steps.rs", &steps);
    project.write("good.rs", PAIR);
    let run = project.run(&["steps.rs"]);
    assert_eq!(
        run.output,
        "checked 1 protocol in 1 file with 2 ranks and steps = 0 to 3: nothing wrong was found\n"
    );
    assert!(!project.run(&["good.rs"]).output.contains(" = "));
}

#[test]
fn rules_are_listed_and_explained() {
    let project = Project::new("rules");
    let rules = project.run(&["rules"]);
    assert_eq!(rules.status, 0);
    assert_eq!(rules.lines().len(), p2p_analyzer::catalogue::all().len());
    for rule in p2p_analyzer::catalogue::all() {
        let explained = project.run(&["explain", rule.name]);
        assert_eq!(explained.status, 0);
        assert!(explained.output.contains("\nWhy is this bad\n"), "{}", rule.name);
        assert!(!explained.output.contains('\x1b'));
        let line = rules
            .lines()
            .into_iter()
            .find(|line| line.split_whitespace().nth(1) == Some(rule.name));
        assert!(line.is_some_and(|line| line.ends_with('.')), "{}", rule.name);
    }
    let colored = project.run(&["explain", "deadlock", "--color", "always"]);
    assert!(colored.output.contains("\x1b[1mWhat it does\x1b[0m"));
    let unknown = project.run(&["explain", "dead-lock"]);
    assert_eq!(unknown.status, 2);
    assert_eq!(unknown.errors, "error: no rule is called `dead-lock`; did you mean `deadlock`?\n");
}

#[test]
fn ranks_choose_the_sizes_that_are_run() {
    let project = Project::new("ranks");
    project.write(
        "good.rs",
        &PAIR.replace("ranks = 2", "ranks = 2..").replace("rank(1)", "rank(1..)"),
    );
    let run = project.run(&["--ranks", "2", "good.rs"]);
    assert_eq!(run.status, 0, "{}", run.output);
    assert_eq!(run.output, "checked 1 protocol in 1 file with 2 ranks: nothing wrong was found\n");
    let run = project.run(&["--ranks", "3", "--message-format", "short", "good.rs"]);
    assert_eq!(run.status, 1, "{}", run.output);
    assert_eq!(project.run(&["--ranks", "0", "good.rs"]).status, 2);
}

#[test]
fn colour_is_for_terminals_or_on_demand() {
    let project = Project::new("colour");
    project.write("bad.rs", WRONG_TAG);
    assert!(!project.run(&["bad.rs"]).output.contains('\x1b'));
    let colored = project.run(&["--color", "always", "bad.rs"]).output;
    assert!(colored.contains("\x1b["));
}

#[test]
fn a_report_goes_to_a_file_and_a_quiet_one_has_no_summary() {
    let project = Project::new("output");
    project.write("bad.rs", WRONG_TAG);
    let printed = project.run(&["bad.rs"]).output;
    let run = project.run(&["-o", "report.txt", "bad.rs"]);
    assert_eq!((run.status, run.output.as_str()), (1, ""));
    assert_eq!(project.read("report.txt"), printed);
    let quiet = project.run(&["--quiet", "bad.rs"]).output;
    assert!(printed.starts_with(&quiet) && printed.len() > quiet.len());
    project.write("good.rs", PAIR);
    assert_eq!(project.run(&["--quiet", "good.rs"]).output, "");
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_gone_is_no_failure() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_p2p-check"))
        .arg("rules")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
