//! Cartesian grids of ranks.

/// A Cartesian grid.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    /// How many ranks in each dimension.
    pub dimensions: Vec<u32>,
    /// Whether each dimension closes to a ring.
    pub periodic: Vec<bool>,
}

impl Grid {
    /// How many ranks it has.
    pub(super) fn size(&self) -> u64 {
        self.dimensions.iter().map(|&length| u64::from(length)).product()
    }

    /// Where a rank stands: the last dimension counts fastest (MPI 4.0, 8.5.2).
    pub(super) fn coordinates(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut coordinates: Vec<u32> = self
            .dimensions
            .iter()
            .rev()
            .map(|&length| {
                let coordinate = rest % length;
                rest /= length;
                coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// The rank at coordinates; those of a dimension that is a ring may lie outside. `None`:
    /// outside of a dimension that is none.
    pub(super) fn rank(&self, coordinates: &[i64]) -> Option<u32> {
        if coordinates.len() != self.dimensions.len() {
            return None;
        }
        let mut rank = 0_u32;
        for (dimension, &coordinate) in coordinates.iter().enumerate() {
            let length = i64::from(self.dimensions[dimension]);
            let wrapped = match self.periodic[dimension] {
                true => coordinate.rem_euclid(length),
                false if (0..length).contains(&coordinate) => coordinate,
                false => return None,
            };
            rank = rank * self.dimensions[dimension] + u32::try_from(wrapped).ok()?;
        }
        Some(rank)
    }

    /// The ranks that a shift receives from and sends to (`MPI_Cart_shift`).
    pub(super) fn shift(&self, rank: u32, dimension: usize, by: i64) -> (Option<u32>, Option<u32>) {
        let here: Vec<i64> = self.coordinates(rank).into_iter().map(i64::from).collect();
        let at = |offset: i64| {
            let mut there = here.clone();
            there[dimension] += offset;
            self.rank(&there)
        };
        (at(-by), at(by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid { dimensions: vec![2, 3], periodic: vec![false, true] }
    }

    #[test]
    fn the_last_dimension_counts_fastest() {
        let places: Vec<_> = (0..6).map(|rank| grid().coordinates(rank)).collect();
        assert_eq!(places[1], [0, 1]);
        assert_eq!(places[3], [1, 0]);
        assert_eq!(places[5], [1, 2]);
        assert!((0..6).all(|rank| {
            let there: Vec<i64> = grid().coordinates(rank).into_iter().map(i64::from).collect();
            grid().rank(&there) == Some(rank)
        }));
    }

    #[test]
    fn a_shift_ends_at_an_edge_and_goes_round_a_ring() {
        assert_eq!(grid().shift(0, 0, 1), (None, Some(3)));
        assert_eq!(grid().shift(3, 0, 1), (Some(0), None));
        assert_eq!(grid().shift(0, 1, 1), (Some(2), Some(1)));
        assert_eq!(grid().shift(5, 1, 2), (Some(3), Some(4)));
    }
}
