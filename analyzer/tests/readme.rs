//! The README shows a real report: it is what is printed today.

use std::path::Path;
use std::process::Command;

/// What the README says was typed.
const TYPED: &str = "$ cargo p2p-check ";

#[test]
fn the_reports_in_the_readme_are_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("there is a README");
    let mut reports = 0;
    for shown in readme.split(TYPED).skip(1) {
        let (path, report) = shown.split_once('\n').expect("the report follows the command");
        let (report, _) = report.split_once("```").expect("the report ends");
        let output = Command::new(env!("CARGO_BIN_EXE_p2p-check"))
            .args(["--color", "never", path])
            .current_dir(&root)
            .output()
            .expect("the program runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), report.trim_end());
        assert_eq!(output.status.code(), Some(1));
        reports += 1;
    }
    assert_eq!(reports, 3, "the README shows a report of a protocol and of two programs");
}
