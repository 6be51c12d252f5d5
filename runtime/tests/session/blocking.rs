//! Blocking sends and receives.

use p2p::session::{Error, Fresh, Mode, One, Source, Status};
use p2p::{Buffering, threads};

use super::*;

const LENGTHS: [u64; 7] = [0, 1, 4, 5, 300, 1000, 100_000];

#[test]
fn every_mode_and_length_arrives_under_every_buffering() {
    for buffering in ALL_BUFFERINGS {
        run_buffering(2, buffering, |session| {
            for mode in [Mode::Standard, Mode::Synchronous, Mode::Buffered, Mode::Ready] {
                for length in LENGTHS {
                    let sent: Vec<u64> = (0..length).collect();
                    if session.rank() == 0 {
                        session.send(&SEND, mode, 1, &sent)?;
                        session.send(&SEND, mode, 1, sent)?;
                        continue;
                    }
                    let mut data = vec![7u64; 3];
                    session.recv(&RECV, Source::Rank(0), &mut data)?;
                    assert_eq!(data, sent);
                    let (data, status) =
                        session.recv::<u64, _>(&RECV, Source::Any(0..2), Fresh::new())?;
                    assert_eq!(data, sent);
                    assert_eq!(status, Status { source: 0, count: length as usize });
                }
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn a_shorter_message_leaves_the_rest_of_a_slice_alone() {
    run(2, |session| {
        if session.rank() == 0 {
            return session.send(&SEND, Mode::Standard, 1, &[1u8, 2]);
        }
        let mut data = [9u8; 4];
        let ((), status) = session.recv(&RECV, Source::Rank(0), &mut data)?;
        assert_eq!((data, status.count), ([1, 2, 9, 9], 2));
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_longer_message_is_an_error_that_says_how_long() {
    for length in [5usize, 5000] {
        let error = run(2, |session| {
            if session.rank() == 0 {
                return session.send(&SEND, Mode::Standard, 1, vec![1u32; length]);
            }
            session.recv(&RECV, Source::Rank(0), &mut [0u32; 4]).map(drop)
        })
        .unwrap_err();
        let Error::Truncated { sent, room: 4, rank: 1, source_rank: 0, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(sent, Some(length));
        assert!(error.to_string().contains("test.rs:3"), "{error}");
    }
}

#[test]
fn a_message_of_another_type_is_an_error() {
    let error = run(2, |session| {
        if session.rank() == 0 {
            return session.send(&SEND, Mode::Standard, 1, &[1.0f32]);
        }
        session.recv::<u32, _>(&RECV, Source::Rank(0), One::new()).map(drop)
    })
    .unwrap_err();
    let Error::WrongType { sent: "f32", expected: "u32", .. } = error else { panic!("{error}") };
}

#[test]
fn a_moved_vec_arrives_as_the_same_allocation() {
    for buffering in ALL_BUFFERINGS {
        let addresses = run_buffering(2, buffering, |session| {
            if session.rank() == 0 {
                let data = vec![1.5f32; 100];
                let address = data.as_ptr().addr();
                session.send(&SEND, Mode::Standard, 1, data)?;
                return Ok(address);
            }
            let (data, _) = session.recv::<f32, _>(&RECV, Source::Rank(0), Fresh::new())?;
            assert_eq!(data, [1.5; 100]);
            Ok(data.as_ptr().addr())
        })
        .unwrap();
        assert_eq!(addresses[0], addresses[1]);
    }
}

#[test]
fn tags_are_told_apart_and_each_keeps_its_order() {
    run(2, |session| {
        if session.rank() == 0 {
            for value in 0..100u32 {
                session.send(&SEND, Mode::Buffered, 1, &[value])?;
                session.send(&SEND_OTHER, Mode::Buffered, 1, &[1000 + value])?;
            }
            return Ok(());
        }
        for value in 0..100u32 {
            let other = session.recv::<u32, _>(&RECV_OTHER, Source::Rank(0), One::new())?.0;
            assert_eq!(other, 1000 + value);
        }
        for value in 0..100u32 {
            let (next, _) = session.recv::<u32, _>(&RECV, Source::Rank(0), One::new())?;
            assert_eq!(next, value);
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_buffered_send_never_waits_and_a_standard_one_does_at_some_point() {
    // Rank 1 receives nothing of what is buffered before the barrier.
    run(2, |session| {
        if session.rank() == 0 {
            for value in 0..10_000u32 {
                session.send(&SEND, Mode::Buffered, 1, &[value])?;
            }
            session.barrier(&BARRIER)?;
            return Ok(());
        }
        session.barrier(&BARRIER)?;
        for value in 0..10_000u32 {
            let (next, _) = session.recv::<u32, _>(&RECV, Source::Rank(0), One::new())?;
            assert_eq!(next, value);
        }
        Ok(())
    })
    .unwrap();
    let floods = |buffering| {
        run_buffering(2, buffering, |session| {
            for value in 0..10_000u32 {
                if session.rank() == 0 {
                    session.send(&SEND, Mode::Standard, 1, &[value])?;
                }
            }
            session.barrier(&BARRIER)
        })
    };
    floods(Buffering::All).unwrap();
    assert!(matches!(floods(Buffering::Some), Err(Error::Deadlock(_))));
}

#[test]
fn sendrecv_does_both_at_once() {
    for buffering in ALL_BUFFERINGS {
        for length in [1usize, 10_000] {
            let sums = run_buffering(3, buffering, |session| {
                let (rank, size) = (session.rank() as i64, session.size() as i64);
                let mine = vec![rank as u64; length];
                let (theirs, status) = session.sendrecv::<u64, u64, _>(
                    (&SEND, (rank + 1) % size),
                    &mine,
                    (&RECV, Source::Rank((rank + size - 1) % size)),
                    Fresh::new(),
                )?;
                assert_eq!(status.count, length);
                Ok(theirs[length - 1])
            });
            assert_eq!(sums.unwrap(), [2, 0, 1]);
        }
    }
}

#[test]
fn a_probe_sees_the_message_and_leaves_it() {
    run(3, |session| {
        if session.rank() != 0 {
            let data = vec![session.rank() as u16; session.rank()];
            return session.send(&SEND, Mode::Synchronous, 0, &data);
        }
        for _ in 1..3 {
            let status = session.probe::<u16>(&RECV, Source::Any(1..3))?;
            assert_eq!(status.count, status.source);
            let source = Source::Rank(status.source as i64);
            let (data, _) = session.recv::<u16, _>(&RECV, source, Fresh::new())?;
            assert_eq!(data, vec![status.source as u16; status.source]);
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_peer_outside_the_world_is_an_error() {
    let error = run(2, |session| session.send(&SEND, Mode::Standard, 2, &[0u8])).unwrap_err();
    let Error::PeerOutOfRange { peer: 2, size: 2, .. } = error else { panic!("{error}") };
}

#[test]
fn runs_do_not_mix_and_what_nobody_took_is_dropped() {
    let values = threads(2, |world| {
        let mut values = Vec::new();
        for round in 0..100u32 {
            let value = with(&world, |session| {
                if session.rank() == 0 {
                    session.send(&SEND_OTHER, Mode::Buffered, 1, vec![round; 100])?;
                    session.send(&SEND, Mode::Buffered, 1, &[round])?;
                    return Ok(round);
                }
                Ok(session.recv(&RECV, Source::Rank(0), One::new())?.0)
            })?;
            values.push(value);
        }
        Ok(values)
    });
    let expected: Vec<u32> = (0..100).collect();
    assert_eq!(values.unwrap(), [expected.clone(), expected]);
}

#[test]
fn a_rank_sends_to_itself_what_is_buffered() {
    run(1, |session| {
        session.send(&SEND, Mode::Buffered, 0, &[1u8, 2, 3])?;
        let (data, _) = session.recv::<u8, _>(&RECV, Source::Rank(0), Fresh::new())?;
        assert_eq!(data, [1, 2, 3]);
        Ok(())
    })
    .unwrap();
}
