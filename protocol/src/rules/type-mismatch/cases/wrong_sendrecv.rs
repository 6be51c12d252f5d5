//! The two halves of an exchange have different types.

#[p2p_protocol(ranks = 2)]
mod exchange {
    #[message(tag = 1, count = 8)]
    type Signed = [i32];
    #[message(tag = 1, count = 8)]
    type Unsigned = [u32];

    #[rank(0)]
    fn left() {
        sendrecv(1, Signed, 1, Signed); //~ type-mismatch
    }

    #[rank(1)]
    fn right() {
        sendrecv(0, Signed, 0, Unsigned);
    }
}
