//! The example programs that the crate itself ships.

use std::path::PathBuf;

use super::evaluated;

/// Where the examples lie, if cargo has fetched the crate.
fn folder() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")))?;
    let indexes = std::fs::read_dir(home.join("registry/src")).ok()?;
    indexes.flatten().map(|index| index.path().join("mpi-0.8.2/examples")).find(|it| it.is_dir())
}

#[test]
fn no_rank_of_an_example_is_lost() {
    let Some(folder) = folder() else { return };
    let mut lost = Vec::new();
    for file in std::fs::read_dir(folder).expect("the folder was found").flatten() {
        if file.file_name().to_string_lossy().contains("panic") {
            // Made to end in an assertion, before any message.
            continue;
        }
        let text = std::fs::read_to_string(file.path()).expect("examples can be read");
        for size in [2, 5] {
            let evaluated = evaluated(&text, size);
            let opaque = super::ranks(&evaluated).iter().flatten().any(|event| event == "opaque");
            if opaque {
                lost.push(format!("{:?} at {size}: {:?}", file.file_name(), evaluated.gaps));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
