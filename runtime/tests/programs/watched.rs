//! What the hang watch says of waits of every kind, and of whom it says nothing: by the calls that
//! generated code makes, since no protocol that compiles does most of this.
//!
// run: P2P_WATCH=0.5 -n 3 order, fails: rank 0 calls `barrier` where rank 1 calls `bcast from root 0`
// run: P2P_WATCH=0.5 -n 3 root, fails: in `bcast`, rank 0 takes rank 2 for the root, and rank 2 takes
// run: P2P_WATCH=0.5 -n 3 any, fails: rank 0 waits in `recv Block from any of ranks 1 and 2` for ranks 1 and 2
// run: P2P_WATCH=0.5 -n 2 both, fails: rank 1 waits in `sendrecv Block to rank 0, Other from rank 0` for rank 0
// run: P2P_WATCH=0.5 -n 3 ended, fails: rank 0 waits in `ssend Block to rank 1`, but rank 1 has ended without
// run: P2P_WATCH=0.5 -n 2 tests, fails: rank 1 waits in `test (irecv Other from rank 0)` for rank 0
// run: P2P_WATCH=0.5 -n 3 polls, ends
// run: P2P_WATCH=0.5 -n 3 slowly, ends

use std::time::Duration;

use p2p::session::{self, Mode, One, Operation, Protocol, Session, Single, Source};
use p2p::{Error, Result};

/// An operation of the message `message`; the line says which one it is in a report.
const fn operation(verb: &'static str, message: &'static str, tag: i32, line: u32) -> Operation {
    Operation::new(verb, verb, message, tag, 0, "test.rs", line, 1)
}

static PROTOCOL: Protocol =
    Protocol { name: "test", fingerprint: 1, communicators: 1, join: operation("join", "", 0, 1) };
static SSEND: Operation = operation("ssend", "Block", 0, 2);
static RECV: Operation = operation("recv", "Block", 0, 3);
static IRECV: Operation = operation("irecv", "Other", 1, 4);
static SEND_OTHER: Operation = operation("send", "Other", 1, 5);
static RECV_OTHER: Operation = operation("recv", "Other", 1, 6);
static WAIT: Operation = operation("wait", "", 0, 7);
static TEST: Operation = operation("test", "", 0, 8);
static BARRIER: Operation = operation("barrier", "", 0, 9);
static BCAST: Operation = operation("bcast", "Block", 0, 10);

fn main() -> Result<()> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let steps: fn(&mut Session<'_>) -> Result<()> = match &*what {
        "order" => order,
        "root" => root,
        "any" => any,
        "both" => both,
        "ended" => ended,
        "tests" => tests,
        "polls" => polls,
        "slowly" => slowly,
        other => return Err(Error::other(format!("`{other}` is nothing to watch"))),
    };
    p2p::launch(|world| session::run(session::join(&world, &PROTOCOL, &[])?, steps))
}

fn send(session: &mut Session<'_>, to: i64) -> Result<()> {
    session.send(&SSEND, Mode::Synchronous, to, &[1u32])
}

fn receive(session: &mut Session<'_>, from: Source) -> Result<()> {
    session.recv::<u32, _>(&RECV, from, One::new()).map(drop)
}

fn order(session: &mut Session<'_>) -> Result<()> {
    match session.rank() {
        1 => session.bcast(&BCAST, 0, &mut [0u32]),
        _ => session.barrier(&BARRIER),
    }
}

fn root(session: &mut Session<'_>) -> Result<()> {
    let root = if session.rank() == 2 { 1 } else { 2 };
    session.bcast(&BCAST, root, &mut [0u32])
}

fn any(session: &mut Session<'_>) -> Result<()> {
    match session.rank() {
        0 => receive(session, Source::Any(1..3)),
        _ => receive(session, Source::Rank(0)),
    }
}

/// Rank 0 expects another message than the one that is sent.
fn both(session: &mut Session<'_>) -> Result<()> {
    if session.rank() == 0 {
        return receive(session, Source::Rank(1));
    }
    let (to, from) = ((&SSEND, 0), (&RECV_OTHER, Source::Rank(0)));
    session.sendrecv(to, &[1u32], from, &mut [0u32]).map(drop)
}

fn ended(session: &mut Session<'_>) -> Result<()> {
    match session.rank() {
        0 => send(session, 1),
        _ => Ok(()),
    }
}

/// Rank 1 only tests, and rank 0 waits for it.
fn tests(session: &mut Session<'_>) -> Result<()> {
    if session.rank() == 0 {
        return receive(session, Source::Rank(1));
    }
    let request = session.irecv(&IRECV, Source::Rank(0), Single::<u32>::empty())?;
    while !session.test(&TEST, request.id())? {}
    Ok(())
}

/// Rank 0 computes, tests now and then, and has much to say in the end, while all wait for it.
fn polls(session: &mut Session<'_>) -> Result<()> {
    let rank = session.rank();
    if rank > 0 {
        receive(session, Source::Rank(0))?;
        return session.send(&SEND_OTHER, Mode::Standard, 0, &[rank as u32]);
    }
    let request = session.irecv(&IRECV, Source::Rank(1), Single::<u32>::empty())?;
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(40));
        assert!(!session.test(&TEST, request.id())?);
    }
    send(session, 2)?;
    session.recv::<u32, _>(&RECV_OTHER, Source::Rank(2), One::new())?;
    send(session, 1)?;
    session.wait(&WAIT, request).map(drop)
}

/// Everybody waits long, again and again, and somebody always computes.
fn slowly(session: &mut Session<'_>) -> Result<()> {
    for turn in 0..6 {
        let (rank, size) = (session.rank(), session.size());
        if turn % size == rank {
            std::thread::sleep(Duration::from_millis(700));
        }
        session.barrier(&BARRIER)?;
    }
    Ok(())
}
