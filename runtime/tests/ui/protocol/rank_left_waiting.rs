//! The farmer ends when one of the two workers has been told to rest; the other waits for ever.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 3)]
pub mod wrong {
    pub type Ready = u8;

    #[rank(0)]
    fn farmer() {
        let first = recv(any(1..size), Ready);
        recv(any(1..size), Ready);
        match choose(first) {
            Rest => {}
        }
    }

    #[rank(1..)]
    fn worker() {
        send(0, Ready);
        match offer(0) {
            Rest => {}
        }
    }
}

fn main() {}
