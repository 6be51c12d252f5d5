//! Files as editors, other systems and other people's habits make them.

use crate::project::{PAIR, Project, Run, WRONG_TAG};

fn check(project: &Project, arguments: &[&str]) -> Run {
    project.run(&[&["--message-format", "short"], arguments].concat())
}

fn places(run: &Run) -> Vec<String> {
    let place = |line: &&str| line.split(": ").next().unwrap_or_default().to_owned();
    run.lines().iter().map(place).collect()
}

#[test]
fn lines_and_columns_hold_whatever_the_line_ends_are() {
    let project = Project::new("line_ends");
    project.write("crlf.rs", &WRONG_TAG.replace('\n', "\r\n"));
    project.write("mark.rs", &format!("\u{feff}{WRONG_TAG}"));
    project.write("shebang.rs", &format!("#!/usr/bin/env run\n{WRONG_TAG}"));
    project.write("tabs.rs", &WRONG_TAG.replace("        bsend", "\t\tbsend"));
    project.write("wide.rs", &WRONG_TAG.replace("        bsend", "        /* 数 é */ bsend"));
    project.write("mark_crlf.rs", &format!("\u{feff}{}", WRONG_TAG.replace('\n', "\r\n")));
    let run = check(&project, &["."]);
    let expected = [
        "crlf.rs:12:9",
        "mark.rs:12:9",
        "mark_crlf.rs:12:9",
        "shebang.rs:13:9",
        "tabs.rs:12:3",
        "wide.rs:12:19",
    ];
    assert_eq!(places(&run), expected);
    // The long form must not stumble over them either, nor show a carriage return.
    let human = project.run(&["."]);
    assert_eq!(human.status, 1);
    assert!(!human.output.contains('\r'));
    assert_eq!(human.output.matches("bsend(1, Ping);").count(), 6, "{}", human.output);
}

#[test]
fn bytes_in_json_count_the_mark() {
    let project = Project::new("mark_bytes");
    let text = format!("\u{feff}{WRONG_TAG}");
    project.write("mark.rs", &text);
    let run = project.run(&["--message-format", "json", "mark.rs"]);
    let line: serde_json::Value = serde_json::from_str(run.lines()[0]).unwrap();
    let span = &line["message"]["spans"][0];
    let byte = |key: &str| usize::try_from(span[key].as_u64().unwrap()).unwrap();
    assert_eq!(&text[byte("byte_start")..byte("byte_end")], "bsend(1, Ping)");
}

#[test]
fn several_protocols_in_a_file_are_judged_each_for_itself() {
    let project = Project::new("several");
    let wrong = WRONG_TAG.replace("mod pair", "mod wrong");
    let broken =
        "#[p2p_protocol(ranks = 2)]\nmod broken {\n    #[rank(_)]\n    fn f() { dance(1); }\n}\n";
    let nested = format!("mod a {{ fn f() {{\n{wrong}}} }}\n");
    project.write("all.rs", &format!("{broken}{PAIR}{nested}"));
    let run = check(&project, &["all.rs"]);
    assert_eq!(run.status, 2);
    let lines = run.lines();
    assert_eq!(lines.len(), 2, "{}", run.output);
    assert!(lines[0].starts_with("all.rs:4:"), "{}", lines[0]);
    assert!(lines[1].ends_with("[tag-mismatch]"), "{}", lines[1]);
}

#[test]
fn a_protocol_in_a_macro_is_text() {
    let project = Project::new("in_macro");
    project.write("m.rs", &format!("macro_rules! m {{ () => {{ {WRONG_TAG} }} }}\n"));
    assert_eq!(check(&project, &["m.rs"]).lines(), [""; 0]);
}

#[test]
fn module_files_are_followed_and_each_is_judged_once() {
    let project = Project::new("modules");
    project.write("outside/shared.rs", WRONG_TAG);
    project.write("src/lib.rs", "mod a;\n#[path = \"../outside/shared.rs\"] mod b;\n");
    project.write("src/a/mod.rs", "#[path = \"../../outside/shared.rs\"] mod again; mod deep;");
    project.write("src/a/deep.rs", WRONG_TAG);
    let expected = ["outside/shared.rs:12:9", "src/a/deep.rs:12:9"];
    for arguments in [&["src/lib.rs"][..], &["src"], &["src", "src/lib.rs", "src/a"], &["."]] {
        assert_eq!(places(&check(&project, arguments)), expected, "{arguments:?}");
    }
}

#[test]
fn a_module_that_no_build_contains_is_left_out_with_its_files() {
    let project = Project::new("impossible");
    project.write("lib.rs", "#[cfg(any())] mod off;\n#[cfg(test)] mod tests;\n");
    project.write("off.rs", "mod deeper;");
    project.write("off/deeper.rs", WRONG_TAG);
    project.write("tests.rs", WRONG_TAG);
    assert_eq!(places(&check(&project, &["."])), ["tests.rs:12:9"]);
    // Whoever names a file wants it checked.
    assert_eq!(places(&check(&project, &["off/deeper.rs"])), ["off/deeper.rs:12:9"]);
}

#[test]
fn a_missing_module_file_is_named_where_it_is_declared() {
    let project = Project::new("missing_module");
    project.write("lib.rs", "mod gone;\n#[cfg(windows)] mod may_be_gone;\n");
    let run = check(&project, &["lib.rs"]);
    assert_eq!(run.status, 2);
    assert_eq!(run.output, "lib.rs:1:5: error: no file for the module `gone`\n");
}

#[test]
fn ignored_files_and_build_folders_are_left_out_unless_they_are_named() {
    let project = Project::new("ignored");
    project.write(".gitignore", "/generated\n");
    project.write("generated/bad.rs", WRONG_TAG);
    project.write("out/CACHEDIR.TAG", "");
    project.write("out/bad.rs", WRONG_TAG);
    let run = project.run(&["."]);
    assert_eq!((run.status, run.output.as_str()), (0, "nothing was checked in 0 files\n"));
    assert_eq!(check(&project, &["generated/bad.rs"]).status, 1);
    assert_eq!(check(&project, &["out"]).status, 1);
}

#[test]
fn files_without_a_protocol_need_not_be_rust() {
    let project = Project::new("passed_over");
    project.write("text.rs", "\"never ended");
    project.write("modules.rs", "mod other;\n\"never ended");
    project.write(".hidden/bad.rs", WRONG_TAG);
    assert_eq!(check(&project, &[".", "text.rs"]).status, 0);
    // The modules of a file that is named are wanted, so it has to be read.
    let run = check(&project, &["modules.rs"]);
    assert_eq!(run.status, 2);
    assert!(run.output.starts_with("modules.rs:2:1: error: this is not Rust: "), "{}", run.output);
    project.write("protocol.rs", "// p2p_protocol\n\"never ended");
    assert_eq!(places(&check(&project, &["."])), ["protocol.rs:2:1"]);
    project.write("protocol.rs", "");
    project.write_bytes("latin.rs", b"// \xe9\n");
    assert_eq!(check(&project, &["."]).status, 2);
}

#[cfg(unix)]
#[test]
fn symbolic_links_lead_nowhere_twice() {
    use std::os::unix::fs::symlink;
    let project = Project::new("links");
    project.write("src/bad.rs", WRONG_TAG);
    symlink(project.path("src"), project.path("src/round")).unwrap();
    symlink(project.path("src/bad.rs"), project.path("src/same.rs")).unwrap();
    symlink(project.path("src/gone.rs"), project.path("src/dangling.rs")).unwrap();
    let run = check(&project, &["src"]);
    assert_eq!(places(&run), ["src/bad.rs:12:9"]);
    assert_eq!(run.status, 1);
    // A module that is its own child ends as well.
    project.write("own.rs", "#[path = \"own.rs\"] mod own;\n// p2p_protocol\n");
    assert_eq!(check(&project, &["own.rs"]).status, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_unicode_is_shown_as_well_as_can_be() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new("names");
    let name = std::ffi::OsStr::from_bytes(b"b\xe9d.rs");
    std::fs::write(project.path("").join(name), WRONG_TAG).unwrap();
    for format in ["human", "short", "json"] {
        let run = project.run(&["--message-format", format, "."]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.output.contains("b\u{fffd}d.rs"), "{}", run.output);
    }
}

#[test]
fn a_report_does_not_repeat_a_long_line_for_every_finding() {
    const BEFORE: &str = "#[p2p_protocol(ranks = 2)] mod ring { /* é数 */ type Token = u8; \
                          #[rank(_)] fn member() { ";
    const SEND: &str = "send(2, Token); ";
    let project = Project::new("one_line");
    let report = |findings: usize, format: &str| {
        project.write("line.rs", &format!("{BEFORE}{} }} }}", SEND.repeat(findings)));
        let run = project.run(&["--message-format", format, "line.rs"]);
        assert_eq!(run.status, 1);
        run.output
    };
    for format in ["human", "json"] {
        let (few, many) = (report(100, format).len(), report(400, format).len());
        assert!(many < 5 * few, "{format}: {few} and {many} bytes");
    }
    let human = report(100, "human");
    let column = BEFORE.chars().count() + 99 * SEND.len() + 1;
    assert!(human.contains(&format!("┌─ line.rs:1:{column}\n")));
    assert!(human.contains("\n  = long lines are shown in part\n"));
}

#[test]
fn the_far_end_of_a_long_line_is_named() {
    let project = Project::new("far_end");
    let gap = " ".repeat(1000);
    let text =
        WRONG_TAG.lines().skip(2).map(|line| format!("{}{gap}", line.split("//").next().unwrap()));
    project.write("line.rs", &text.collect::<String>());
    let run = project.run(&["line.rs"]);
    assert_eq!(run.status, 1);
    assert!(run.output.contains("\n  = line.rs:1:"), "{}", run.output);
    assert!(run.output.lines().all(|line| line.chars().count() < 450), "{}", run.output);
}

#[test]
fn a_terminal_gets_no_orders_from_a_source() {
    let project = Project::new("escapes");
    project.write("bad.rs", &WRONG_TAG.replace("        bsend", "        /* \x1b[2J\x07 */ bsend"));
    let run = project.run(&["--color", "never", "bad.rs"]);
    assert_eq!(run.status, 1);
    assert!(!run.output.contains('\x1b') && !run.output.contains('\x07'), "{:?}", run.output);
}

#[test]
fn text_that_would_exhaust_a_parser_is_refused() {
    let project = Project::new("deep");
    let with = |body: String| format!("// p2p_protocol\nfn f() {{ {body} }}\n");
    project.write("brackets.rs", &with("(".repeat(100_000)));
    project.write("operators.rs", &with(format!("let x = {}1;", "-".repeat(100_000))));
    project.write("sum.rs", &with(format!("let x = 1{};", " + 1".repeat(100_000))));
    let fits = |text: &str, times| with(format!("let x = 1{};", text.repeat(times)));
    project.write("fits.rs", &fits(" + 1", 4_000));
    project.write("methods.rs", &fits(".f()", 1_900));
    project.write("else_if.rs", &with(format!("if a {{}} {}", "else if a {}".repeat(20_000))));
    project.write("nested.rs", &with(format!("{}{}", "{".repeat(390), "}".repeat(390))));
    project.write("minus.rs", &with(format!("let x = {}1;", "-".repeat(9_000))));
    let run = check(&project, &["."]);
    assert_eq!(run.status, 2, "{}", run.errors);
    assert_eq!(run.errors, "nothing was checked in 8 files: 3 things could not be checked\n");
    let named: Vec<String> =
        places(&run).iter().map(|it| it.split(':').next().unwrap().to_owned()).collect();
    assert_eq!(named, ["brackets.rs", "operators.rs", "sum.rs"]);
}

#[test]
fn no_text_makes_it_fail() {
    let project = Project::new("no_panic");
    let texts = [
        "p2p_protocol",
        "#[p2p_protocol",
        "#[p2p_protocol] mod x;",
        "#[p2p_protocol] mod x {}",
        "#[p2p_protocol = 3] mod x {}",
        "#[p2p_protocol(ranks)] mod x {}",
        "#[p2p_protocol(ranks = 0)] mod x { #[rank(_)] fn f() {} }",
        "#[p2p_protocol(role = a::B)] fn f() {}",
        "#[p2p_protocol] struct X;",
        "#[p2p_protocol] mod x { fn f() { send(1, 2, 3, 4); } }",
        "#[p2p_protocol] mod x { #[rank(size / 0)] fn f() {} }",
        "#[p2p_protocol] mod x { #[rank(_)] fn f() { send(9223372036854775807 + 1, M); } }",
        "#[cfg_attr()] #[cfg()] #[p2p_protocol] mod x {}",
        "// p2p_protocol p2p-check: allow(",
        "/* p2p_protocol",
        "\"p2p_protocol",
        "\u{feff}\u{feff}#[p2p_protocol] mod x {}",
        "\0p2p_protocol",
        "#!\n// p2p_protocol",
        "#[p2p_protocol] mod é数 { é }",
    ];
    for (number, text) in texts.iter().enumerate() {
        project.write("odd.rs", text);
        for format in ["human", "short", "json"] {
            let run = project.run(&["--message-format", format, "odd.rs"]);
            assert!((0..=2).contains(&run.status), "{number} {text}: {run:?}");
            assert!(!run.errors.contains("panicked"), "{number} {text}: {run:?}");
        }
    }
}
