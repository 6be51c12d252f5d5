//! The last rank brings another type to the scatter.

#[p2p_protocol(ranks = 2..)]
mod parts {
    type Whole = i32;
    type Real = f32;

    #[rank(_)]
    fn member() {
        if rank + 1 < size {
            scatter(0, Whole);
        } else {
            scatter(0, Whole);
        }
    }
}
