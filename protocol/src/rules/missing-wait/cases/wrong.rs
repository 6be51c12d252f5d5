//! The smallest size has a branch of its own, without the wait.

#[p2p_protocol(ranks = 2..)]
mod branches {
    type Number = i32;

    #[rank(0)]
    fn sender() {
        let pending = requests();
        for dest in 1..size {
            pending.push(isend(dest, Number)); //~ missing-wait
        }
        if size > 2 {
            wait_all(pending);
        }
    }

    #[rank(1..)]
    fn receiver() {
        recv(0, Number);
    }
}
