//! `#include`: local headers are read where they are included, those of the system are not.

use std::path::{Path, PathBuf};

use super::directives::line;
use super::expansion::Input;
use super::lexer::Lexer;
use super::{Preprocessor, Stop, system};
use crate::source::FileId;

/// How deep headers may include each other.
const DEPTH: usize = 200;

/// How often one file, together with its headers, may include something.
const TIMES: usize = 20_000;

/// A local header that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::read) struct Missing {
    /// As it is written.
    pub(in crate::read) name: String,
    /// The file that includes it, and the bytes of the directive there.
    pub(in crate::read) file: FileId,
    pub(in crate::read) bytes: (u32, u32),
}

/// What an `#include` says.
pub(super) struct Target {
    name: String,
    /// In `"quotes"`: it is looked for beside the file first.
    is_local: bool,
}

impl Preprocessor<'_> {
    /// Reads what an `#include` says, without the rest of its line.
    pub(super) fn target(
        &mut self,
        text: u32,
        words: &str,
        lexer: &mut Lexer<'_>,
    ) -> Result<Option<Target>, Stop> {
        let rest = words[lexer.at..].lines().next().unwrap_or_default();
        if let Some(target) = Target::read(rest) {
            return Ok(Some(target));
        }
        let tokens = line(lexer, text);
        let said = self.replace(tokens, &mut Input::Nothing)?;
        let mut spelled = String::new();
        for token in &said {
            if token.space {
                spelled.push(' ');
            }
            spelled.push_str(self.sources.word(token));
        }
        Ok(Target::read(&spelled))
    }

    /// Puts a header in. `end`: where the directive ends that began at `start`.
    pub(super) fn include(
        &mut self,
        text: u32,
        start: u32,
        words: &str,
        target: Option<Target>,
        end: usize,
    ) -> Result<(), Stop> {
        let Some(target) = target else { return Ok(()) };
        let stem = Path::new(&target.name).file_stem().unwrap_or_default().to_string_lossy();
        let file = if system::is_mpi(&target.name) { None } else { self.find(text, &target) };
        let Some(file) = file else {
            return match system::header(&target.name) {
                Some(definitions) => self.scan_own(definitions),
                None => {
                    let written = words[start as usize..end].trim_end().len() as u32;
                    if target.is_local {
                        let bytes = (start, start + written);
                        let file = self.sources.number(text);
                        self.missing.push(Missing { name: target.name, file, bytes });
                    }
                    Ok(())
                }
            };
        };
        if !self.headers.iter().any(|known| *known == stem) {
            self.headers.push(stem.into_owned());
        }
        if self.once.contains(&file) {
            return Ok(());
        }
        self.included += 1;
        if self.files_open >= DEPTH || self.included > TIMES {
            let message = if self.files_open >= DEPTH {
                format!("more than {DEPTH} files include each other")
            } else {
                format!("with its headers it includes more than {TIMES} files")
            };
            return Err(self.stop(text, start..end as u32, message));
        }
        self.files_open += 1;
        self.scan_file(file)?;
        self.files_open -= 1;
        Ok(())
    }

    /// The file that is meant.
    fn find(&self, text: u32, target: &Target) -> Option<FileId> {
        let name = Path::new(&target.name);
        let including = self.sources.text(text);
        let beside = including.path().and_then(Path::parent);
        let local = beside.into_iter().chain(self.options.quoted.iter().map(PathBuf::as_path));
        let local = local.filter(|_| target.is_local);
        let folders = local.chain(self.options.folders.iter().map(PathBuf::as_path));
        folders.map(|folder| folder.join(name)).find_map(|path| self.texts.header(&path))
    }
}

impl Target {
    /// `"name"` or `<name>`
    fn read(text: &str) -> Option<Target> {
        let text = text.trim_start();
        let is_local = text.starts_with('"');
        let close = if is_local { '"' } else { '>' };
        let rest = text.strip_prefix(['"', '<'])?;
        let (name, _) = rest.split_once(close)?;
        (!name.is_empty()).then(|| Target { name: name.to_owned(), is_local })
    }
}
