//! Holds the workspace to `docs/architecture.md`: what it names exists, and those of its invariants
//! that a machine can check hold.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Longer than this, a file holds more than one thing.
const LONGEST_FILE: usize = 600;

#[test]
fn every_path_that_the_page_names_exists() {
    let page = read("docs/architecture.md");
    let names: Vec<&str> =
        page.split('`').skip(1).step_by(2).filter(|name| is_path(name)).collect();
    assert!(names.len() > 20, "the page names files in backticks");
    let missing: Vec<&&str> = names.iter().filter(|name| !root().join(name).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_page_and_the_book_lead_somewhere() {
    for page in files("docs", "md") {
        let text = read(&page);
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let links = links.filter(|link| !link.contains("://"));
        let includes = text.split("{{#include ").skip(1).filter_map(|rest| rest.split('}').next());
        let folder = root().join(&page).parent().expect("a page is in a folder").to_owned();
        for link in links {
            let file = link.split('#').next().unwrap_or(link);
            assert!(folder.join(file).exists(), "{page} leads to {link}");
        }
        for include in includes {
            let (file, lines) = include.split_once(':').unwrap_or((include, ""));
            let text = fs::read_to_string(folder.join(file));
            let text = text.unwrap_or_else(|error| panic!("{page} includes {file}: {error}"));
            assert!(lines.is_empty() || is_whole_part(&text, lines), "{page} includes {include}");
        }
    }
}

#[test]
fn packages_depend_on_each_other_in_one_direction() {
    assert_eq!(own_dependencies("protocol"), BTreeSet::new());
    assert_eq!(own_dependencies("macros"), BTreeSet::from(["p2p-protocol".to_owned()]));
    let both = BTreeSet::from(["p2p-macros".to_owned(), "p2p-protocol".to_owned()]);
    assert_eq!(own_dependencies("runtime"), both);
    assert_eq!(own_dependencies("analyzer"), BTreeSet::from(["p2p-protocol".to_owned()]));
}

#[test]
fn the_judge_reads_no_file_asks_no_clock_and_throws_no_dice() {
    let forbidden =
        ["std::fs", "std::io", "std::net", "std::env", "std::time", "std::thread", "RandomState"];
    for file in files("protocol/src", "rs") {
        let text = code(&file);
        for name in forbidden {
            assert!(!text.contains(name), "{file} uses {name}");
        }
    }
    let dependencies = dependencies("protocol");
    for name in ["serde", "serde_json", "rand", "fastrand"] {
        assert!(!dependencies.contains(name), "protocol depends on {name}");
    }
}

#[test]
fn no_front_end_names_a_rule_to_decide_something() {
    // A rule's name in a front end would be the beginning of a judgement there. What the front
    // ends say about themselves (`unused-suppression`) is theirs.
    for file in files("macros/src", "rs").into_iter().chain(files("analyzer/src", "rs")) {
        let text = code(&file);
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for rule in rules() {
            assert!(!text.contains(&format!("\"{rule}\"")), "{file} names {rule}");
        }
    }
}

#[test]
fn what_the_compiler_cannot_check_stays_where_it_is_explained() {
    // The workspace denies unsafe code; a file that has some says so in an attribute.
    let places = [
        "runtime/src/transport/",
        "runtime/src/session/",
        "runtime/src/buffer.rs",
        "runtime/src/plain.rs",
    ];
    for package in ["protocol", "macros", "runtime", "analyzer", "xtask"] {
        for file in files(&format!("{package}/src"), "rs") {
            let excepted = code(&file).contains("(unsafe_code)");
            let may = places.iter().any(|place| file.starts_with(place));
            assert!(may || !excepted, "{file} has unsafe code");
        }
    }
}

#[test]
fn a_file_holds_one_thing() {
    for package in ["protocol", "macros", "runtime", "analyzer", "xtask"] {
        for file in files(package, "rs") {
            let lines = read(&file).lines().count();
            assert!(lines <= LONGEST_FILE, "{file} has {lines} lines");
        }
    }
}

#[test]
fn every_package_keeps_to_the_workspace_lints() {
    for package in ["protocol", "macros", "runtime", "analyzer", "xtask"] {
        let manifest = read(&format!("{package}/Cargo.toml"));
        assert!(manifest.contains("\n[lints]\nworkspace = true\n"), "{package}");
    }
}

/// Whether `first:last` are lines of a text that stand apart, so that a listing does not begin or
/// end amid something else once the file has changed.
fn is_whole_part(text: &str, lines: &str) -> bool {
    let (first, last) = lines.split_once(':').expect("both ends are given");
    let [first, last] = [first, last].map(|line| line.parse::<usize>().expect("a line number"));
    let lines: Vec<&str> = text.lines().collect();
    let blank = |line: usize| lines.get(line - 1).is_none_or(|line| line.is_empty());
    let opens = lines.get(first - 2).is_none_or(|line| line.is_empty() || line.ends_with('{'));
    !blank(first) && !blank(last) && opens && blank(last + 1)
}

/// Whether a word in backticks names a file or a folder of this repository.
fn is_path(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    name.contains('/') && name.chars().all(plain)
}

/// The packages of this workspace that a package's library depends on.
fn own_dependencies(package: &str) -> BTreeSet<String> {
    let own = ["p2p-protocol", "p2p-macros", "p2p-runtime", "cargo-p2p-check", "xtask"];
    let dependencies = dependencies(package).into_iter();
    dependencies.filter(|name| own.contains(&name.as_str())).collect()
}

/// The names in the manifest's table of dependencies.
fn dependencies(package: &str) -> BTreeSet<String> {
    let manifest = read(&format!("{package}/Cargo.toml"));
    let (_, table) = manifest.split_once("\n[dependencies]\n").expect("there are dependencies");
    let lines = table.lines().take_while(|line| !line.starts_with('['));
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| line.split(['.', ' ', '=']).next().map(str::to_owned)).collect()
}

fn rules() -> BTreeSet<String> {
    let texts = files("protocol/src/rules", "md");
    texts.iter().filter_map(|file| file.split('/').nth(3).map(str::to_owned)).collect()
}

/// A file without its comments.
fn code(file: &str) -> String {
    let text = read(file);
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The files below a folder with this extension, as paths from the root.
fn files(folder: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == extension) {
                let path = path.strip_prefix(root()).expect("the file is in the workspace");
                found.push(path.display().to_string());
            }
        }
    }
    assert!(!found.is_empty(), "{folder} has no .{extension} file");
    found.sort();
    found
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}
