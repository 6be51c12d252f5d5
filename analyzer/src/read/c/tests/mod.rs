//! Programs in C, and what is made of them.

mod bodies;
mod mutations;
