//! What of the sources one message shows: of a long line, only the part around its place.
//!
//! A generated file may be one line. Shown whole with every message on it, it would make the
//! report as long as the file times the messages.

use std::collections::BTreeMap;
use std::ops::Range;

use codespan_reporting::files::{Error, Files};

use crate::diagnostic::Label;
use crate::source::{FileId, Sources};

/// Lines of more bytes than this are shown in part, in so many bytes: a few rows of a screen.
const LONG: usize = 400;
/// How much of that stands before the place.
const BEFORE: usize = 80;

/// The sources, as one message shows them.
pub(super) struct Excerpt<'a> {
    sources: &'a Sources,
    /// Of long lines, by file and index, the bytes that are shown.
    parts: BTreeMap<(FileId, usize), Range<usize>>,
}

impl<'a> Excerpt<'a> {
    /// What is needed for these labels. The first on a long line says what is seen of it.
    pub(super) fn of<'l>(
        sources: &'a Sources,
        labels: impl IntoIterator<Item = &'l Label>,
    ) -> Self {
        let mut parts = BTreeMap::new();
        for Label { at, .. } in labels {
            let file = sources.file(at.file);
            for byte in [at.bytes.start, at.bytes.end] {
                let index = file.line_index(byte);
                let line = file.line_bytes(index).unwrap_or_default();
                if line.len() > LONG {
                    let start = line.start.max(byte.saturating_sub(BEFORE));
                    let part = file.characters_in(start..line.end.min(start + LONG));
                    parts.entry((at.file, index)).or_insert(part);
                }
            }
        }
        Excerpt { sources, parts }
    }

    /// "ring.rs:1:9000", for a label that is not shown.
    pub(super) fn place(&self, label: &Label) -> String {
        let file = self.sources.file(label.at.file);
        let position = file.position(label.at.bytes.start);
        format!("{}:{}:{}", file.name, position.line, position.column)
    }

    /// Whether a label stands on a line that is shown in part.
    pub(super) fn is_partial(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The bytes that are shown of a line; nothing for a line that there is not.
    pub(super) fn shown(&self, file: FileId, index: usize) -> Range<usize> {
        let source = self.sources.file(file);
        let line = source.line_bytes(index).unwrap_or_default();
        match self.parts.get(&(file, index)) {
            Some(part) => part.clone(),
            None if line.len() > LONG => source.characters_in(line.start..line.start + LONG),
            None => line,
        }
    }

    /// The bytes of a label as far as they are shown; `None` if not even its beginning is.
    pub(super) fn visible(&self, label: &Label) -> Option<Range<usize>> {
        let Range { start, end } = label.at.bytes;
        let line =
            |byte| self.shown(label.at.file, self.sources.file(label.at.file).line_index(byte));
        let has = |part: &Range<usize>, byte| part.start <= byte && byte <= part.end;
        let first = line(start);
        let end = if has(&line(end), end) { end } else { first.end };
        has(&first, start).then_some(start..end)
    }
}

impl<'a> Files<'a> for Excerpt<'_> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.sources.file(id).name)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(self.sources.file(id).harmless())
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, Error> {
        Ok(self.sources.file(id).line_index(byte))
    }

    /// The column in the whole line, whatever is shown of it.
    fn column_number(&'a self, id: FileId, _: usize, byte: usize) -> Result<usize, Error> {
        Ok(self.sources.file(id).position(byte).column)
    }

    fn line_range(&'a self, id: FileId, index: usize) -> Result<Range<usize>, Error> {
        Ok(self.shown(id, index))
    }
}
