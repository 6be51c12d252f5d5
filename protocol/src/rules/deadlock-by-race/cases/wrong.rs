//! The wildcard may take the message that the next receive is for.

#[p2p_protocol(ranks = 3)]
mod two_phases {
    type Number = i32;

    #[rank(0)]
    fn root() {
        recv(any(1..3), Number);
        recv(2, Number); //~ deadlock-by-race
    }

    #[rank(1..)]
    fn other() {
        send(0, Number);
    }
}
