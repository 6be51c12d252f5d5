//! Which receive a message is for, where MPI cannot say it alone, and what a rank does for others
//! while it waits: cases in which the order of two steps decides, one after the other.
//!
// run: -n 4, ends
// run: -n 3, ends
// run: P2P_WATCH=5 -n 4, ends
// run: P2P_NODES=2 -n 4, ends
// run: OMPI_MCA_btl_vader_single_copy_mechanism=none -n 2, ends
// run: -n 2 truncated, fails: rank 1 cannot receive, in `recv(0, Block)`

use std::time::Duration;

use p2p::session::{
    self, Fresh, Mode, Operation, Protocol, Request, RequestId, Session, Source, Status,
};
use p2p::{Result, World};

const fn operation(text: &'static str, verb: &'static str, tag: i32, line: u32) -> Operation {
    let (communicator, file, column) = (0, "matching.rs", 1);
    Operation { text, verb, message: "Block", tag, communicator, file, line, column }
}

static PROTOCOL: Protocol = Protocol {
    name: "matching",
    fingerprint: 1,
    communicators: 1,
    join: operation("join", "join", 0, 1),
};
static SEND: Operation = operation("send(_, Block)", "send", 0, 2);
static RECV: Operation = operation("recv(0, Block)", "recv", 0, 3);
static SEND_OTHER: Operation = operation("send(_, Other)", "send", 1, 4);
static RECV_OTHER: Operation = operation("recv(_, Other)", "recv", 1, 5);
static PROBE: Operation = operation("probe(_)", "probe", 0, 6);
static WAIT: Operation = operation("wait", "wait", 0, 7);
static BARRIER: Operation = operation("barrier", "barrier", 0, 8);

fn send(session: &mut Session<'_>, peer: usize, numbers: &[u64]) -> Result<()> {
    session.send(&SEND, Mode::Standard, peer as i64, numbers)
}

/// The last rank waits for a word of `source`.
fn word_from(session: &mut Session<'_>, source: usize) -> Result<()> {
    let source = Source::Rank(source as i64);
    session.recv::<u64, _>(&RECV_OTHER, source, Fresh::new()).map(drop)
}

fn word_to(session: &mut Session<'_>, peer: usize) -> Result<()> {
    session.send(&SEND_OTHER, Mode::Standard, peer as i64, &[0_u64])
}

/// Of receives from some of the ranks the first that was posted takes the first message, whenever
/// that comes.
fn the_first_receive_takes_the_first_message(session: &mut Session<'_>) -> Result<()> {
    const MESSAGES: u64 = 200;
    let last = session.size() - 1;
    for _round in 0..20 {
        if session.rank() == 0 {
            for number in 0..MESSAGES {
                send(session, last, &[number])?;
            }
        }
        if session.rank() == last {
            let from = || Source::Any(0..last as i64 - 1);
            let posted = (0..MESSAGES).map(|_| session.irecv::<u64, _>(&RECV, from(), vec![0]));
            let posted = posted.collect::<Result<Vec<_>>>()?;
            for (number, receive) in (0..).zip(posted) {
                let (data, _) = session.wait::<u64, Vec<u64>>(&WAIT, receive)?;
                assert_eq!(data, [number]);
            }
        }
        session.barrier(&BARRIER)?;
    }
    Ok(())
}

/// A receive from some holds up a later one only as far as both are for the same message.
fn a_receive_that_is_open_leaves_what_it_does_not_accept(session: &mut Session<'_>) -> Result<()> {
    let last = session.size() - 1;
    match session.rank() {
        0 => send(session, last, &[5])?,
        1 => {
            word_from(session, last)?;
            send(session, last, &[6])?;
        }
        rank if rank == last => {
            let open = session.irecv::<u64, _>(&RECV, Source::Any(1..last as i64), vec![0])?;
            assert_eq!(session.probe::<u64>(&PROBE, Source::Any(0..2))?.source, 0);
            let (data, _) = session.recv::<u64, _>(&RECV, Source::Any(0..2), Fresh::new())?;
            assert_eq!(data, [5]);
            word_to(session, 1)?;
            assert_eq!(session.wait::<u64, Vec<u64>>(&WAIT, open)?.0, [6]);
        }
        _ => {}
    }
    session.barrier(&BARRIER)
}

/// What a rank sends itself is not for a receive from all others, not even the first time.
fn a_message_to_itself_is_not_from_another(session: &mut Session<'_>) -> Result<()> {
    for length in [1_usize, 10_000] {
        if session.rank() == 0 {
            let others = Source::Any(1..session.size() as i64);
            let open = session.irecv::<u64, _>(&RECV, others, vec![0; length])?;
            let own = session.isend::<u64, _>(&SEND, Mode::Standard, 0, vec![7; length])?;
            let (data, _) = session.recv::<u64, _>(&RECV, Source::Rank(0), Fresh::new())?;
            assert_eq!(data, vec![7; length]);
            session.wait::<u64, Vec<u64>>(&WAIT, own)?;
            word_to(session, 1)?;
            assert_eq!(session.wait::<u64, Vec<u64>>(&WAIT, open)?.0, vec![8; length]);
        } else if session.rank() == 1 {
            word_from(session, 0)?;
            send(session, 0, &vec![8; length])?;
        }
    }
    session.barrier(&BARRIER)
}

/// Elements without bytes are counted, however many there are.
fn elements_without_bytes_are_counted(session: &mut Session<'_>) -> Result<()> {
    for count in [0_usize, 1, 60, 61, 62, 5000, 100_000] {
        if session.rank() == 0 {
            session.send(&SEND, Mode::Standard, 1, vec![(); count])?;
            session.send(&SEND, Mode::Buffered, 1, vec![(); count])?;
        } else if session.rank() == 1 {
            let (data, _) = session.recv::<(), _>(&RECV, Source::Rank(0), Fresh::new())?;
            assert_eq!(data.len(), count);
            assert_eq!(session.probe::<()>(&PROBE, Source::Rank(0))?.count, count);
            let (data, _) = session.recv::<(), _>(&RECV, Source::Any(0..2), Fresh::new())?;
            assert_eq!(data.len(), count);
        }
    }
    session.barrier(&BARRIER)
}

/// A rank that waits for a long message to be taken lets MPI send what it has begun to send before.
fn what_was_begun_goes_on_while_a_rank_waits(session: &mut Session<'_>) -> Result<()> {
    if session.rank() == 1 {
        let begun = session.isend::<u64, _>(&SEND, Mode::Standard, 0, vec![1; 1200])?;
        session.send(&SEND_OTHER, Mode::Standard, 0, vec![2_u64; 1_000_000])?;
        session.wait::<u64, Vec<u64>>(&WAIT, begun)?;
    } else if session.rank() == 0 {
        std::thread::sleep(Duration::from_millis(100));
        let mut data = [0_u64; 1200];
        session.recv(&RECV, Source::Rank(1), &mut data[..])?;
        assert_eq!(data, [1; 1200]);
        word_from(session, 1)?;
    }
    session.barrier(&BARRIER)
}

/// Where one of several receives fails, the others go on, and the error is that of the one, in
/// whichever order they are waited for.
fn one_of_two_receives_fails(session: &mut Session<'_>) -> Result<()> {
    for in_order in [true, false] {
        if session.rank() == 0 {
            send(session, 1, &[1, 2])?;
            std::thread::sleep(Duration::from_millis(100));
            word_to(session, 1)?;
        } else if session.rank() == 1 {
            let short = session.irecv::<u64, _>(&RECV, Source::Rank(0), vec![0])?;
            let later = session.irecv::<u64, _>(&RECV_OTHER, Source::Rank(0), vec![1])?;
            let both = [short.id(), later.id()];
            session.wait_all(&WAIT, &if in_order { both } else { [both[1], both[0]] })?;
            assert_eq!(session.wait::<u64, Vec<u64>>(&WAIT, later)?.0, [0]);
            let failed = session.wait::<u64, Vec<u64>>(&WAIT, short);
            match in_order {
                true => assert!(failed.is_err_and(|error| error.to_string().contains("has room"))),
                false => drop(failed?),
            }
        }
        session.barrier(&BARRIER)?;
    }
    Ok(())
}

/// Requests are waited for all at once or one by one, in any order and more than once, with others
/// open before and after them, and each has its own buffer and status.
fn requests_are_waited_for_in_every_way(session: &mut Session<'_>) -> Result<()> {
    const WINDOW: usize = 5;
    let (rank, peer) = (session.rank(), session.rank() ^ 1);
    if rank > 1 {
        return session.barrier(&BARRIER);
    }
    let from = || Source::Rank(peer as i64);
    let open = session.irecv::<u64, _>(&RECV_OTHER, from(), vec![0])?;
    for way in 0..7 {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for step in 0..2 * WINDOW {
            // Side by side, or in turns.
            let (number, sends_now) = match way {
                4 => (step / 2, step % 2 == 1),
                _ => (step % WINDOW, step >= WINDOW),
            };
            if sends_now {
                let data = vec![number as u64; number % 4];
                sends.push(session.isend(&SEND, Mode::Standard, peer as i64, data)?);
            } else {
                receives.push(session.irecv::<u64, _>(&RECV, from(), vec![9; 4])?);
            }
        }
        let turned = |ids: Vec<RequestId>| ids.into_iter().rev().collect::<Vec<_>>();
        let ids = |requests: &[Request<_>]| requests.iter().map(Request::id).collect::<Vec<_>>();
        match way {
            0 => session.wait_all(&WAIT, &ids(&receives))?,
            1 => session.wait_all(&WAIT, &turned(ids(&receives)))?,
            2 => while !session.test(&WAIT, receives[2].id())? {},
            3 => assert!(session.wait_any(&WAIT, &ids(&sends))?.is_some()),
            _ => {}
        }
        let expected = |number: usize| {
            let mut data = vec![9; 4];
            data[..number % 4].fill(number as u64);
            (data, Status { source: peer, count: number % 4 })
        };
        let mut came = Vec::new();
        if way == 5 {
            let third = receives.remove(2);
            session.wait_each::<u64, _>(&WAIT, &mut receives, |it| came.push(it))?;
            came.insert(2, session.wait(&WAIT, third)?);
        } else if way % 2 == 0 {
            session.wait_each::<u64, _>(&WAIT, &mut receives, |it| came.push(it))?;
        } else {
            for receive in receives.drain(..).rev() {
                came.insert(0, session.wait::<u64, _>(&WAIT, receive)?);
            }
        }
        assert_eq!(came, (0..WINDOW).map(expected).collect::<Vec<_>>());
        let mut sent = Vec::new();
        session.wait_each::<u64, _>(&WAIT, &mut sends, |it| sent.push(it))?;
        assert!(sends.is_empty() && sent.iter().all(|(data, it)| it.count == data.len()));
    }
    word_to(session, peer)?;
    assert_eq!(session.wait::<u64, Vec<u64>>(&WAIT, open)?.0, [0]);
    session.barrier(&BARRIER)
}

fn steps(world: &World, truncated: bool) -> Result<()> {
    session::run(session::join(world, &PROTOCOL, &[])?, |session| {
        if truncated {
            return one_of_two_receives_fails(session);
        }
        what_was_begun_goes_on_while_a_rank_waits(session)?;
        a_message_to_itself_is_not_from_another(session)?;
        elements_without_bytes_are_counted(session)?;
        requests_are_waited_for_in_every_way(session)?;
        if session.size() > 2 {
            the_first_receive_takes_the_first_message(session)?;
            a_receive_that_is_open_leaves_what_it_does_not_accept(session)?;
        }
        Ok(())
    })
}

fn main() -> Result<()> {
    let truncated = std::env::args().nth(1).as_deref() == Some("truncated");
    p2p::launch(|world| steps(&world, truncated))
}

#[test]
fn every_message_is_for_the_receive_that_it_belongs_to() -> Result<()> {
    p2p::launch(|world| steps(&world, false))
}
