//! The last round of a persistent request is not waited for.

#[p2p_protocol(ranks = 2)]
mod steps {
    type Number = i32;

    #[rank(0)]
    fn sender(steps: usize) {
        let outgoing = send_init(1, Number);
        for _step in 0..steps {
            start(outgoing);
            wait(outgoing);
        }
        start(outgoing); //~ missing-wait
    }

    #[rank(1)]
    fn receiver(steps: usize) {
        for _step in 0..=steps {
            recv(0, Number);
        }
    }
}
