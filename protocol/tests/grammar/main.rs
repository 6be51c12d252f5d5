//! The protocol language: its fixtures, its errors, and what it evaluates to.

mod evaluation;
mod fixtures;
mod mistakes;
mod sizes;
mod source;
mod tree;
