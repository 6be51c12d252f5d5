//! A rank sends to itself so many times, by the session's calls or in typed steps, and nothing else:
//! `cargo xtask bench instructions` has the instructions counted.
//!
//! `instructions calls|typed TRIPS`.

#![allow(dead_code, reason = "the other benchmark uses the rest of the contenders")]

mod contenders;

use contenders::{raw, typed};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [contender, trips] = &arguments[..] else {
        // As a benchmark among others, without a count to be made.
        return;
    };
    let Ok(trips) = trips.parse() else { return };
    match contender.as_str() {
        "calls" => _ = raw::alone(trips),
        "typed" => _ = typed::alone(trips),
        _ => {}
    }
}
