//! Two messages taken in the other order.

#[p2p_protocol(ranks = 2)]
mod exchange {
    #[message(count = 4096)]
    type First = [f32];
    #[message(count = 4096)]
    type Second = [f32];

    #[rank(0)]
    fn left() {
        send(1, First);
        send(1, Second);
    }

    #[rank(1)]
    fn right() {
        recv(0, First);
        recv(0, Second);
    }
}
