//! Ranks that leave early, and ranks that do not start alike.

use p2p::session::{Error, Mode, One, Single, Source};
use p2p::{Launch, threads};

use super::*;

#[test]
fn an_error_reaches_all_who_wait() {
    let seen = std::sync::Mutex::new(Vec::new());
    let error = run(3, |session| {
        if session.rank() == 2 {
            session.send(&SEND, Mode::Standard, 0, &[1u8])?;
            return Err::<(), _>(Error::other("the disk is full"));
        }
        let waited = session.recv::<u8, _>(&RECV_OTHER, Source::Rank(2), One::new());
        let error = waited.unwrap_err();
        let Error::PeerGone { rank: 2, at } = &error else { panic!("{error}") };
        seen.lock().unwrap().push(at.operation().unwrap().line);
        Err(error)
    })
    .unwrap_err();
    assert_eq!(error.to_string(), "rank 2: the disk is full");
    assert_eq!(*seen.lock().unwrap(), [2, 2]);
}

#[test]
fn a_panic_reaches_all_who_wait_and_names_its_rank() {
    let error = run(3, |session| {
        if session.rank() == 1 {
            session.send(&SEND, Mode::Standard, 0, &[1u8])?;
            panic!("index {} out of bounds", 7);
        }
        let error = session.barrier(&BARRIER).unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        Err::<(), _>(error)
    })
    .unwrap_err();
    let Error::Panicked { rank: 1, text, at } = &error else { panic!("{error}") };
    assert_eq!(text, "index 7 out of bounds");
    assert_eq!(at.operation(), Some(&SEND));
}

/// A rank unwinds with requests open in both directions, while others wait for it or copy from it.
#[test]
fn a_panic_with_requests_open_leaves_nothing_behind() {
    for round in 0..100 {
        let error = run(3, |session| {
            let peers: Vec<i64> = (0..3).filter(|&peer| peer != session.rank() as i64).collect();
            for &peer in &peers {
                let data = vec![7u64; 5000];
                let _forgotten = session.isend(&SEND, Mode::Standard, peer, data)?;
            }
            if session.rank() == 0 && round % 2 == 0 {
                panic!("early");
            }
            for &peer in &peers {
                let into = vec![0u64; 5000];
                let request = session.irecv(&RECV, Source::Rank(peer), into)?;
                if session.rank() != 0 {
                    let (data, _) = session.wait(&WAIT, request)?;
                    assert!(data.iter().all(|&value| value == 7));
                }
            }
            if session.rank() == 0 {
                panic!("late");
            }
            session.barrier(&BARRIER)
        })
        .unwrap_err();
        assert!(matches!(error, Error::Panicked { rank: 0, .. }), "{error}");
    }
}

#[test]
fn a_rank_that_leaves_before_it_joins_is_named() {
    let error = threads(2, |world| {
        if world.rank() == 0 {
            return Err::<(), _>(Error::other("no input"));
        }
        let error = with(&world, |_| Ok(())).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("rank 0 left early, before its first step"), "{text}");
        Err(error)
    })
    .unwrap_err();
    assert_eq!(error.to_string(), "rank 0: no input");
}

#[test]
fn an_error_that_a_rank_has_handled_still_ends_the_others() {
    let results = threads(2, |world| {
        let result = with(&world, |session| {
            if session.rank() == 0 {
                return Err(Error::other("gives up"));
            }
            session.recv::<u8, _>(&RECV, Source::Rank(0), One::new()).map(drop)
        });
        Ok(result.unwrap_err().to_string())
    })
    .unwrap();
    assert_eq!(results[0], "gives up");
    assert!(results[1].starts_with("rank 0 left early"), "{}", results[1]);
}

#[test]
fn ranks_that_join_differently_get_the_same_error() {
    static OTHER: Protocol = Protocol {
        name: "other",
        fingerprint: 2,
        communicators: 1,
        join: operation("join", "", 0, 60),
    };
    let join = |protocol: fn(usize) -> &'static Protocol, value: fn(usize) -> i64| {
        threads(3, |world| {
            let parameters = [("steps", value(world.rank()))];
            let joined = session::join(&world, protocol(world.rank()), &parameters);
            Ok(joined.err().map(|error| error.to_string()))
        })
        .unwrap()
    };
    let same = join(|_| &PROTOCOL, |_| 3);
    assert_eq!(same, [None, None, None]);
    let parameters = join(|_| &PROTOCOL, |rank| 3 + (rank == 2) as i64);
    let text = parameters[0].clone().unwrap();
    assert!(text.contains("steps = 3") && text.contains("but rank 2 joins"), "{text}");
    assert!(text.contains("steps = 4"), "{text}");
    assert!(parameters.iter().all(|other| other.as_ref() == Some(&text)));
    let protocols = join(|rank| if rank == 1 { &OTHER } else { &PROTOCOL }, |_| 3);
    let text = protocols[0].clone().unwrap();
    assert!(text.contains("`test`") && text.contains("`other`"), "{text}");
    assert!(protocols.iter().all(|other| other.as_ref() == Some(&text)));
}

#[test]
fn a_role_that_is_dropped_is_missed() {
    let error = threads(2, |world| {
        let joined = session::join(&world, &PROTOCOL, &[])?;
        if world.rank() == 0 {
            drop(joined);
            return Ok(());
        }
        session::run(joined, |session| {
            let request = session.irecv(&RECV, Source::Rank(0), Single::<u8>::empty())?;
            session.wait(&WAIT, request).map(drop)
        })
    })
    .unwrap_err();
    let Error::Deadlock(report) = &error else { panic!("{error}") };
    assert_eq!(report.rule(), "rank-left-waiting");
}

#[test]
fn no_ranks_is_an_error_and_so_are_too_many() {
    for ranks in [0, 1_000_000] {
        let error = Launch::new().ranks(ranks).run(|_| Ok(())).unwrap_err();
        assert!(matches!(error, Error::Launch { .. }), "{error}");
    }
}
