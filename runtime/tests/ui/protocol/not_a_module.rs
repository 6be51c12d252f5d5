//! The attribute stands on a module, or on a function together with `role`.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
fn left() {
    println!("not a protocol");
}

fn main() {
    left();
}
