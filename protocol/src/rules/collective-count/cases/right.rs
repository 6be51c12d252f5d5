//! What is added up is a row on one rank and a number of rows on the others.

#[p2p_protocol(ranks = 2..)]
mod rows {
    #[message(count = 16)]
    type Row = [f64];
    #[message(count = 16)]
    type Rows = [f64];

    #[rank(0)]
    fn root() {
        reduce(0, Row);
    }

    #[rank(1..)]
    fn other() {
        reduce(0, Rows);
    }
}
