//! Odd ranks of a protocol for one rank.

#[p2p_protocol(ranks = 1)]
mod roles {
    #[rank(r if r % 2 == 0)]
    fn even() {
        barrier();
    }

    #[rank(r if r % 2 == 1)]
    fn odd() {
        //~^ protocol-unused-role
        barrier();
    }
}
