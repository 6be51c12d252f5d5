//! The receiver counts one round fewer than the sender.

#[p2p_protocol(ranks = 2)]
mod rounds {
    type Number = i32;

    #[rank(0)]
    fn sender(rounds: usize) {
        for _round in 0..rounds {
            bsend(1, Number);
        }
    }

    #[rank(1)]
    fn receiver(rounds: usize) {
        for _round in 0..rounds {
            recv(0, Number);
        }
    }
}
