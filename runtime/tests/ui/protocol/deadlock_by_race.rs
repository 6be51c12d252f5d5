//! Whose answer comes first decides whether it ends.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 3)]
pub mod wrong {
    pub type Answer = u32;

    #[rank(0)]
    fn asker() {
        recv(any(1..size), Answer);
        recv(1, Answer);
    }

    #[rank(1..)]
    fn answerer() {
        send(0, Answer);
    }
}

fn main() {}
