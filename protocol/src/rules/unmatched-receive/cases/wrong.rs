//! The persistent receive is started once more than the send.

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
    }

    #[rank(1)]
    fn receiver(steps: usize) {
        let incoming = recv_init(0, Number); //~ unmatched-receive
        for _step in 0..steps + 1 {
            start(incoming);
            wait(incoming);
        }
    }
}
