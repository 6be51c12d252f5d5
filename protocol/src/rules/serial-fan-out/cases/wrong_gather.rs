//! All others tell one rank what they have.

#[p2p_protocol(ranks = 3)]
mod collect {
    type Part = i64;

    #[rank(0)]
    fn root() {
        for other in 1..size {
            recv(other, Part); //~ serial-fan-out
        }
    }

    #[rank(1..)]
    fn other() {
        send(0, Part);
    }
}
