//! What generated code needs besides the operations: loops with strides, grids, and checks of what
//! only the run can know.

#![allow(unsafe_code)]

use super::{Error, Operation, Outgoing, Plain, Result, SendBuffer, Session};

/// A range with a stride, forwards or backwards.
#[derive(Clone, Debug)]
pub struct Steps {
    next: i64,
    left: i64,
    stride: i64,
}

impl Steps {
    /// `(start..end).step_by(stride)`.
    pub fn forwards(start: i64, end: i64, stride: i64) -> Steps {
        Steps { next: start, left: count(start, end, stride), stride }
    }

    /// `(start..end).step_by(stride).rev()`.
    pub fn backwards(start: i64, end: i64, stride: i64) -> Steps {
        let left = count(start, end, stride);
        Steps { next: start + (left - 1) * stride, left, stride: -stride }
    }

    /// `(start..end).rev().step_by(stride)`.
    pub fn from_end(start: i64, end: i64, stride: i64) -> Steps {
        Steps { next: end - 1, left: count(start, end, stride), stride: -stride }
    }
}

fn count(start: i64, end: i64, stride: i64) -> i64 {
    if start >= end { 0 } else { (end - 1 - start) / stride.max(1) + 1 }
}

impl Iterator for Steps {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        if self.left == 0 {
            return None;
        }
        let next = self.next;
        self.left -= 1;
        self.next += self.stride;
        Some(next)
    }
}

/// The extents of a grid of ranks; rank = x * columns + y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The extent in x.
    pub rows: i64,
    /// The extent in y.
    pub columns: i64,
}

impl Grid {
    /// The grid of `size` ranks with these extents where they are given, and otherwise as close to
    /// a square as can be, with at least as many rows as columns.
    pub fn of(size: i64, rows: Option<i64>, columns: Option<i64>) -> Option<Grid> {
        let fits = |rows: i64, columns: i64| {
            (rows > 0 && rows * columns == size).then_some(Grid { rows, columns })
        };
        match (rows, columns) {
            (Some(rows), Some(columns)) => fits(rows, columns),
            (Some(rows), None) if rows > 0 => fits(rows, size / rows),
            (None, Some(columns)) if columns > 0 => fits(size / columns, columns),
            (None, None) => {
                let columns = (1..=size).take_while(|&columns| columns * columns <= size);
                let columns = columns.filter(|columns| size % columns == 0).last()?;
                fits(size / columns, columns)
            }
            _ => None,
        }
    }

    /// The rank at these coordinates; beside the grid there is none, which -1 stands for.
    #[inline]
    pub fn rank(self, x: i64, y: i64) -> i64 {
        let inside = (0..self.rows).contains(&x) && (0..self.columns).contains(&y);
        if inside { x * self.columns + y } else { -1 }
    }
}

impl<'env> Session<'env> {
    /// What is to be sent, if it has the length that the specification states.
    #[inline]
    pub fn exactly<'a, T: Plain>(
        &self,
        operation: &'static Operation,
        data: impl Into<Outgoing<'a, T>>,
        expected: i64,
    ) -> Result<Outgoing<'a, T>> {
        let data = data.into();
        self.check_length(operation, data.length(), expected)?;
        Ok(data)
    }

    /// The same for a buffer of a non-blocking send.
    pub fn exactly_buffer<T: Plain, B: SendBuffer<'env, T>>(
        &self,
        operation: &'static Operation,
        buffer: B,
        expected: i64,
    ) -> Result<B> {
        let raw = buffer.into_raw();
        let length = raw.length;
        // SAFETY: taken apart just now, and nobody has used it.
        let buffer = unsafe { B::from_raw(raw) };
        self.check_length(operation, length, expected)?;
        Ok(buffer)
    }

    /// Fails if a message has not the length that the protocol states.
    #[inline]
    pub fn check_length(
        &self,
        operation: &'static Operation,
        found: usize,
        expected: i64,
    ) -> Result<()> {
        if i64::try_from(found) == Ok(expected) {
            return Ok(());
        }
        Err(self.wrong_length(operation, found, format!("{expected}, as the protocol says,")))
    }

    /// A decision has arrived that the specification does not know here.
    #[cold]
    pub fn unknown_decision(&self, operation: &'static Operation, label: u32) -> Error {
        Error::other(format!(
            "decision number {label} arrived in {operation}, which has no such arm"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_those_of_ranges() {
        for (start, end, stride) in [(0, 10, 3), (0, 9, 3), (2, 3, 5), (4, 4, 1), (5, 2, 2)] {
            let step = usize::try_from(stride).unwrap();
            let forwards: Vec<i64> = (start..end).step_by(step).collect();
            let from_end: Vec<i64> = (start..end).rev().step_by(step).collect();
            let backwards: Vec<i64> = forwards.iter().rev().copied().collect();
            assert_eq!(Steps::forwards(start, end, stride).collect::<Vec<_>>(), forwards);
            assert_eq!(Steps::from_end(start, end, stride).collect::<Vec<_>>(), from_end);
            assert_eq!(Steps::backwards(start, end, stride).collect::<Vec<_>>(), backwards);
        }
    }

    #[test]
    fn grids_are_as_square_as_can_be() {
        let of = |size| Grid::of(size, None, None).map(|grid| (grid.rows, grid.columns));
        assert_eq!(of(1), Some((1, 1)));
        assert_eq!(of(6), Some((3, 2)));
        assert_eq!(of(7), Some((7, 1)));
        assert_eq!(of(16), Some((4, 4)));
        assert_eq!(Grid::of(6, Some(4), None), None);
        assert_eq!(Grid::of(8, Some(4), None), Some(Grid { rows: 4, columns: 2 }));
        let grid = Grid { rows: 3, columns: 2 };
        assert_eq!((grid.rank(2, 1), grid.rank(3, 0), grid.rank(0, 2)), (5, -1, -1));
    }
}
