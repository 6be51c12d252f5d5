//! To oneself, with the receive posted before, after, or both at once.

#[p2p_protocol(ranks = 1)]
mod alone {
    type Number = i32;

    #[rank(0)]
    fn only() {
        sendrecv(0, Number, 0, Number);
        bsend(0, Number);
        recv(0, Number);
        let posted = irecv(0, Number);
        ssend(0, Number);
        wait(posted);
        ssend(0, Number); //~ send-to-self
        recv(0, Number);
    }
}
