//! A request that nothing can complete, because its receive is for larger worlds only.

#[p2p_protocol(ranks = 2..)]
mod fan_out {
    type Number = i32;

    #[rank(0)]
    fn sender() {
        let number = issend(1, Number);
        wait(number);
    }

    #[rank(1..)]
    fn receiver() {
        if rank == 1 && size > 1 {
            recv(0, Number);
        }
    }
}
