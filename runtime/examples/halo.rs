//! Heat spreads over a field whose rows are dealt out to the ranks. In each step a rank needs the
//! last row of the rank above it and the first row of the rank below it.
//!
//! All four rows travel while the rank computes those for which it needs neither.

#![expect(clippy::print_stdout, reason = "an example shows what it has found")]

use std::mem::take;

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod halo {
    /// The first row of a strip, for the rank above.
    #[message(count = 64)]
    pub type First = [f64];

    /// The last row of a strip, for the rank below.
    #[message(count = 64)]
    pub type Last = [f64];

    #[rank(_)]
    fn strip(steps: usize) {
        for _step in 0..steps {
            let above = irecv((rank + size - 1) % size, Last);
            let below = irecv((rank + 1) % size, First);
            let up = isend((rank + size - 1) % size, First);
            let down = isend((rank + 1) % size, Last);
            wait_all(above, below, up, down);
        }
    }
}

const WIDTH: usize = 64;
/// Rows of each rank.
const ROWS: usize = 16;
const STEPS: usize = 50;

type Row = Vec<f64>;

fn main() -> p2p::Result<()> {
    p2p::launch(|world| {
        let first = world.rank() * ROWS;
        let mut strip: Vec<Row> = (first..first + ROWS).map(initial).collect();
        let row = || vec![0.0; WIDTH];
        let (mut above, mut below, mut up, mut down) = (row(), row(), row(), row());

        let halo::Role::Strip(role) = halo::join(&world, halo::Parameters { steps: STEPS })?;
        role.run(|s| {
            s.for_each_step(|_, s| {
                up.copy_from_slice(&strip[0]);
                down.copy_from_slice(&strip[ROWS - 1]);
                let s = s.irecv_last(take(&mut above))?.irecv_first(take(&mut below))?;
                let s = s.isend_first(take(&mut up))?.isend_last(take(&mut down))?;
                let inner = strip.windows(3).map(|rows| spread([&rows[0], &rows[1], &rows[2]]));
                let inner: Vec<Row> = inner.collect();

                let next;
                (above, below, up, down, next) = s.wait_all()?;
                let top = spread([&above, &strip[0], &strip[1]]);
                let bottom = spread([&strip[ROWS - 2], &strip[ROWS - 1], &below]);
                strip = [vec![top], inner, vec![bottom]].concat();
                Ok(next)
            })
        })?;

        assert!(strip == alone(world.size())[first..first + ROWS]);
        println!("rank {} has the rows from {first} on as one rank alone has them", world.rank());
        Ok(())
    })
}

/// A row as it is at the start: one hot square.
fn initial(row: usize) -> Row {
    (0..WIDTH).map(|column| if row / 8 == 1 && column / 8 == 1 { 1.0 } else { 0.0 }).collect()
}

/// A row after a step: each cell gives a little to each of its four neighbours.
fn spread([above, row, below]: [&Row; 3]) -> Row {
    (0..WIDTH)
        .map(|x| {
            let (left, right) = (row[(x + WIDTH - 1) % WIDTH], row[(x + 1) % WIDTH]);
            row[x] + 0.1 * (above[x] + below[x] + left + right - 4.0 * row[x])
        })
        .collect()
}

/// The same without any messages.
fn alone(ranks: usize) -> Vec<Row> {
    let rows = ranks * ROWS;
    let mut field: Vec<Row> = (0..rows).map(initial).collect();
    for _ in 0..STEPS {
        let at = |row: usize| &field[row % rows];
        let step = |row| spread([at(row + rows - 1), at(row), at(row + 1)]);
        field = (0..rows).map(step).collect();
    }
    field
}

#[test]
fn the_field_is_that_of_one_rank_alone() -> p2p::Result<()> {
    main()
}
