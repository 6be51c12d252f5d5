//! A root that only larger worlds have.

#[p2p_protocol(ranks = 4..)]
mod settings {
    type Number = i32;

    #[rank(_)]
    fn member() {
        bcast(3, Number);
    }
}
