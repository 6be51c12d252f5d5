// Jobs until there are none.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod farm {
    pub type Job = u64;

    #[rank(0)]
    fn farmer(jobs: usize) {
        for _job in 0..jobs {
            match choose(1) {
                Work => send(1, Job),
            }
        }
        match choose(1) {
            Rest => {}
        }
    }

    #[rank(1)]
    fn worker() {
        loop {
            match offer(0) {
                Work => recv(0, Job),
                Rest => break,
            }
        }
    }
}
