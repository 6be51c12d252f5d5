//! Each rank takes itself for the root.

#[p2p_protocol(ranks = 2..)]
mod root {
    type Number = i32;

    #[rank(_)]
    fn member() {
        gather(0, Number);
    }
}
