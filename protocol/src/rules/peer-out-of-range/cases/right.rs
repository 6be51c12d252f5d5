//! The first rank has no left neighbour.

#[p2p_protocol(ranks = 2..)]
mod line {
    type Number = i32;

    #[rank(_)]
    fn member() {
        if rank > 0 {
            bsend(rank - 1, Number);
        }
        if rank + 1 < size {
            recv(rank + 1, Number);
        }
    }
}
