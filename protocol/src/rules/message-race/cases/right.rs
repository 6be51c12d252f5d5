//! Two senders, one wildcard.

#[p2p_protocol(ranks = 3)]
mod first_come {
    type Number = i32;

    #[rank(0)]
    fn root() {
        recv(any(2..3), Number);
        recv(any(1..3), Number);
    }

    #[rank(1..)]
    fn other() {
        send(0, Number);
    }
}
