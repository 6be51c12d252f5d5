//! The report that GitHub shows beside the code.

use crate::project::{Project, WRONG_TAG};

#[test]
fn a_finding_is_one_command_with_its_place() {
    let project = Project::new("github");
    project.write("bad.rs", WRONG_TAG);
    let run = project.run(&["--message-format", "github", "bad.rs"]);
    assert_eq!(run.status, 1);
    let lines = run.lines();
    assert_eq!(lines.len(), 1, "{}", run.output);
    let start = "::error file=bad.rs,line=12,endLine=12,col=9,endColumn=23,title=tag-mismatch::";
    assert!(lines[0].starts_with(start), "{}", lines[0]);
    // The other end is named as well.
    assert!(lines[0].contains("%0Abad.rs:17: "), "{}", lines[0]);
}
