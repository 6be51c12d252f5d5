//! What a file is preprocessed with: where its headers are, and which macros are defined before it
//! begins.

use std::path::{Path, PathBuf};

/// What a file is preprocessed with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Where headers are looked for: `-I`.
    pub(crate) folders: Vec<PathBuf>,
    /// Where those in quotes are looked for first: `-iquote`.
    pub(crate) quoted: Vec<PathBuf>,
    /// What is included before the file begins: `-include`.
    pub(crate) forced: Vec<PathBuf>,
    /// What is defined and undefined before it begins, as directives.
    pub(crate) definitions: String,
}

impl Options {
    /// Adds `-I FOLDER`. Where the system keeps its headers nothing is looked for.
    pub(crate) fn add_folder(&mut self, folder: PathBuf) {
        let system = ["/usr", "/opt", "/Library", "/System"];
        let is_local = Path::new("/usr/local/src");
        if folder.starts_with(is_local) || !system.iter().any(|it| folder.starts_with(it)) {
            self.folders.push(folder);
        }
    }

    /// Adds `-D NAME`, `-D NAME=VALUE` or `-D NAME(PARAMETERS)=VALUE`.
    pub(crate) fn define(&mut self, definition: &str) {
        let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
        // A line of its own cannot be begun in here.
        let line = format!("#define {} {}", name.trim(), value).replace(['\n', '\r'], " ");
        self.definitions.push_str(&line);
        self.definitions.push('\n');
    }

    /// Adds `-U NAME`.
    pub(crate) fn undefine(&mut self, name: &str) {
        let line = format!("#undef {name}").replace(['\n', '\r'], " ");
        self.definitions.push_str(&line);
        self.definitions.push('\n');
    }
}
