//! The first results of slow ranks, and the second results of fast ones.

#[p2p_protocol(ranks = 3)]
mod extremes {
    #[message(tag = 0)]
    type Least = f64;
    #[message(tag = 0)]
    type Most = f64;

    #[rank(0)]
    fn root() {
        for worker in 1..size {
            recv(any(1..size), Least); //~ wildcard-steals-message
        }
        for worker in 1..size {
            recv(any(1..size), Most);
        }
    }

    #[rank(1..)]
    fn worker() {
        send(0, Least);
        send(0, Most);
    }
}
