//! The receive listens on the protocol's own communicator.

#[p2p_protocol(ranks = 2)]
mod exchange {
    #[message(tag = 4, communicator = halo)]
    type Edge = f64;
    #[message(tag = 4, communicator = halo)]
    type Border = f64;

    #[rank(0)]
    fn left() {
        ssend(1, Edge);
    }

    #[rank(1)]
    fn right() {
        let border = irecv(0, Border);
        wait(border);
    }
}
