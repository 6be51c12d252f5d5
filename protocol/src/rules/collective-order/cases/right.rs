//! The same two collectives, in two orders.

#[p2p_protocol(ranks = 2..)]
mod order {
    type Number = i32;

    #[rank(0)]
    fn root() {
        bcast(0, Number);
        reduce(0, Number);
    }

    #[rank(1..)]
    fn other() {
        bcast(0, Number);
        reduce(0, Number);
    }
}
