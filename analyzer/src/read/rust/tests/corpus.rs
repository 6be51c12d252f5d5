//! Real files: whatever they contain, reading them does not panic.

use std::path::{Path, PathBuf};

use crate::read::rust::from_text;

/// The Rust files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.join("CACHEDIR.TAG").exists() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_of_this_workspace_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    files(&root, &mut found);
    assert!(found.len() > 100);
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let outcome = from_text(&text);
        outcome.is_ok_and(|program| {
            let inside = |it: &crate::source::Location| {
                it.bytes.start <= it.bytes.end && it.bytes.end <= text.len()
            };
            assert!(program.places.iter().all(inside), "{}", path.display());
            !program.functions.is_empty()
        })
    };
    let with_functions = found.iter().filter(|path| read(path)).count();
    assert!(with_functions * 2 > found.len());
}
