//! Some names are those of what is generated.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod wrong {
    pub type Block = [f32];
    pub type Role = u8;

    pub struct LeftSendBlock;

    #[rank(0)]
    fn left() {
        send(1, Block);
        send(1, Role);
    }

    #[rank(1)]
    fn done() {
        recv(0, Block);
        recv(0, Role);
    }
}

fn main() {}
