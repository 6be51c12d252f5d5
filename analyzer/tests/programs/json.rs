//! The JSON report, read back by the crate that rust-analyzer reads it with.

use crate::project::{PAIR, Project, Run, WRONG_TAG};
use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{CompilerMessage, Message};
use serde_json::Value;

fn messages(run: &Run) -> Vec<CompilerMessage> {
    let message = |message: std::io::Result<Message>| match message.expect("a line of cargo's") {
        Message::CompilerMessage(message) => Some(message),
        Message::CompilerArtifact(artifact) if !artifact.fresh => None,
        other => panic!("neither a message nor an artifact: {other:?}"),
    };
    Message::parse_stream(run.output.as_bytes()).filter_map(message).collect()
}

#[test]
fn a_file_without_a_package_is_a_program_of_its_own() {
    let project = Project::new("json_alone");
    project.write("bad.rs", WRONG_TAG);
    let run = project.run(&["--message-format", "json", "bad.rs"]);
    assert_eq!(run.status, 1);
    let messages = messages(&run);
    assert_eq!(messages.len(), 1, "{}", run.output);
    let message = &messages[0];
    assert_eq!(message.target.name, "bad");
    assert_eq!(message.target.src_path, project.path("bad.rs").to_str().unwrap());
    let diagnostic = &message.message;
    assert_eq!(diagnostic.level, DiagnosticLevel::Error);
    assert_eq!(diagnostic.code.as_ref().unwrap().code, "p2p::tag-mismatch");
    assert!(diagnostic.rendered.as_ref().unwrap().starts_with("error[tag-mismatch]: "));

    let primary: Vec<_> = diagnostic.spans.iter().filter(|span| span.is_primary).collect();
    assert_eq!(primary.len(), 1);
    let span = primary[0];
    let text = &WRONG_TAG[span.byte_start as usize..span.byte_end as usize];
    assert_eq!((span.file_name.as_str(), text), ("bad.rs", "bsend(1, Ping)"));
    assert_eq!((span.line_start, span.line_end, span.column_start), (12, 12, 9));
    assert_eq!(span.column_end, span.column_start + text.len());
    assert_eq!(span.text[0].text, "        bsend(1, Ping);");
    assert!(diagnostic.spans.iter().filter(|span| !span.is_primary).all(|it| it.label.is_some()));
    assert!(diagnostic.children.iter().any(|child| child.level == DiagnosticLevel::Help));
}

#[test]
fn what_is_known_of_the_ranks_rides_along() {
    let project = Project::new("json_p2p");
    project.write(
        "ring.rs",
        "#[p2p_protocol(ranks = 2..=3)]\nmod ring {\n    type Token = u8;\n    #[rank(_)]\n    \
         fn member() {\n        ssend((rank + 1) % size, Token);\n        \
         recv((rank + size - 1) % size, Token);\n    }\n}\n",
    );
    let run = project.run(&["--message-format", "json", "--summary-json", "ring.rs"]);
    assert_eq!(run.status, 1);
    let lines: Vec<Value> =
        run.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let deadlock = &lines[0]["message"]["p2p"];
    assert_eq!(deadlock["rule"], "deadlock");
    assert_eq!(deadlock["certainty"], "certain");
    assert_eq!(deadlock["ranks"], serde_json::json!([0, 1]));
    assert_eq!(deadlock["sizes"], serde_json::json!([2, 3]));
    let waits = deadlock["waits"].as_array().unwrap();
    assert_eq!(waits.len(), 2);
    assert_eq!(waits[0]["rank"], 0);
    assert_eq!(waits[0]["file"], "ring.rs");
    assert_eq!(waits[0]["line"], 6);
    assert_eq!(waits[0]["for"], serde_json::json!([1]));
    assert!(waits[0]["operation"].is_string());
    assert!(deadlock["trace"].is_array());

    let summary = lines.last().unwrap();
    assert_eq!(summary["reason"], "p2p-summary");
    assert_eq!(summary["protocols"], 1);
    assert_eq!(summary["sizes"], serde_json::json!([2, 3]));
    assert_eq!(summary["errors"], 1);
    // Nobody who reads cargo's stream meets a line that cargo does not know.
    let plain = project.run(&["--message-format", "json", "ring.rs"]);
    assert_eq!(plain.lines().len(), lines.len() - 1);
}

#[test]
fn a_file_of_a_package_names_it_and_the_nearest_target() {
    let project = Project::new("json_package");
    let manifest =
        "[package]\nname = \"job\"\nversion = \"1.2.3\"\nedition = \"2021\"\n[workspace]\n";
    project.write("Cargo.toml", manifest);
    project.write("src/lib.rs", "mod inner;\n");
    project.write("src/inner.rs", WRONG_TAG);
    project.write("src/main.rs", "fn main() {}\n");
    project.write("tests/it.rs", WRONG_TAG);
    for arguments in [&["--message-format", "json"][..], &["--message-format", "json", "."][..]] {
        let run = project.run(arguments);
        assert_eq!(run.status, 1, "{}{}", run.output, run.errors);
        let of: Vec<_> = messages(&run)
            .into_iter()
            .map(|it| {
                assert!(it.package_id.repr.ends_with("#job@1.2.3"), "{}", it.package_id);
                (it.message.spans[0].file_name.clone(), it.target.name, it.target.kind)
            })
            .collect();
        assert_eq!(of.len(), 2);
        assert_eq!((of[0].0.as_str(), of[0].1.as_str()), ("src/inner.rs", "job"));
        assert_eq!(of[0].2, [cargo_metadata::TargetKind::Lib]);
        assert_eq!((of[1].0.as_str(), of[1].1.as_str()), ("tests/it.rs", "it"));
        assert_eq!(of[1].2, [cargo_metadata::TargetKind::Test]);
    }
}

#[test]
fn what_has_no_place_is_a_message_too() {
    let project = Project::new("json_missing");
    let run = project.run(&["--message-format", "json", "missing.rs"]);
    assert_eq!(run.status, 2);
    let messages = messages(&run);
    assert_eq!(messages.len(), 1);
    assert!(messages[0].message.spans.is_empty());
    assert_eq!(messages[0].message.level, DiagnosticLevel::Error);
}

#[test]
fn a_package_in_which_nothing_is_wrong_is_named_so_that_old_findings_go() {
    let project = Project::new("json_clean");
    let manifest =
        "[package]\nname = \"job\"\nversion = \"1.2.3\"\nedition = \"2021\"\n[workspace]\n";
    project.write("Cargo.toml", manifest);
    project.write("src/lib.rs", PAIR);
    let run = project.run(&["--message-format", "json"]);
    assert_eq!(run.status, 0, "{}{}", run.output, run.errors);
    let lines: Vec<_> = Message::parse_stream(run.output.as_bytes()).map(Result::unwrap).collect();
    let [Message::CompilerArtifact(artifact)] = &lines[..] else { panic!("{lines:?}") };
    assert!(artifact.package_id.repr.ends_with("#job@1.2.3"));
    assert!(!artifact.fresh);
}
