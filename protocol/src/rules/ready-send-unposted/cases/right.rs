//! The barrier comes before or after the receive is posted.

#[p2p_protocol(ranks = 2)]
mod ready {
    type Number = i32;

    #[rank(0)]
    fn sender() {
        barrier();
        rsend(1, Number);
    }

    #[rank(1)]
    fn receiver() {
        let number = irecv(0, Number);
        barrier();
        wait(number);
    }
}
