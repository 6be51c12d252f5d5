//! The loop does not leave out the rank itself.

#[p2p_protocol(ranks = 2..)]
mod all {
    type Number = i32;

    #[rank(_)]
    fn member() {
        let incoming = requests();
        for peer in 0..size {
            if peer != rank {
                incoming.push(irecv(peer, Number));
            }
        }
        for peer in 0..size {
            if peer < size {
                send(peer, Number); //~ send-to-self
            }
        }
        wait_all(incoming);
    }
}
