//! From Rust to a [`Program`]: crates are loaded, their items declared, their bodies lowered, with
//! every name resolved.
//!
//! Nothing is evaluated here and no type is inferred (that is [`infer`]'s part). What cannot be read
//! stands in the program as unknown, with the reason. Spans belong to the thread that parsed them,
//! so a program is put together on one thread.

mod calls;
mod cfg;
mod declare;
mod definitions;
mod entries;
mod expand;
mod implement;
mod infer;
mod load;
mod lower;
mod names;
mod package;
mod role;
mod translation;
mod types;
mod wrapped;

#[cfg(test)]
mod tests;

pub(super) use package::Manifests;
pub use package::{Programs, TargetProgram, programs};
pub use role::{Expected, Played};

use memchr::memmem;

use crate::diagnostic::Failure;
use crate::program::Program;
use cfg::Built;
use declare::Pending;
use entries::Target;
use load::ParsedFile;
use names::ModuleId;
use translation::Translation;

/// Whether a text mentions MPI: `mpi` or `rsmpi` as a word, or a role of a protocol. What does not
/// cannot communicate by itself, and need not be parsed.
pub fn mentions_mpi(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let word = memmem::find_iter(bytes, "mpi").any(|at| {
        let start = if bytes[..at].ends_with(b"rs") { at - 2 } else { at };
        let before = start.checked_sub(1).and_then(|before| bytes.get(before));
        let after = bytes.get(at + "mpi".len());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    });
    let has = |word: &str| memmem::find(bytes, word.as_bytes()).is_some();
    word || (has(super::find::ATTRIBUTE) && has("role"))
}

/// The program of one file, as if it were a crate of its own. Places are in file 0.
pub fn from_text(text: &str) -> Result<Program, Failure> {
    let mut files = [ParsedFile::parse(text, &None)?];
    expand::expand_items(&mut files);
    let mut translation = Translation::new(&files);
    let root = translation.add_crate("", 0);
    let target = translation.target(root);
    translation.find_entries(root, target);
    Ok(finish(translation.program, &files))
}

impl Translation<'_> {
    /// Reads a crate whose root is this file.
    fn add_crate(&mut self, path: &str, file: usize) -> ModuleId {
        let root = self.names.add_root(path.to_owned(), file);
        let mut pending = Pending::default();
        self.declare(&self.files[file].items, root, &[], Built::Always, &mut pending);
        self.complete(&mut pending);
        self.lower(&pending);
        root
    }

    /// What a crate is by its looks: what has a `main` is a program.
    fn target(&self, root: ModuleId) -> Target {
        let main = |candidate: &&translation::Candidate| {
            candidate.root == root
                && candidate.in_root
                && self.program.function(candidate.function).name == "main"
        };
        if self.candidates.iter().any(|it| main(&it)) { Target::Program } else { Target::Library }
    }
}

/// Infers types and lists calls.
fn finish(mut program: Program, files: &[ParsedFile]) -> Program {
    infer::infer(&mut program);
    let mentions: Vec<bool> = files.iter().map(|file| file.mentions_mpi).collect();
    calls::list(&mut program, &mentions);
    program
}
