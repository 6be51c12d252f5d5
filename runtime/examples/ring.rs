//! Every rank hands its number to the right, again and again, until each has seen all of them.
//!
//! The receive is started before the send, so nobody waits for a neighbour that waits as well.

#![expect(clippy::print_stdout, reason = "an example shows what it has found")]

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod ring {
    /// A number on its way around.
    pub type Number = u64;

    #[rank(_)]
    fn member() {
        for _turn in 1..size {
            let incoming = irecv((rank + size - 1) % size, Number);
            send((rank + 1) % size, Number);
            wait(incoming);
        }
    }
}

fn main() -> p2p::Result<()> {
    p2p::launch(|world| {
        let mine = square(world.rank());
        let (mut sum, mut passing) = (mine, mine);

        let ring::Role::Member(member) = ring::join(&world)?;
        member.run(|s| {
            s.for_each_turn(|_, s| {
                let s = s.irecv_number()?.send_number(passing)?;
                let (number, s) = s.wait()?;
                passing = number;
                sum += number;
                Ok(s)
            })
        })?;

        assert_eq!(sum, (0..world.size()).map(square).sum());
        println!("rank {} has seen numbers that add up to {sum}", world.rank());
        Ok(())
    })
}

/// What a rank brings along.
fn square(rank: usize) -> u64 {
    (rank * rank) as u64
}

#[test]
fn every_rank_sees_every_number() -> p2p::Result<()> {
    main()
}
