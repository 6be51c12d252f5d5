//! Where each byte of an expanded text comes from.

use std::ops::Range;

use crate::source::{FileId, Location};

/// A stretch of the expanded text, up to where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    /// Where it begins in the expanded text.
    at: u32,
    /// The file it comes from.
    file: u32,
    /// The byte there.
    start: u32,
    /// How many bytes all of it stands for; [`COPIED`] where each byte stands for itself.
    length: u32,
}

const COPIED: u32 = u32::MAX;

/// Where each byte of an expanded text comes from: from a byte of a file, or, where it stands in no
/// file like that, from the use of a macro.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins(Vec<Segment>);

impl Origins {
    /// From here on the text was copied from there.
    pub(super) fn copied(&mut self, at: usize, file: FileId, start: u32) {
        let goes_on = self.0.last().is_some_and(|last| {
            last.length == COPIED
                && last.file == file as u32
                && u64::from(last.start) + (at as u64 - u64::from(last.at)) == u64::from(start)
        });
        if !goes_on {
            self.push(Segment { at: at as u32, file: file as u32, start, length: COPIED });
        }
    }

    /// From here on the text stands for the use of a macro there.
    pub(super) fn used(&mut self, at: usize, file: FileId, place: &Range<u32>) {
        let length = place.end - place.start;
        let segment = Segment { at: at as u32, file: file as u32, start: place.start, length };
        let same = |last: &Segment| {
            (last.file, last.start, last.length) == (segment.file, segment.start, length)
        };
        if !self.0.last().is_some_and(same) {
            self.push(segment);
        }
    }

    fn push(&mut self, segment: Segment) {
        // Of two that begin at one byte, the first one is empty.
        if self.0.last().is_some_and(|last| last.at == segment.at) {
            self.0.pop();
        }
        self.0.push(segment);
    }

    /// Where a stretch of the expanded text comes from: from its first byte to its last one. Where
    /// they come from different files, the first one counts.
    pub(crate) fn locate(&self, bytes: Range<usize>) -> Location {
        let Some(first) = self.origin(bytes.start) else {
            return Location { file: 0, bytes: 0..0 };
        };
        let last = bytes.end.checked_sub(1).filter(|last| *last > bytes.start);
        match last.and_then(|last| self.origin(last)) {
            Some(last) if last.file == first.file => {
                let start = first.bytes.start.min(last.bytes.start);
                let end = first.bytes.end.max(last.bytes.end);
                Location { file: first.file, bytes: start..end }
            }
            _ => first,
        }
    }

    fn origin(&self, byte: usize) -> Option<Location> {
        let next = self.0.partition_point(|segment| segment.at as usize <= byte);
        let segment = self.0.get(next.saturating_sub(1))?;
        let start = segment.start as usize;
        let bytes = if segment.length == COPIED {
            let start = start + byte.saturating_sub(segment.at as usize);
            start..start + 1
        } else {
            start..start + segment.length as usize
        };
        Some(Location { file: segment.file as usize, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_where_they_come_from() {
        let mut origins = Origins::default();
        origins.copied(0, 3, 10);
        origins.copied(5, 3, 15);
        origins.used(8, 3, &(18..24));
        origins.used(9, 3, &(18..24));
        origins.copied(12, 3, 24);
        origins.copied(20, 4, 0);
        assert_eq!(origins.0.len(), 4);
        let of = |bytes| origins.locate(bytes);
        let at = |file, bytes| Location { file, bytes };
        assert_eq!(of(1..7), at(3, 11..17));
        assert_eq!(of(9..11), at(3, 18..24));
        assert_eq!(of(6..14), at(3, 16..26));
        assert_eq!(of(22..23), at(4, 2..3));
        assert_eq!(of(22..22), at(4, 2..3));
        assert_eq!(of(14..21), at(3, 26..27));
        assert_eq!(Origins::default().locate(0..3), at(0, 0..0));
    }
}
