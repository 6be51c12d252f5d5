//! As rust-analyzer calls it: `check.command = "p2p-check"`.

use cargo_metadata::Message;

use crate::project::{Project, WRONG_TAG};

const MANIFEST: &str = "[package]\nname = \"job\"\nversion = \"1.2.3\"\nedition = \"2021\"\n[features]\nmpi = []\n[workspace]\n";

/// The flags of a check of the whole workspace, less those that name paths.
const FLAGS: [&str; 4] = [
    "--workspace",
    "--message-format=json-diagnostic-rendered-ansi",
    "--keep-going",
    "--all-targets",
];

#[test]
fn cargo_speaks_first_and_then_the_checker() {
    let project = Project::new("rust_analyzer");
    project.write("Cargo.toml", MANIFEST);
    project.write("src/main.rs", "mod inner;\nfn main() { let unused = 1; }\n");
    // No macro of that name is there: cargo says so, and the protocol is judged all the same.
    project.write("src/inner.rs", WRONG_TAG);
    let manifest = project.path("Cargo.toml");
    let target = project.path("target");
    let paths = [
        format!("--manifest-path={}", manifest.display()),
        format!("--target-dir={}", target.display()),
    ];
    let arguments: Vec<&str> =
        FLAGS.iter().copied().chain(paths.iter().map(String::as_str)).collect();
    let run = project.run(&arguments);
    assert_eq!(run.status, 1, "{}{}", run.output, run.errors);
    let lines: Vec<_> = Message::parse_stream(run.output.as_bytes()).map(Result::unwrap).collect();
    let ours = |message: &Message| match message {
        Message::CompilerMessage(it) => {
            it.message.code.as_ref().is_some_and(|code| code.code.starts_with("p2p::"))
        }
        _ => false,
    };
    let first = lines.iter().position(ours).expect("a finding");
    let cargo = &lines[..first];
    assert!(cargo.iter().any(|it| matches!(it, Message::CompilerMessage(_))), "{cargo:?}");
    assert!(cargo.iter().any(|it| matches!(it, Message::BuildFinished(_))), "{cargo:?}");
    let Message::CompilerMessage(finding) = &lines[first] else { panic!("a message") };
    assert!(finding.package_id.repr.ends_with("#job@1.2.3"));
    let other = finding.message.spans.iter().find(|span| !span.is_primary).expect("the other end");
    assert!(other.label.is_some());
    assert!(finding.message.rendered.as_ref().is_some_and(|text| text.contains('\u{1b}')));
}

#[test]
fn one_package_and_one_target_are_chosen_as_rust_analyzer_does() {
    let project = Project::new("rust_analyzer_choice");
    project.write("Cargo.toml", MANIFEST);
    project.write("src/bin/one.rs", &format!("{WRONG_TAG}fn main() {{}}\n"));
    project.write("src/bin/two.rs", &format!("{WRONG_TAG}fn main() {{}}\n"));
    let package =
        format!("path+file://{}#job@1.2.3", project.path("").display()).replace("/#", "#");
    for package in [package.as_str(), "job", "job@1.2.3"] {
        let run = project.run(&["-p", package, "--bin", "two", "--message-format", "short"]);
        assert_eq!(run.lines().len(), 1, "{}{}", run.output, run.errors);
        assert!(run.output.starts_with("src/bin/two.rs:12:"), "{}", run.output);
    }
}
