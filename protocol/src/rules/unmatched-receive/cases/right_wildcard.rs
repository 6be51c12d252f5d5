//! The root takes one part more than there are others.

#[p2p_protocol(ranks = 2..=6)]
mod gather {
    type Part = f64;

    #[rank(0)]
    fn root() {
        for _part in 1..size {
            recv(any(1..size), Part);
        }
    }

    #[rank(1..)]
    fn other() {
        send(0, Part);
    }
}
