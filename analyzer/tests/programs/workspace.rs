//! Without paths: the cargo workspace of the current folder.

use crate::project::{PAIR, Project, Run, WRONG_TAG};

/// Two packages, of which one is checked unless others are named.
fn workspace(name: &str) -> Project {
    let project = Project::new(name);
    let workspace = "[workspace]\nresolver = \"3\"\nmembers = [\"ring\", \"farm\"]\n\
                     default-members = [\"ring\"]\n";
    project.write("Cargo.toml", workspace);
    for package in ["ring", "farm"] {
        let manifest = format!(
            "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [features]\ngpu = []\n"
        );
        project.write(&format!("{package}/Cargo.toml"), &manifest);
        project.write(&format!("{package}/src/lib.rs"), "mod inner;\n");
        project.write(&format!("{package}/src/inner.rs"), WRONG_TAG);
        // No target has it.
        project.write(&format!("{package}/tests/ui/wrong.rs"), WRONG_TAG);
    }
    project
}

fn files(run: &Run) -> Vec<&str> {
    run.lines().iter().map(|line| line.split(':').next().unwrap_or_default()).collect()
}

#[test]
fn packages_are_chosen_as_cargo_does() {
    let project = workspace("packages");
    let check =
        |arguments: &[&str]| project.run(&[&["--message-format", "short"], arguments].concat());
    assert_eq!(files(&check(&[])), ["ring/src/inner.rs"]);
    assert_eq!(files(&check(&["-p", "farm"])), ["farm/src/inner.rs"]);
    let both = ["farm/src/inner.rs", "ring/src/inner.rs"];
    assert_eq!(files(&check(&["--workspace"])), both);
    assert_eq!(files(&check(&["-p", "farm", "-p", "ring"])), both);
    assert_eq!(files(&check(&["--workspace", "--exclude", "ring"])), ["farm/src/inner.rs"]);

    let unknown = check(&["-p", "rings"]);
    assert_eq!(unknown.status, 2);
    assert_eq!(
        unknown.output,
        "error: the workspace has no package `rings`; did you mean `ring`?\n"
    );
    let unknown = check(&["--example", "rings"]);
    assert_eq!(unknown.status, 2);
    assert_eq!(unknown.output, "error: no example target is named `rings`\n");
    assert_eq!(check(&["-p", "ring", "farm"]).status, 2);
    assert_eq!(check(&["--exclude", "ring"]).status, 2);
}

#[test]
fn a_feature_that_the_package_does_not_have_is_never_on() {
    let project = workspace("features");
    let declared = "#[cfg(feature = \"gpu\")] mod inner;\n";
    project.write("ring/src/lib.rs", declared);
    project.write("farm/src/lib.rs", &declared.replace("gpu", "tpu"));
    let run = project.run(&["--message-format", "short", "--workspace"]);
    assert_eq!(files(&run), ["ring/src/inner.rs"]);
}

#[test]
fn levels_of_a_package_count_more_than_those_of_its_workspace() {
    let project = workspace("package_levels");
    let status = || project.run(&["--workspace"]).status;
    let add = |manifest: &str, lines: &str| {
        project.write(manifest, &format!("{}{lines}", project.read(manifest)));
    };
    add("Cargo.toml", "[workspace.metadata.p2p-check.lints]\ntag-mismatch = \"warn\"\n");
    assert_eq!(status(), 0);
    add("farm/Cargo.toml", "[package.metadata.p2p-check.lints]\ntag-mismatch = \"deny\"\n");
    assert_eq!(status(), 1);
}

#[test]
fn a_package_that_is_not_rust_is_named_and_the_others_are_checked() {
    let project = workspace("broken_member");
    project.write("farm/src/lib.rs", "mod inner;\nfn {");
    let run = project.run(&["--message-format", "short", "--workspace"]);
    assert_eq!((run.status, files(&run)), (2, vec!["farm/src/lib.rs", "ring/src/inner.rs"]));
    project.write("farm/src/lib.rs", PAIR);
    std::fs::remove_file(project.path("ring/src/lib.rs")).unwrap();
    project.write("ring/src/main.rs", "");
    assert_eq!(project.run(&["--workspace"]).status, 0);
}

#[test]
fn where_there_is_no_workspace_that_is_said() {
    let project = Project::new("no_workspace");
    project.write("Cargo.toml", "[workspace\n");
    let run = project.run(&["--message-format", "short"]);
    assert_eq!(run.status, 2);
    assert!(run.output.starts_with("error: no cargo workspace can be read here: "));
    // The same file is met on the way up from any file, and then it has a place.
    project.write("good.rs", PAIR);
    let run = project.run(&["--message-format", "short", "good.rs"]);
    assert_eq!(run.status, 2);
    assert!(run.output.starts_with("Cargo.toml:1:11: error: this is not TOML: "), "{}", run.output);
}
