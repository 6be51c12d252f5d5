//! Two exchanges whose second tag was mistyped.

#[p2p_protocol(ranks = 2)]
mod exchange {
    #[message(tag = 10)]
    type First = i32;
    #[message(tag = 11)]
    type Second = i32;
    #[message(tag = 11)]
    type SecondToo = i32;

    #[rank(0)]
    fn left() {
        send(1, First);
        send(1, Second);
    }

    #[rank(1)]
    fn right() {
        recv(0, First);
        recv(0, SecondToo);
    }
}
