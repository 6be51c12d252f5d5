//! Messages made and used piece by piece, and as a whole at the other end, of lengths around those
//! at which they travel in another way.
//!
// run: -n 3, ends
// run: P2P_WATCH=5 -n 3, ends
// run: P2P_NODES=2 -n 3, ends
// run: -n 3 fill, fails: rank 0: no more input
// run: -n 3 take, fails: rank 1: no more room

use p2p::{Error, p2p_protocol};

#[p2p_protocol(ranks = 3..)]
pub mod pieces {
    /// Of any length.
    pub type Block = [u64];

    #[rank(0)]
    fn source(rounds: usize) {
        for _round in 0..rounds {
            for dest in 1..size {
                send(dest, Block);
                send(dest, Block);
                ssend(dest, Block);
                send(dest, Block);
            }
        }
    }

    #[rank(1..)]
    fn sink(rounds: usize) {
        for _round in 0..rounds {
            recv(0, Block);
            recv(0, Block);
            recv(0, Block);
            recv(0, Block);
        }
    }
}

const LENGTHS: [usize; 9] = [0, 1, 5, 8_191, 8_192, 65_536, 65_537, 300_001, 1_500_000];

fn element(round: usize, index: usize) -> u64 {
    (index as u64 ^ 0xa5a5).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(round as u64)
}

fn whole(round: usize) -> Vec<u64> {
    (0..LENGTHS[round]).map(|index| element(round, index)).collect()
}

fn main() -> p2p::Result<()> {
    let fails = std::env::args().nth(1).unwrap_or_default();
    p2p::launch(|world| match pieces::join(&world, pieces::Parameters { rounds: LENGTHS.len() })? {
        pieces::Role::Source(source) => source.run(|s| {
            s.for_each_round(|round, s| {
                s.for_each_dest(|_, s| {
                    let length = LENGTHS[round];
                    let fill = |first: usize, piece: &mut [u64]| {
                        for (index, place) in (first..).zip(piece) {
                            *place = element(round, index);
                        }
                        let is_over = fails == "fill" && length == LENGTHS[8];
                        if is_over { Err(Error::other("no more input")) } else { Ok(()) }
                    };
                    s.send_block_with(length, fill)?
                        .send_block_with(length, fill)?
                        .ssend_block_with(length, fill)?
                        .send_block(whole(round))
                })
            })
        }),
        pieces::Role::Sink(sink) => sink.run(|s| {
            s.for_each_round(|round, s| {
                let mut next = 0;
                let mut take = |first: usize, piece: &[u64]| {
                    assert_eq!(first, next, "pieces come in their order");
                    for &found in piece {
                        assert_eq!(found, element(round, next), "element {next} of {round}");
                        next += 1;
                    }
                };
                let (count, s) = s.recv_block_with(&mut take)?;
                assert_eq!((count, next), (LENGTHS[round], LENGTHS[round]));
                let (data, s) = s.recv_block_vec()?;
                assert!(data == whole(round));
                let mut kept = vec![7; LENGTHS[round] + 1];
                let (count, s) = s.recv_block_counted(&mut kept[..])?;
                assert_eq!((count, kept.pop()), (LENGTHS[round], Some(7)));
                assert!(kept == whole(round));
                let mut next = 0;
                let (count, s) = s.recv_block_with(|first, piece| {
                    assert_eq!(first, next);
                    assert!((first..).zip(piece).all(|(at, &it)| it == element(round, at)));
                    next += piece.len();
                    if fails == "take" && world.rank() == 1 && next > LENGTHS[7] {
                        return Err(Error::other("no more room"));
                    }
                    Ok(())
                })?;
                assert_eq!((count, next), (LENGTHS[round], LENGTHS[round]));
                Ok(s)
            })
        }),
    })
}

#[test]
fn every_piece_arrives_where_it_belongs() -> p2p::Result<()> {
    main()
}
