//! Nor can a struct that has one.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    #[message]
    pub struct Note {
        pub number: u32,
        pub text: &'static str,
    }

    #[rank(0)]
    fn left() {
        send(1, Note);
    }

    #[rank(1)]
    fn right() {
        recv(0, Note);
    }
}

fn main() {}
