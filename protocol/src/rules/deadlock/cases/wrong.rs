//! Everybody receives first; or rank 0 does not.

#[p2p_protocol(ranks = 2..)]
mod ring {
    type Number = i32;

    #[rank(_)]
    fn member() {
        if rank >= 0 {
            recv((rank + size - 1) % size, Number); //~ deadlock
            ssend((rank + 1) % size, Number);
        } else {
            ssend((rank + 1) % size, Number);
            recv((rank + size - 1) % size, Number);
        }
    }
}
