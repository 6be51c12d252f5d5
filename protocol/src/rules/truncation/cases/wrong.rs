//! Each rank sends as much as its number says; the root has room for one too few.

#[p2p_protocol(ranks = 2..)]
mod gather {
    #[message(tag = 0, count = 10 * rank)]
    type Part = [f64];
    #[message(tag = 0, count = 10 * size - 11)]
    type Room = [f64];

    #[rank(0)]
    fn root() {
        for part in 1..size {
            recv(part, Room); //~ truncation
        }
    }

    #[rank(1..)]
    fn other() {
        send(0, Part);
    }
}
