//! How the elements of a datatype lie in memory (MPI 4.0, 5.1): where their bytes are, and how far one
//! element is from the next one.

use std::rc::Rc;

/// The most pieces of one element that are kept apart.
const MOST_PIECES: usize = 1024;

/// How one element of a datatype lies in memory, in bytes from where a buffer's pointer leads.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::evaluate) struct Layout {
    /// The lower bound.
    pub(in crate::evaluate) lower: i64,
    /// How far one element is from the next one.
    pub(in crate::evaluate) extent: i64,
    /// The bytes that are sent, in order: from, to. What touches is one piece. `None`: too many.
    pieces: Option<Rc<[(i64, i64)]>>,
    /// The first byte that is used, and one past the last one.
    span: (i64, i64),
    /// How many bytes are sent.
    pub(in crate::evaluate) size: u64,
    /// What addresses of elements are multiples of, as C compilers have it.
    alignment: i64,
    /// Whether its bounds were set by `MPI_Type_create_resized`.
    is_resized: bool,
}

impl Layout {
    /// So many bytes in a row.
    pub(in crate::evaluate) fn of_bytes(bytes: u64) -> Layout {
        let end = i64::try_from(bytes).unwrap_or(i64::MAX);
        let pieces: Rc<[(i64, i64)]> = if end == 0 { Rc::new([]) } else { Rc::new([(0, end)]) };
        Layout {
            lower: 0,
            extent: end,
            pieces: Some(pieces),
            span: (0, end),
            size: bytes,
            alignment: end.clamp(1, 16),
            is_resized: false,
        }
    }

    /// Elements of others: so many bytes from the start, so many of them in a row, of this one.
    /// `None`: it cannot be said.
    pub(in crate::evaluate) fn of_blocks(blocks: &[(i64, u64, &Layout)]) -> Option<Layout> {
        let full: Vec<_> = blocks.iter().filter(|(_, count, _)| *count > 0).collect();
        let mut made = Layout::of_bytes(0);
        let mut bounds: Option<(i64, i64)> = None;
        if full.iter().any(|block| block.2.is_resized != full[0].2.is_resized) {
            // Of these, only the bounds that were set count.
            return None;
        }
        for &&(start, count, of) in &full {
            let count = i64::try_from(count).ok()?;
            let last = of.extent.checked_mul(count - 1)?.checked_add(start)?;
            let lower = start.min(last).checked_add(of.lower)?;
            let upper = start.max(last).checked_add(of.lower)?.checked_add(of.extent)?;
            bounds = Some(
                bounds.map_or((lower, upper), |(low, high)| (low.min(lower), high.max(upper))),
            );
            made.append(start, count, of)?;
            made.alignment = made.alignment.max(of.alignment);
            made.is_resized |= of.is_resized;
        }
        let (lower, upper) = bounds.unwrap_or_default();
        made.lower = lower;
        made.extent = upper.checked_sub(lower)?;
        Some(made)
    }

    /// The same, padded as a compiler pads a struct of these.
    pub(in crate::evaluate) fn padded(self) -> Layout {
        if self.is_resized {
            return self;
        }
        let over = self.extent.rem_euclid(self.alignment);
        let padding = if over == 0 { 0 } else { self.alignment - over };
        Layout { extent: self.extent.saturating_add(padding), ..self }
    }

    /// The same with other bounds.
    pub(in crate::evaluate) fn resized(&self, lower: i64, extent: i64) -> Layout {
        Layout { lower, extent, is_resized: true, ..self.clone() }
    }

    /// Adds so many elements of another one.
    fn append(&mut self, start: i64, count: i64, of: &Layout) -> Option<()> {
        let was_empty = self.size == 0;
        self.size = self.size.checked_add(of.size.checked_mul(u64::try_from(count).ok()?)?)?;
        let last = of.extent.checked_mul(count - 1)?.checked_add(start)?;
        let from = start.min(last).checked_add(of.span.0)?;
        let to = start.max(last).checked_add(of.span.1)?;
        self.span = match was_empty {
            true => (from, to),
            false => (self.span.0.min(from), self.span.1.max(to)),
        };
        self.pieces = match (&self.pieces, of.pieces_of(u64::try_from(count).ok()?)) {
            (Some(mine), Some(theirs)) => {
                let theirs = theirs
                    .iter()
                    .map(|(from, to)| Some((start.checked_add(*from)?, start.checked_add(*to)?)));
                let theirs: Vec<_> = theirs.collect::<Option<_>>()?;
                let all = joined(mine.iter().copied().chain(theirs));
                (all.len() <= MOST_PIECES).then(|| all.into())
            }
            _ => None,
        };
        Some(())
    }

    /// The bytes that so many elements use, in order: from, to. `None`: too many pieces, or too far.
    pub(in crate::evaluate) fn pieces_of(&self, count: u64) -> Option<Vec<(i64, i64)>> {
        let pieces = self.pieces.as_ref()?;
        let count = i64::try_from(count).ok()?;
        if self.is_dense() {
            let end = self.extent.checked_mul(count)?;
            return Some(if end == 0 { Vec::new() } else { vec![(0, end)] });
        }
        let many = usize::try_from(count).ok()?.checked_mul(pieces.len())?;
        if many > MOST_PIECES {
            return None;
        }
        self.extent.checked_mul(count)?;
        let each = (0..count).flat_map(|number| {
            let start = number * self.extent;
            pieces.iter().map(move |(from, to)| (start.checked_add(*from), start.checked_add(*to)))
        });
        let each: Vec<_> = each.map(|(from, to)| Some((from?, to?))).collect::<Option<_>>()?;
        Some(joined(each.into_iter()))
    }

    /// The first byte that so many elements use, and one past the last one.
    pub(in crate::evaluate) fn span_of(&self, count: u64) -> Option<(i64, i64)> {
        if count == 0 || self.size == 0 {
            return Some((0, 0));
        }
        let last = self.extent.checked_mul(i64::try_from(count).ok()? - 1)?;
        Some((self.span.0.checked_add(last.min(0))?, self.span.1.checked_add(last.max(0))?))
    }

    /// Whether elements lie one behind the other without a gap.
    pub(in crate::evaluate) fn is_dense(&self) -> bool {
        let size = i64::try_from(self.size).unwrap_or(i64::MAX);
        let is_one_piece = match self.pieces.as_deref() {
            Some([]) => size == 0,
            Some([(0, end)]) => *end == size,
            _ => false,
        };
        self.lower == 0 && self.extent == size && is_one_piece
    }

    /// The first byte that one element uses, and how far it is from there to the end of the last one.
    pub(in crate::evaluate) fn true_extent(&self) -> (i64, i64) {
        (self.span.0, self.span.1.saturating_sub(self.span.0))
    }
}

/// Pieces that touch made one.
fn joined(pieces: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut all: Vec<(i64, i64)> = Vec::new();
    for (from, to) in pieces {
        match all.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => all.push((from, to)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_elements_is_one_piece() {
        let int = Layout::of_bytes(4);
        let row = Layout::of_blocks(&[(0, 5, &int)]).expect("short");
        assert!(row.is_dense());
        assert_eq!((row.size, row.extent, row.pieces_of(2)), (20, 20, Some(vec![(0, 40)])));
    }

    #[test]
    fn a_column_has_gaps() {
        let double = Layout::of_bytes(8);
        let blocks: Vec<_> = (0..3).map(|row| (row * 32, 1, &double)).collect();
        let column = Layout::of_blocks(&blocks).expect("short");
        assert!(!column.is_dense());
        assert_eq!((column.size, column.extent), (24, 72));
        assert_eq!(column.pieces_of(1), Some(vec![(0, 8), (32, 40), (64, 72)]));
        assert_eq!(column.span_of(1), Some((0, 72)));
        let one_by_one = column.resized(0, 8);
        assert_eq!(one_by_one.span_of(2), Some((0, 80)));
    }

    #[test]
    fn a_struct_is_padded_as_a_compiler_does() {
        let (double, int) = (Layout::of_bytes(8), Layout::of_bytes(4));
        let both = Layout::of_blocks(&[(0, 1, &double), (8, 1, &int)]).expect("short").padded();
        assert_eq!((both.size, both.extent), (12, 16));
        assert_eq!(both.pieces_of(2), Some(vec![(0, 12), (16, 28)]));
    }

    #[test]
    fn bounds_below_the_start_count() {
        let int = Layout::of_bytes(4);
        let back = Layout::of_blocks(&[(-8, 1, &int), (4, 1, &int)]).expect("short");
        assert_eq!((back.lower, back.extent, back.true_extent()), (-8, 16, (-8, 16)));
        assert_eq!(Layout::of_blocks(&[(i64::MAX, 2, &int)]), None);
    }
}
