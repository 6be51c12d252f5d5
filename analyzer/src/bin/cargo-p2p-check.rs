//! `cargo-p2p-check`.

fn main() {}
