//! One rank waits in a barrier for another, which waits for its message.

#[p2p_protocol(ranks = 2)]
mod phases {
    type Number = i32;

    #[rank(0)]
    fn left() {
        let number = issend(1, Number);
        wait(number);
        barrier();
    }

    #[rank(1)]
    fn right() {
        recv(0, Number);
        barrier();
    }
}
