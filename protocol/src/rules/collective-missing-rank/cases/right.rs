//! The last rank leaves a step early.

#[p2p_protocol(ranks = 2..)]
mod steps {
    type Number = f64;

    #[rank(_)]
    fn member() {
        for step in 0..3 {
            if rank + 1 == size && step == 3 {
                break;
            }
            all_reduce(Number);
        }
    }
}
