//! A tag that some MPI does not take.

#[p2p_protocol(ranks = 2)]
mod exchange {
    #[message(tag = 32768)]
    type Number = i32;

    #[rank(0)]
    fn left() {
        send(1, Number); //~ invalid-tag
    }

    #[rank(1)]
    fn right() {
        recv(0, Number);
    }
}
