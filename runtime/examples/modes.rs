//! The four ways to send, each tried for what it promises, and both cures for two ranks that each
//! send synchronously before they receive.
//!
//! Every even rank talks to the odd one after it; of an odd number of ranks the last has nobody.

#![expect(clippy::print_stdout, reason = "an example shows what it has found")]

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod modes {
    /// What is sent in every mode.
    pub type Value = i32;

    /// Says that a receive is posted, or that a send has returned.
    pub type Signal = u8;

    /// Goes both ways.
    #[message(count = 4096)]
    pub type Block = [i32];

    #[rank(r if r % 2 == 0 && r + 1 < size)]
    fn even() {
        // Standard: returns when the value may be changed, received or not.
        send(rank + 1, Value);
        // Synchronous: returns when the receive has begun.
        ssend(rank + 1, Value);
        // Buffered: returns at once, long before the receive.
        bsend(rank + 1, Value);
        send(rank + 1, Signal);
        // Ready: the receive is posted already, and the other rank has said so.
        recv(rank + 1, Signal);
        rsend(rank + 1, Value);

        // The first cure: even ranks send first, odd ranks receive first.
        ssend(rank + 1, Block);
        recv(rank + 1, Block);
        // The second: both at once.
        sendrecv(rank + 1, Block, rank + 1, Block);
    }

    #[rank(r if r % 2 == 1)]
    fn odd() {
        recv(rank - 1, Value);
        recv(rank - 1, Value);
        // Only after the buffered send has returned is its message received.
        recv(rank - 1, Signal);
        recv(rank - 1, Value);
        let posted = irecv(rank - 1, Value);
        send(rank - 1, Signal);
        wait(posted);

        recv(rank - 1, Block);
        ssend(rank - 1, Block);
        sendrecv(rank - 1, Block, rank - 1, Block);
    }

    #[rank(r if r % 2 == 0 && r + 1 == size)]
    fn left_over() {}
}

const COUNT: usize = 4096;

fn main() -> p2p::Result<()> {
    p2p::launch(|world| {
        let rank = world.rank();
        match modes::join(&world)? {
            modes::Role::Even(role) => even(role, rank)?,
            modes::Role::Odd(role) => odd(role, rank)?,
            modes::Role::LeftOver(role) => role.run(|s| Ok(s))?,
        }
        println!("rank {rank} has sent and received in every mode");
        Ok(())
    })
}

fn even(role: modes::Even<'_>, rank: usize) -> p2p::Result<()> {
    let mut theirs = vec![0; COUNT];
    role.run(|s| {
        let s = s.send_value(1)?.ssend_value(2)?.bsend_value(3)?.send_signal(1)?;
        let (_, s) = s.recv_signal()?;
        let s = s.rsend_value(4)?;
        let s = s.ssend_block(block(rank))?.recv_block(&mut theirs)?;
        assert!(theirs == block(rank + 1));
        theirs.fill(0);
        s.sendrecv_block(block(rank), &mut theirs)
    })?;
    assert!(theirs == block(rank + 1));
    Ok(())
}

fn odd(role: modes::Odd<'_>, rank: usize) -> p2p::Result<()> {
    let mut theirs = vec![0; COUNT];
    role.run(|s| {
        let (standard, s) = s.recv_value()?;
        let (synchronous, s) = s.recv_value()?;
        let (_, s) = s.recv_signal()?;
        let (buffered, s) = s.recv_value()?;
        let (ready, s) = s.irecv_value()?.send_signal(1)?.wait()?;
        assert_eq!([standard, synchronous, buffered, ready], [1, 2, 3, 4]);
        let s = s.recv_block(&mut theirs)?.ssend_block(block(rank))?;
        assert!(theirs == block(rank - 1));
        theirs.fill(0);
        s.sendrecv_block(block(rank), &mut theirs)
    })?;
    assert!(theirs == block(rank - 1));
    Ok(())
}

/// What a rank has to send.
fn block(rank: usize) -> Vec<i32> {
    (0..COUNT).map(|index| (rank * COUNT + index) as i32).collect()
}

#[test]
fn every_mode_delivers() -> p2p::Result<()> {
    main()
}
