//! The decision is told to all but the last.

#[p2p_protocol(ranks = 2..)]
mod steps {
    #[rank(0)]
    fn master() {
        for worker in 1..size - 1 {
            match choose(worker) {
                Stop => {}
            }
        }
    }

    #[rank(1..)]
    fn worker() {
        match offer(0) {
            //~^ rank-left-waiting
            Stop => {}
        }
    }
}
