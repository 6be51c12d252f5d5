//! Source files: where they are found, which module of which crate each one is, and where a byte
//! of one stands in lines and columns.

pub mod cfg;
pub mod discover;
pub mod modules;

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use codespan_reporting::files::{Error, Files};

/// The byte order mark that some editors write.
pub const MARK: char = '\u{feff}';

/// A text that was read, with its lines.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Where it is, absolute and without symbolic links: its identity.
    pub path: PathBuf,
    /// Its name in reports: relative to the current folder where it lies below it.
    pub name: String,
    /// What it says, without a byte order mark.
    pub text: String,
    /// How many bytes the byte order mark took, 0 or 3: `text` starts there in the file.
    pub mark: usize,
    line_starts: Vec<usize>,
    /// The same text, byte by byte, without what a terminal would obey; `None` if nothing is.
    harmless: Option<String>,
}

/// Replaces what a terminal obeys or what turns the reading direction, each character by one that
/// is as long, so that no offset changes.
fn harmless(text: &str) -> Option<String> {
    let obeyed = |letter: char| {
        let direction = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        direction || letter.is_control() && !matches!(letter, '\n' | '\r' | '\t')
    };
    let shown = |letter: char| match (obeyed(letter), letter.len_utf8()) {
        (false, _) => letter,
        (true, 1) => '?',
        (true, 2) => '¿',
        (true, _) => char::REPLACEMENT_CHARACTER,
    };
    text.contains(obeyed).then(|| text.chars().map(shown).collect())
}

/// A line and a column, both counted from 1, the column in characters, as rustc counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl SourceFile {
    /// Wraps a text as it stands in the file.
    pub fn new(path: PathBuf, name: String, mut text: String) -> Self {
        let mark = if text.starts_with(MARK) { MARK.len_utf8() } else { 0 };
        text.drain(..mark);
        let line_starts = codespan_reporting::files::line_starts(&text).collect();
        let harmless = harmless(&text);
        SourceFile { path, name, text, mark, line_starts, harmless }
    }

    /// Reads a file; the error says why it cannot be.
    pub fn read(path: &Path, name: String) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|error| reason(&error))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count()
                + 1;
            format!("it is not UTF-8 (line {line})")
        })?;
        Ok(SourceFile::new(path.to_owned(), name, text))
    }

    /// The line and the column of a byte; the end of the text for one beyond it.
    pub fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.text.len());
        let line = self.line_starts.partition_point(|&start| start <= byte) - 1;
        let start = self.line_starts[line];
        let before = self.text[start..].char_indices().take_while(|&(at, _)| start + at < byte);
        Position { line: line + 1, column: before.count() + 1 }
    }

    /// The text of a line, counted from 1, without its end.
    pub fn line(&self, line: usize) -> &str {
        self.line_bytes(line - 1)
            .map_or("", |range| self.text[range].trim_end_matches(['\n', '\r']))
    }

    fn line_bytes(&self, index: usize) -> Option<Range<usize>> {
        let start = *self.line_starts.get(index)?;
        Some(start..self.line_starts.get(index + 1).copied().unwrap_or(self.text.len()))
    }
}

/// The operating system's words for an error, without its number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The name of a path in reports: relative to the current folder where it lies below it.
pub fn display_name(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let below = |path: &Path| path.strip_prefix(&current).map(Path::to_owned).ok();
    let roundabout = path.components().any(|part| part == Component::ParentDir);
    let direct = roundabout.then(|| path.canonicalize().ok()).flatten();
    let name = direct.as_deref().and_then(below).or_else(|| below(path));
    let name = name.unwrap_or_else(|| path.to_owned());
    let parts = name.components().filter(|part| *part != Component::CurDir);
    parts.collect::<PathBuf>().display().to_string()
}

/// A file among [`Sources`].
pub type FileId = usize;

/// A stretch of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Which file.
    pub file: FileId,
    /// Which bytes of its text.
    pub bytes: Range<usize>,
}

/// All files that reports speak of.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        self.files.len() - 1
    }

    /// How many there are: the number of the next.
    pub fn len(&self) -> FileId {
        self.files.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The file of this number.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id]
    }

    /// "ring.rs:9", for notes.
    pub fn short(&self, location: &Location) -> String {
        let file = self.file(location.file);
        format!("{}:{}", file.name, file.position(location.bytes.start).line)
    }
}

impl<'a> Files<'a> for Sources {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        self.files.get(id).map(|file| file.name.as_str()).ok_or(Error::FileMissing)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        let file = self.files.get(id).ok_or(Error::FileMissing)?;
        Ok(file.harmless.as_deref().unwrap_or(&file.text))
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, Error> {
        let file = self.files.get(id).ok_or(Error::FileMissing)?;
        Ok(file.line_starts.partition_point(|&start| start <= byte).saturating_sub(1))
    }

    fn line_range(&'a self, id: FileId, index: usize) -> Result<Range<usize>, Error> {
        let file = self.files.get(id).ok_or(Error::FileMissing)?;
        let max = file.line_starts.len();
        file.line_bytes(index).ok_or(Error::LineTooLarge { given: index, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_replaced_byte_by_byte() {
        let text = "a\u{1b}[2J\t\u{9b}\u{202e}é\r\n";
        let harmless = harmless(text).unwrap();
        assert_eq!(harmless, "a?[2J\t¿\u{fffd}é\r\n");
        assert_eq!(harmless.len(), text.len());
        assert_eq!(super::harmless("é\t\n"), None);
    }

    #[test]
    fn columns_are_characters_and_the_mark_is_not_one() {
        let file = SourceFile::new("x".into(), "x".into(), "\u{feff}é\tx\r\nyz".into());
        assert_eq!(file.mark, 3);
        assert_eq!(file.position(0), Position { line: 1, column: 1 });
        assert_eq!(file.position("é\t".len()), Position { line: 1, column: 3 });
        assert_eq!(file.position(file.text.len() + 9), Position { line: 2, column: 3 });
        assert_eq!(file.line(1), "é\tx");
        assert_eq!(file.line(2), "yz");
    }
}
