//! The same two collectives, in two orders.

#[p2p_protocol(ranks = 2..)]
mod order {
    type Number = i32;

    #[rank(0)]
    fn root() {
        bcast(0, Number); //~ collective-order
        reduce(0, Number);
    }

    #[rank(1..)]
    fn other() {
        reduce(0, Number);
        bcast(0, Number);
    }
}
