//! A struct sent under the tag of a number.

#[p2p_protocol(ranks = 2)]
mod exchange {
    #[message(tag = 1)]
    struct Point {
        x: f64,
        y: f64,
    }
    #[message(tag = 1)]
    type Number = f64;

    #[rank(0)]
    fn left() {
        let point = isend(1, Point);
        wait(point);
    }

    #[rank(1)]
    fn right() {
        recv(0, Point);
    }
}
