//! The barrier comes before or after the receive is posted.

#[p2p_protocol(ranks = 2)]
mod ready {
    type Number = i32;

    #[rank(0)]
    fn sender() {
        barrier();
        rsend(1, Number); //~ ready-send-unposted
    }

    #[rank(1)]
    fn receiver() {
        barrier();
        let number = irecv(0, Number);
        wait(number);
    }
}
