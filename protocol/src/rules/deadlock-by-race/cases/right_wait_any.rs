//! Where the second comes first, nobody tells it to go on.

#[p2p_protocol(ranks = 3)]
mod either {
    type Number = i32;
    type Go = u8;

    #[rank(0)]
    fn root() {
        let first = irecv(1, Number);
        let second = irecv(2, Number);
        match wait_any(first, second) {
            first => {
                wait(second);
                send(2, Go);
            }
            second => {
                wait(first);
                send(2, Go);
            }
        }
    }

    #[rank(1)]
    fn first() {
        send(0, Number);
    }

    #[rank(2)]
    fn second() {
        send(0, Number);
        recv(0, Go);
    }
}
