//! What the compiler says of protocols that are wrong, and of code that does not follow a right
//! one. With `TRYBUILD=overwrite` new texts are accepted; read each of them.

use std::fs;
use std::path::{Path, PathBuf};

/// The longest answer to a wrong step, in lines.
const LINES: usize = 20;

#[test]
fn the_compiler_says_what_is_wrong() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/protocol/*.rs");
    cases.compile_fail("tests/ui/uses/*.rs");
}

#[test]
fn a_wrong_use_is_told_in_few_lines() {
    let answers = files("uses", "stderr");
    assert!(answers.len() >= 15, "only {} wrong uses", answers.len());
    for path in answers {
        let lines = read(&path).lines().count();
        assert!(lines <= LINES, "{} has {lines} lines", path.display());
    }
}

#[test]
fn there_are_many_wrong_protocols() {
    let answers = files("protocol", "stderr");
    assert!(answers.len() >= 25, "only {} wrong protocols", answers.len());
}

#[test]
fn an_example_without_a_receive_is_among_them() {
    let example = read(&folder().join("../../examples/matrix_scatter.rs"));
    let without = example.replacen("        recv(0, Block);\n", "", 1);
    assert_ne!(without, example);
    let case = folder().join("protocol/example_without_its_receive.rs");
    if std::env::var_os("TRYBUILD").is_some_and(|mode| mode == "overwrite") {
        fs::write(&case, &without).expect("the case can be written");
    }
    assert!(read(&case) == without, "{} is not the example any more", case.display());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

fn files(kind: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().join(kind)).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
