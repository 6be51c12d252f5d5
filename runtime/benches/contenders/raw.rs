//! The session's calls, which the typed steps are made of.

use p2p::session::{self, Fresh, Mode, One, Operation, Protocol, Session, Source};
use p2p::{Result, World};

use super::{MEGABYTE, Sample, pin, time, warm_up};

static PROTOCOL: Protocol = Protocol {
    name: "benchmark",
    fingerprint: 1,
    communicators: 1,
    join: operation("join(benchmark)", "join"),
};
static SEND: Operation = operation("send(peer, Token)", "send");
static RECV: Operation = operation("recv(peer, Token)", "recv");

const fn operation(text: &'static str, verb: &'static str) -> Operation {
    let (message, file) = ("Token", file!());
    Operation { text, verb, message, tag: 0, communicator: 0, file, line: 1, column: 1 }
}

/// Runs `ranks` ranks; rank 0's sample counts.
fn run(ranks: usize, steps: impl Fn(&mut Session<'_>) -> Result<Option<Sample>> + Sync) -> Sample {
    let rank = |world: World| {
        let joined = session::join(&world, &PROTOCOL, &[])?;
        session::run(joined, |session| steps(session))
    };
    let samples = p2p::threads(ranks, rank).expect("the exchange is right");
    samples[0].expect("rank 0 measures")
}

/// One rank that sends to itself: no other thread has a part in what that costs.
pub(crate) fn alone(trips: u32) -> Sample {
    run(1, |session| {
        Ok(Some(time(trips, || {
            session.send(&SEND, Mode::Buffered, 0, &[7u32]).expect("the peer is there");
            assert_eq!(recv(session, 0), 7);
        })))
    })
}

fn send(session: &mut Session<'_>, peer: i64, value: u32) {
    session.send(&SEND, Mode::Standard, peer, &[value]).expect("the peer is there");
}

fn recv(session: &mut Session<'_>, peer: i64) -> u32 {
    let source = Source::Rank(peer);
    session.recv(&RECV, source, One::new()).expect("the peer is there").0
}

/// Ranks 0 and 1, 2 and 3, and so on.
fn pairs(ranks: usize, trips: u32, place: fn(usize)) -> Sample {
    run(ranks, |session| {
        place(session.rank());
        let peer = session.rank() as i64 ^ 1;
        if session.rank() % 2 == 0 {
            return Ok(Some(time(trips, || {
                send(session, peer, 7);
                assert_eq!(recv(session, peer), 7);
            })));
        }
        for _ in 0..trips + warm_up(trips) {
            let value = recv(session, peer);
            send(session, peer, value);
        }
        Ok(None)
    })
}

pub(crate) fn pair(trips: u32) -> Sample {
    pairs(2, trips, |_| ())
}

pub(crate) fn pinned_pair(trips: u32) -> Sample {
    pairs(2, trips, pin)
}

pub(crate) fn two_pairs(trips: u32) -> Sample {
    pairs(4, trips, |_| ())
}

pub(crate) fn ring(trips: u32) -> Sample {
    run(4, |session| {
        let (before, after) = ((session.rank() as i64 + 3) % 4, (session.rank() as i64 + 1) % 4);
        if session.rank() == 0 {
            return Ok(Some(time(trips, || {
                send(session, after, 7);
                assert_eq!(recv(session, before), 7);
            })));
        }
        for _ in 0..trips + warm_up(trips) {
            let value = recv(session, before);
            send(session, after, value);
        }
        Ok(None)
    })
}

pub(crate) fn moved(trips: u32) -> Sample {
    moved_after(trips, |_| ())
}

pub(crate) fn pinned_moved(trips: u32) -> Sample {
    moved_after(trips, pin)
}

fn moved_after(trips: u32, place: fn(usize)) -> Sample {
    fn recv(session: &mut Session<'_>, peer: i64) -> Vec<f32> {
        let source = Source::Rank(peer);
        session.recv(&RECV, source, Fresh::new()).expect("the peer is there").0
    }
    run(2, |session| {
        place(session.rank());
        let peer = 1 - session.rank() as i64;
        let send = |session: &mut Session<'_>, data: Vec<f32>| {
            session.send(&SEND, Mode::Standard, peer, data).expect("the peer is there");
        };
        if session.rank() == 0 {
            let mut data = Some(vec![1.0; MEGABYTE]);
            return Ok(Some(time(trips, || {
                send(session, data.take().expect("it came back"));
                data = Some(recv(session, peer));
            })));
        }
        for _ in 0..trips + warm_up(trips) {
            let data = recv(session, peer);
            send(session, data);
        }
        Ok(None)
    })
}
