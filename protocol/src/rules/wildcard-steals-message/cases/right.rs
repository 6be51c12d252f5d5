//! A length of one rank, and the data of another.

#[p2p_protocol(ranks = 3)]
mod lengths {
    #[message(tag = 0)]
    type Length = u64;
    #[message(tag = 0, count = 8)]
    type Part = [f64];

    #[rank(0)]
    fn root() {
        for part in 1..size {
            let worker = recv(any(1..size), Length);
            recv(worker, Part);
        }
    }

    #[rank(1..)]
    fn worker() {
        send(0, Length);
        send(0, Part);
    }
}
