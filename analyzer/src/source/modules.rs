//! Which file `mod name;` means.
//!
//! Rust looks for it beside the file or in a folder of the file's name, which depends on whether
//! the file is a crate's root, and the walk through a folder does not know that of every file. So
//! the answer is a list of candidates, the likeliest first, and the first that exists is taken.

use std::path::{Path, PathBuf};

/// What kind of module a file is, which decides where its children are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A crate's root, `mod.rs`, or a file named by `#[path]`: its children are beside it.
    Folder,
    /// `name.rs`: its children are in `name/`.
    Named,
    /// A file found by itself, which may be either.
    Unknown,
}

impl Kind {
    /// What a file's name says about it.
    pub fn of_found(path: &Path) -> Kind {
        match path.file_name().and_then(|name| name.to_str()) {
            Some("main.rs" | "lib.rs" | "mod.rs") => Kind::Folder,
            _ => Kind::Unknown,
        }
    }
}

/// A module file that is not inline, and where it may be.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Where.
    pub path: PathBuf,
    /// What it is if it is there.
    pub kind: Kind,
}

/// The folders in which children are looked for, at one point of a file.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The file's own folder: where `#[path]` starts outside of inline modules.
    beside: PathBuf,
    /// Where children are, the likeliest first.
    folders: Vec<PathBuf>,
    inline: bool,
}

impl Scope {
    /// The scope at the top of a file.
    pub fn of_file(path: &Path, kind: Kind) -> Scope {
        let beside = path.parent().unwrap_or(Path::new("")).to_owned();
        let named = path.with_extension("");
        let folders = match kind {
            Kind::Folder => vec![beside.clone()],
            Kind::Named => vec![named],
            Kind::Unknown => vec![named, beside.clone()],
        };
        Scope { beside, folders, inline: false }
    }

    /// The scope inside an inline module.
    pub fn inside(&self, name: &str, path: Option<&str>) -> Scope {
        let folders = match path {
            Some(path) => self.starts().iter().map(|folder| folder.join(path)).collect(),
            None => self.folders.iter().map(|folder| folder.join(name)).collect(),
        };
        Scope { beside: self.beside.clone(), folders, inline: true }
    }

    /// Where `mod name;` may be, with `#[path = ".."]` if it has one.
    pub fn candidates(&self, name: &str, path: Option<&str>) -> Vec<Candidate> {
        if let Some(path) = path {
            let at = |folder: &PathBuf| Candidate { path: folder.join(path), kind: Kind::Folder };
            return self.starts().iter().map(at).collect();
        }
        let file = format!("{name}.rs");
        let both = |folder: &PathBuf| {
            [
                Candidate { path: folder.join(&file), kind: Kind::Named },
                Candidate { path: folder.join(name).join("mod.rs"), kind: Kind::Folder },
            ]
        };
        self.folders.iter().flat_map(both).collect()
    }

    /// Where a `#[path]` starts.
    fn starts(&self) -> &[PathBuf] {
        if self.inline { &self.folders } else { std::slice::from_ref(&self.beside) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(scope: &Scope, name: &str, path: Option<&str>) -> Vec<String> {
        let candidates = scope.candidates(name, path);
        candidates.iter().map(|candidate| candidate.path.display().to_string()).collect()
    }

    #[test]
    fn children_are_where_rust_looks_for_them() {
        let root = Scope::of_file(Path::new("src/lib.rs"), Kind::Folder);
        assert_eq!(paths(&root, "x", None), ["src/x.rs", "src/x/mod.rs"]);
        assert_eq!(paths(&root, "x", Some("y/z.rs")), ["src/y/z.rs"]);

        let named = Scope::of_file(Path::new("src/a.rs"), Kind::Named);
        assert_eq!(paths(&named, "x", None), ["src/a/x.rs", "src/a/x/mod.rs"]);
        assert_eq!(paths(&named, "x", Some("z.rs")), ["src/z.rs"]);

        let inline = named.inside("b", None);
        assert_eq!(paths(&inline, "x", None), ["src/a/b/x.rs", "src/a/b/x/mod.rs"]);
        assert_eq!(paths(&inline, "x", Some("z.rs")), ["src/a/b/z.rs"]);
        assert_eq!(
            paths(&root.inside("b", Some("c")), "x", None),
            ["src/c/x.rs", "src/c/x/mod.rs"]
        );

        let found = Scope::of_file(Path::new("t/a.rs"), Kind::Unknown);
        let expected = ["t/a/x.rs", "t/a/x/mod.rs", "t/x.rs", "t/x/mod.rs"];
        assert_eq!(paths(&found, "x", None), expected);
    }
}
