//! Source files: where they are found, which module of which crate each one is, and where a byte
//! of one stands in lines and columns.

pub mod cfg;
pub mod discover;
mod language;
pub mod modules;

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::str::Utf8Error;
use std::sync::OnceLock;

use codespan_reporting::files::line_starts;

pub use language::Language;

/// The byte order mark that some editors write.
pub const MARK: char = '\u{feff}';

/// After so many bytes the characters are counted once and for all.
const STRIDE: usize = 1024;

/// A text that was read. Its lines are only counted once somebody asks: of most files nobody does.
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
    line_starts: OnceLock<Vec<usize>>,
    /// How many characters begin before each [`STRIDE`]th byte, so that a column far out on a line
    /// need not be counted from its beginning.
    characters: OnceLock<Vec<usize>>,
    /// The same text, byte by byte, without what a terminal would obey; `None` if nothing is.
    harmless: OnceLock<Option<String>>,
}

/// Reads a file into memory that was used before, and gives its text with a byte order mark; the
/// error says why it cannot be read.
pub fn read_into<'m>(path: &Path, memory: &'m mut Vec<u8>) -> Result<&'m str, String> {
    memory.clear();
    let read = File::open(path).and_then(|mut file| file.read_to_end(memory));
    read.map_err(|error| reason(&error))?;
    std::str::from_utf8(memory).map_err(|error| not_a_text(memory, error))
}

fn not_a_text(bytes: &[u8], error: Utf8Error) -> String {
    let before = &bytes[..error.valid_up_to()];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    format!("it is not UTF-8 (line {line})")
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
        SourceFile {
            path,
            name,
            text,
            mark,
            line_starts: OnceLock::new(),
            characters: OnceLock::new(),
            harmless: OnceLock::new(),
        }
    }

    /// Reads a file; the error says why it cannot be.
    pub fn read(path: PathBuf, name: String) -> Result<Self, String> {
        let bytes = std::fs::read(&path).map_err(|error| reason(&error))?;
        let text = String::from_utf8(bytes)
            .map_err(|error| not_a_text(error.as_bytes(), error.utf8_error()))?;
        Ok(SourceFile::new(path, name, text))
    }

    /// The line and the column of a byte; the end of the text for one beyond it.
    pub fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.text.len());
        let line = self.line_index(byte);
        let column =
            self.characters_before(byte) - self.characters_before(self.line_starts()[line]);
        Position { line: line + 1, column: column + 1 }
    }

    fn characters_before(&self, byte: usize) -> usize {
        let counted = byte / STRIDE;
        let rest = &self.text.as_bytes()[counted * STRIDE..byte];
        self.characters()[counted] + beginnings(rest)
    }

    fn characters(&self) -> &[usize] {
        self.characters.get_or_init(|| {
            let mut sum = 0;
            let strides = self.text.as_bytes().chunks(STRIDE).map(|bytes| {
                sum += beginnings(bytes);
                sum
            });
            std::iter::once(0).chain(strides).collect()
        })
    }

    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| line_starts(&self.text).collect())
    }

    /// "ring.rs:9", for the line that a byte stands on.
    pub fn short(&self, byte: usize) -> String {
        format!("{}:{}", self.name, self.position(byte).line)
    }

    /// The line, counted from 0, that a byte stands on.
    pub fn line_index(&self, byte: usize) -> usize {
        self.line_starts().partition_point(|&start| start <= byte) - 1
    }

    /// The bytes of a line, counted from 0, with its end.
    pub fn line_bytes(&self, index: usize) -> Option<Range<usize>> {
        let starts = self.line_starts();
        let start = *starts.get(index)?;
        Some(start..starts.get(index + 1).copied().unwrap_or(self.text.len()))
    }

    /// The characters that lie wholly in a stretch.
    pub fn characters_in(&self, bytes: Range<usize>) -> Range<usize> {
        let boundary = |at: &usize| self.text.is_char_boundary(*at);
        let start = (bytes.start..bytes.end).find(boundary).unwrap_or(bytes.end);
        let end = (start..=bytes.end).rev().find(boundary).unwrap_or(start);
        start..end
    }

    /// The same text, byte by byte, without what a terminal would obey.
    pub fn harmless(&self) -> &str {
        let harmless = self.harmless.get_or_init(|| harmless(&self.text));
        harmless.as_deref().unwrap_or(&self.text)
    }
}

/// How many characters begin in these bytes.
fn beginnings(bytes: &[u8]) -> usize {
    let continues = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    bytes.iter().filter(|&&byte| !continues(byte)).count()
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
    display_name_in(&std::env::current_dir().unwrap_or_default(), path)
}

/// The same for many paths, with the current folder asked for once.
pub fn display_name_in(current: &Path, path: &Path) -> String {
    let below = |path: &Path| path.strip_prefix(current).map(Path::to_owned).ok();
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

impl Location {
    /// Whether some of the text is in both.
    pub fn overlaps(&self, other: &Location) -> bool {
        self.file == other.file
            && self.bytes.start < other.bytes.end
            && other.bytes.start < self.bytes.end
    }
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
        self.file(location.file).short(location.bytes.start)
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
        assert_eq!(&file.text[file.line_bytes(1).unwrap()], "yz");
        assert_eq!(file.characters_in(1..3), 2..3);
    }

    #[test]
    fn columns_far_out_on_a_line_are_counted_as_well() {
        let line = "é数x".repeat(STRIDE);
        let file = SourceFile::new("x".into(), "x".into(), format!("\n{line}\n{line}"));
        for (at, _) in file.text.char_indices().filter(|&(_, letter)| letter != '\n') {
            let start = file.text[..at].rfind('\n').map_or(0, |end| end + 1);
            let column = file.text[start..at].chars().count() + 1;
            assert_eq!(file.position(at).column, column, "{at}");
        }
    }
}
