//! The texts of headers, each read once, whichever files include it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::source::{FileId, SourceFile, display_name, reason};

/// The files that are read, and the headers that they include. Headers have the numbers that follow
/// those of the files, in the order in which somebody came to them first.
pub(in crate::read) struct Texts<'r> {
    files: Vec<&'r SourceFile>,
    numbers: FxHashMap<&'r Path, FileId>,
    headers: Mutex<Headers>,
}

#[derive(Default)]
struct Headers {
    /// The number of each path that was asked for, if there is a file.
    numbers: FxHashMap<PathBuf, Option<FileId>>,
    list: Vec<Arc<SourceFile>>,
    /// The files that others include.
    included: Vec<FileId>,
}

/// The text of a file.
#[derive(Clone)]
pub(super) enum Text<'r> {
    /// Of one that is read anyhow.
    File(&'r SourceFile),
    /// Of a header.
    Header(Arc<SourceFile>),
    /// Of ours: what is defined before a file begins.
    Own(&'r str),
}

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Text::File(file) => &file.text,
            Text::Header(file) => &file.text,
            Text::Own(text) => text,
        }
    }

    /// The file's path, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Text::File(file) => Some(&file.path),
            Text::Header(file) => Some(&file.path),
            Text::Own(_) => None,
        }
    }
}

impl<'r> Texts<'r> {
    /// With these files, whose numbers are their places in the list.
    pub(in crate::read) fn new(files: Vec<&'r SourceFile>) -> Self {
        let numbers = files.iter().enumerate().map(|(at, file)| (file.path.as_path(), at));
        Texts { numbers: numbers.collect(), files, headers: Mutex::default() }
    }

    /// The text of a file by its number.
    pub(super) fn text(&self, file: FileId) -> Option<Text<'r>> {
        match file.checked_sub(self.files.len()) {
            None => self.files.get(file).map(|&file| Text::File(file)),
            Some(header) => self.headers().list.get(header).cloned().map(Text::Header),
        }
    }

    /// The number of the file that an `#include` leads to if it is this one, whatever way its path is
    /// written.
    pub(super) fn header(&self, path: &Path) -> Option<FileId> {
        let known = self.headers().numbers.get(path).copied();
        if let Some(known) = known {
            return known;
        }
        let read = self.read(path);
        let mut headers = self.headers();
        let number = match read {
            None => None,
            Some(Found::File(number)) => {
                headers.included.push(number);
                Some(number)
            }
            // Another thread may have read it meanwhile.
            Some(Found::Header(source)) => match headers.numbers.get(&source.path) {
                Some(known) => *known,
                None => {
                    let number = self.files.len() + headers.list.len();
                    headers.numbers.insert(source.path.clone(), Some(number));
                    headers.list.push(Arc::new(source));
                    Some(number)
                }
            },
        };
        headers.numbers.insert(path.to_owned(), number);
        number
    }

    fn read(&self, path: &Path) -> Option<Found> {
        if !path.is_file() {
            return None;
        }
        let real = path.canonicalize().ok()?;
        if let Some(number) = self.numbers.get(real.as_path()) {
            return Some(Found::File(*number));
        }
        let name = display_name(path);
        read(real, name).ok().map(Found::Header)
    }

    fn headers(&self) -> std::sync::MutexGuard<'_, Headers> {
        self.headers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files that some other one includes.
    pub(in crate::read) fn included(&self) -> Vec<FileId> {
        self.headers().included.clone()
    }

    /// The headers that were read, in the order of their numbers.
    pub(in crate::read) fn into_headers(self) -> Vec<Arc<SourceFile>> {
        self.headers.into_inner().unwrap_or_else(PoisonError::into_inner).list
    }
}

enum Found {
    File(FileId),
    Header(SourceFile),
}

/// Reads a file. What is not UTF-8 is taken to be Latin-1, as comments in old programs are: columns
/// are right all the same.
pub(in crate::read) fn read(path: PathBuf, name: String) -> Result<SourceFile, String> {
    let bytes = std::fs::read(&path).map_err(|error| reason(&error))?;
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| char::from(byte)).collect());
    Ok(SourceFile::new(path, name, text))
}
