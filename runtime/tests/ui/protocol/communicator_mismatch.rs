//! The same message on two communicators never meets.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    #[message(tag = 1)]
    pub type Data = u32;
    #[message(tag = 1, communicator = control)]
    pub type Control = u32;

    #[rank(0)]
    fn left() {
        send(1, Data);
    }

    #[rank(1)]
    fn right() {
        recv(0, Control);
    }
}

fn main() {}
