//! Programs as Rust text, and what each rank of them does, in a compact form.

mod alike;
mod branches;
mod c;
mod calls;
mod floats;
mod guesses;
mod loops;
mod pointers;
mod rounds;
pub(super) mod show;
mod straight;
mod turns;
mod work;

use super::{Evaluated, Limits};
use crate::program::Program;

/// What stands before each program.
const PRELUDE: &str = "use mpi::traits::*; use mpi::topology::*; use mpi::point_to_point as p2p; \
    use mpi::request::WaitGuard; use mpi::collective::SystemOperation;\n";

/// A program whose text is given without its `use`s. With no `main` in it, it is what `main` does,
/// with `world`, `rank` and `size` known.
pub(super) fn program(text: &str) -> Program {
    let text = if text.contains("fn main") {
        format!("{PRELUDE}{text}")
    } else {
        format!(
            "{PRELUDE}fn main() {{ let universe = mpi::initialize().unwrap(); \
             let world = universe.world(); let rank = world.rank(); let size = world.size();\n\
             {text}\n}}"
        )
    };
    crate::read::rust::from_text(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// The worlds of a program's `main`.
pub(super) fn evaluated(text: &str, size: u32) -> Evaluated {
    let program = program(text);
    let main = program.entries.iter().find(|entry| entry.name == "main").expect("there is a main");
    super::evaluate(&program, main, size, Limits::default())
}

/// What each rank does in the ordinary world, a line for each rank.
pub(super) fn run(text: &str, size: u32) -> String {
    show::world(&evaluated(text, size).worlds[0].0)
}

/// Asserts what each rank does.
#[track_caller]
pub(super) fn does(text: &str, size: u32, expected: &[&str]) {
    let shown = run(text, size);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines, expected, "\n{text}\n{:#?}", evaluated(text, size).gaps);
}
