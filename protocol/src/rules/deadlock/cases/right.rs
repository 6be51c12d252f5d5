//! Everybody receives first; or rank 0 does not.

#[p2p_protocol(ranks = 2..)]
mod ring {
    type Number = i32;

    #[rank(_)]
    fn member() {
        if rank >= 1 {
            recv((rank + size - 1) % size, Number);
            ssend((rank + 1) % size, Number);
        } else {
            ssend((rank + 1) % size, Number);
            recv((rank + size - 1) % size, Number);
        }
    }
}
