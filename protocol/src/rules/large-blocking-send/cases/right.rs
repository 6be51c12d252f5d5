//! A field in one call.

#[p2p_protocol(ranks = 2)]
mod hand_over {
    type Field = [f64; 1_000];

    #[rank(0)]
    fn producer() {
        send(1, Field);
    }

    #[rank(1)]
    fn consumer() {
        recv(0, Field);
    }
}
