// A block one way, a count back.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod pair {
    pub type Block = [f32];
    pub type Count = u32;

    #[rank(0)]
    fn sender() {
        send(1, Block);
        recv(1, Count);
    }

    #[rank(1)]
    fn receiver() {
        recv(0, Block);
        send(0, Count);
    }
}
