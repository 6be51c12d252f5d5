//! Everybody sends to the root, the root included.

#[p2p_protocol(ranks = 2..)]
mod gather {
    type Number = i32;

    #[rank(_)]
    fn member() {
        send(0, Number); //~ send-to-self
        if rank == 0 {
            for peer in 0..size {
                recv(peer, Number);
            }
        }
    }
}
