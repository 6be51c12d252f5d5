//! Non-blocking and persistent operations, decisions.

use p2p::session::{Error, Mode, One, Request, Single, Source};
use p2p::{Buffering, threads};

use super::*;

static ISEND: Operation = operation("isend", "Block", 0, 20);
static IRECV: Operation = operation("irecv", "Block", 0, 21);
static TEST: Operation = operation("test", "", 0, 22);

#[test]
fn buffers_of_every_kind_come_back() {
    for buffering in ALL_BUFFERINGS {
        let mut borrowed = [[0u32; 4]; 2];
        let [first, second] = &mut borrowed;
        let shared = std::sync::Mutex::new(vec![&mut first[..], &mut second[..]]);
        let launch = Launch::new().ranks(2).buffering(buffering);
        launch
            .run(|world| {
                let slice = shared.lock().unwrap().pop().unwrap();
                with(&world, |session| exchange(session, slice))
            })
            .unwrap();
        borrowed.sort_unstable();
        assert_eq!(borrowed, [[0; 4], [1; 4]]);
    }
}

/// Every rank sends its number to the other and receives it, in each kind of buffer.
fn exchange<'env>(session: &mut Session<'env>, slice: &'env mut [u32]) -> Result<()> {
    let peer = 1 - session.rank() as i64;
    let from = || Source::Rank(peer);
    let mine = vec![session.rank() as u32; 4];

    let sent = session.isend(&ISEND, Mode::Standard, peer, mine.clone())?;
    let received = session.irecv(&IRECV, from(), slice)?;
    let (slice, status) = session.wait(&WAIT, received)?;
    assert_eq!((&slice[..], status.count), (&[peer as u32; 4][..], 4));
    assert_eq!(session.wait(&WAIT, sent)?.0, mine);

    let received = session.irecv(&IRECV, from(), vec![9u32; 6])?;
    let sent = session.isend(&ISEND, Mode::Synchronous, peer, mine.clone().into_boxed_slice())?;
    assert_eq!(*session.wait(&WAIT, sent)?.0, *mine);
    let (data, status) = session.wait(&WAIT, received)?;
    assert_eq!(data[..4], [peer as u32; 4]);
    assert_eq!((&data[4..], status.count), (&[9, 9][..], 4));

    let received = session.irecv(&IRECV, from(), Single::<u64>::empty())?;
    let sent = session.isend(&ISEND, Mode::Standard, peer, Single::new(7u64))?;
    assert_eq!(session.wait(&WAIT, received)?.0.into_inner(), 7);
    session.wait(&WAIT, sent)?;
    Ok(())
}

#[test]
fn receives_take_messages_in_the_order_of_posting() {
    run(2, |session| {
        if session.rank() == 0 {
            for value in 0..10u32 {
                session.send(&SEND, Mode::Standard, 1, &[value])?;
            }
            return Ok(());
        }
        let posted: Vec<Request<_>> = (0..10)
            .map(|_| session.irecv(&IRECV, Source::Any(0..2), Single::<u32>::empty()))
            .collect::<Result<_>>()?;
        for (value, request) in posted.into_iter().enumerate().rev() {
            assert_eq!(session.wait(&WAIT, request)?.0.into_inner(), value as u32);
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn wait_any_names_one_that_is_complete() {
    run(3, |session| {
        if session.rank() != 0 {
            let value = session.rank() as u32;
            return session.send(&SEND, Mode::Standard, 0, &[value]);
        }
        let mut open = Vec::new();
        for peer in 1..3 {
            open.push(session.irecv(&IRECV, Source::Rank(peer), Single::<u32>::empty())?);
        }
        let mut seen = Vec::new();
        while !open.is_empty() {
            let names: Vec<_> = open.iter().map(Request::id).collect();
            let index = session.wait_any(&WAIT, &names)?.expect("some are open");
            let (value, status) = session.wait(&WAIT, open.remove(index))?;
            assert_eq!(value.into_inner() as usize, status.source);
            seen.push(status.source);
        }
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        assert_eq!(session.wait_any(&WAIT, &[])?, None);
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_test_says_no_until_the_message_comes() {
    let tries = run(2, |session| {
        if session.rank() == 0 {
            // Rank 1 has tested in vain before this is sent.
            session.recv::<u8, _>(&RECV_OTHER, Source::Rank(1), One::new())?;
            session.send(&SEND, Mode::Standard, 1, &[5u8])?;
            return Ok(0);
        }
        let request = session.irecv(&IRECV, Source::Rank(0), Single::<u8>::empty())?;
        assert!(!session.test(&TEST, request.id())?);
        session.send(&SEND_OTHER, Mode::Standard, 0, &[0u8])?;
        let mut tries = 1;
        while !session.test(&TEST, request.id())? {
            tries += 1;
        }
        assert_eq!(session.wait(&WAIT, request)?.0.into_inner(), 5);
        Ok(tries)
    });
    assert!(tries.unwrap()[1] >= 1);
}

#[test]
fn a_plan_starts_again_and_again() {
    run(2, |session| {
        let peer = 1 - session.rank() as i64;
        let send = session.plan_send(&ISEND, peer)?;
        let receive = session.plan_recv(&IRECV, Source::Rank(peer))?;
        let (mut out, mut into) = (vec![0u32; 1000], vec![0u32; 1000]);
        for round in 0..50 {
            out.fill(round);
            let received = session.start_recv(&IRECV, &receive, into)?;
            let sent = session.start_send(&ISEND, &send, out)?;
            session.wait_all(&WAIT, &[sent.id(), received.id()])?;
            out = session.wait(&WAIT, sent)?.0;
            into = session.wait(&WAIT, received)?.0;
            assert_eq!(into, vec![round; 1000]);
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn decisions_reach_the_others_and_never_wait() {
    static CHOOSE: Operation = operation("choose", "", 0, 23);
    static OFFER: Operation = operation("offer", "", 0, 24);
    let learnt = run_buffering(3, Buffering::None, |session| {
        let mut labels = Vec::new();
        for label in 0..20 {
            if session.rank() == 0 {
                session.choose(&CHOOSE, 0..3, label)?;
            } else {
                labels.push(session.offer(&OFFER, 0)?);
            }
        }
        Ok(labels)
    });
    let all: Vec<u32> = (0..20).collect();
    assert_eq!(learnt.unwrap(), [vec![], all.clone(), all]);
}

/// A request is a name, so to lose it is nothing: the buffer is the session's until `run` is over,
/// and the program's again then. Rank 1 sends at about that time.
#[test]
fn a_request_that_nobody_waits_for_ends_with_the_run() {
    for _ in 0..50 {
        let mut data = vec![0u32; 5000];
        let slot = std::sync::Mutex::new(Some(&mut data[..]));
        let outcome = threads(2, |world| {
            if world.rank() == 1 {
                return with(&world, |session| {
                    session.recv::<u8, _>(&RECV_OTHER, Source::Rank(0), One::new())?;
                    session.send(&SEND, Mode::Buffered, 0, vec![1u32; 5000])
                });
            }
            let slice = slot.lock().unwrap().take().unwrap();
            with(&world, |session| {
                let _lost = session.irecv(&IRECV, Source::Rank(1), slice)?;
                session.send(&SEND_OTHER, Mode::Standard, 1, &[0u8])
            })
        });
        outcome.unwrap();
        // Whether the message came in time is open; half of it must not be there.
        assert!(data.iter().all(|&value| value == data[0]));
    }
}

/// A lent buffer is freed while the message is in the receiver's queue: the receiver must not see
/// it any more.
#[test]
fn a_cancelled_send_is_never_received() {
    for _ in 0..50 {
        let outcome = threads(2, |world| {
            with(&world, |session| {
                if session.rank() == 0 {
                    let data = vec![3u64; 10_000];
                    let _lost = session.isend(&ISEND, Mode::Standard, 1, data)?;
                    return Err(Error::other("rank 0 gives up"));
                }
                let mut data = vec![0u64; 10_000];
                let result = session.recv(&RECV, Source::Rank(0), &mut data[..]);
                match result {
                    Ok(_) => assert!(data.iter().all(|&value| value == 3)),
                    Err(_) => assert!(data.iter().all(|&value| value == 0)),
                }
                result.map(drop)
            })
        });
        assert!(outcome.unwrap_err().to_string().contains("rank 0 gives up"));
    }
}
