//! The protocol language: its fixtures, its errors, and what it evaluates to.

mod evaluation;
mod fixtures;
mod long_loops;
mod mistakes;
mod samples;
mod sizes;
mod source;
mod tree;
