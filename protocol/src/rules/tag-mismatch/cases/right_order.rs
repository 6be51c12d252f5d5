//! Two messages taken in the other order, which their tags allow; then one with the wrong tag.

#[p2p_protocol(ranks = 2)]
mod exchange {
    type First = i32;
    type Second = i32;
    type Third = i32;

    #[rank(0)]
    fn left() {
        bsend(1, First);
        bsend(1, Second);
        bsend(1, Third);
    }

    #[rank(1)]
    fn right() {
        recv(0, Second);
        recv(0, First);
        recv(0, Third);
    }
}
