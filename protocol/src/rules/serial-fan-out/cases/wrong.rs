//! Ranks that are served in turn.

#[p2p_protocol(ranks = 4)]
mod hand_out {
    type Block = [f64; 256];

    #[rank(0)]
    fn root() {
        for other in 1..size {
            send(other, Block); //~ serial-fan-out
        }
    }

    #[rank(1..)]
    fn other() {
        recv(0, Block);
    }
}
