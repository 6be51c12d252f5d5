//! What is said when nobody can move: by rule and by who waits for whom.

use p2p::Buffering;
use p2p::session::{Error, Mode, One, Single, Source};

use super::*;

static SSEND: Operation = operation("ssend", "Block", 0, 50);
static IRECV: Operation = operation("irecv", "Other", 1, 51);
static BCAST: Operation = operation("bcast", "Block", 0, 52);
static TEST: Operation = operation("test", "", 0, 53);

/// Runs what hangs; the rule and the lines.
fn hang(
    ranks: usize,
    steps: impl Fn(&mut Session<'_>) -> Result<()> + Sync,
) -> (&'static str, Vec<String>) {
    let errors = std::sync::Mutex::new(0);
    let error = run_buffering(ranks, Buffering::None, |session| {
        steps(session).inspect_err(|error| {
            assert!(matches!(error, Error::Deadlock(_)), "{error}");
            *errors.lock().unwrap() += 1;
        })
    })
    .unwrap_err();
    let Error::Deadlock(report) = error else { panic!("{error}") };
    // Every rank that waited has the error, and nobody else.
    assert_eq!(*errors.lock().unwrap(), report.waits().len());
    (report.rule(), report.lines().to_vec())
}

fn receive(session: &mut Session<'_>, operation: &'static Operation, from: i64) -> Result<()> {
    session.recv::<u32, _>(operation, Source::Rank(from), One::new()).map(drop)
}

fn send(session: &mut Session<'_>, operation: &'static Operation, to: i64) -> Result<()> {
    let mode = if operation.verb == "ssend" { Mode::Synchronous } else { Mode::Standard };
    session.send(operation, mode, to, &[1u32])
}

#[test]
fn two_that_receive_first() {
    let (rule, lines) = hang(2, |session| {
        let peer = 1 - session.rank() as i64;
        receive(session, &RECV, peer)?;
        send(session, &SEND, peer)
    });
    assert_eq!(rule, "deadlock");
    assert_eq!(
        lines,
        [
            "rank 0 waits in `recv Block from rank 1` for rank 1 (test.rs:3)",
            "rank 1 waits in `recv Block from rank 0` for rank 0 (test.rs:3)",
            "and so back to rank 0: none can move",
        ]
    );
}

#[test]
fn a_ring_that_sends_first() {
    let ring = |send_operation: &'static Operation| {
        hang(4, move |session| {
            let rank = session.rank() as i64;
            send(session, send_operation, (rank + 1) % 4)?;
            receive(session, &RECV, (rank + 3) % 4)
        })
    };
    let (rule, lines) = ring(&SSEND);
    assert_eq!(rule, "deadlock");
    assert_eq!(lines[3], "rank 3 waits in `ssend Block to rank 0` for rank 0 (test.rs:50)");
    assert_eq!(lines.len(), 5);
    let (rule, lines) = ring(&SEND);
    assert_eq!(rule, "deadlock-unbuffered");
    assert_eq!(lines[0], "rank 0 waits in `send Block to rank 1` for rank 1 (test.rs:2)");
}

#[test]
fn a_wait_for_one_that_has_ended() {
    let (rule, lines) = hang(3, |session| match session.rank() {
        0 => receive(session, &RECV, 1),
        _ => Ok(()),
    });
    assert_eq!(rule, "rank-left-waiting");
    assert_eq!(lines, ["rank 0 waits in `recv Block from rank 1` for rank 1 (test.rs:3)"]);
    let (rule, lines) = hang(2, |session| match session.rank() {
        0 => send(session, &SSEND, 1),
        _ => Ok(()),
    });
    assert_eq!(rule, "unmatched-send");
    assert_eq!(lines, ["rank 0 waits in `ssend Block to rank 1` for rank 1 (test.rs:50)"]);
}

#[test]
fn a_wait_for_any_of_those_who_wait() {
    let (rule, lines) = hang(3, |session| match session.rank() {
        0 => session.recv::<u32, _>(&RECV, Source::Any(1..3), One::new()).map(drop),
        _ => receive(session, &RECV, 0),
    });
    assert_eq!(rule, "deadlock");
    assert!(
        lines.contains(
            &"rank 0 waits in `recv Block from any of ranks 1 and 2` for ranks 1 and 2 (test.rs:3)"
                .to_owned()
        ),
        "{lines:?}"
    );
}

#[test]
fn a_wait_for_a_request() {
    let (rule, lines) = hang(2, |session| {
        let peer = 1 - session.rank() as i64;
        let request = session.irecv(&IRECV, Source::Rank(peer), Single::<u32>::empty())?;
        if session.rank() == 0 {
            return session.wait(&WAIT, request).map(drop);
        }
        // Testing in vain counts as waiting, after a while.
        while !session.test(&TEST, request.id())? {}
        Ok(())
    });
    assert_eq!(rule, "deadlock");
    assert_eq!(
        lines[..2],
        [
            "rank 0 waits in `wait (irecv Other from rank 1)` for rank 1 (test.rs:6)",
            "rank 1 waits in `test (irecv Other from rank 0)` for rank 0 (test.rs:53)",
        ]
    );
}

#[test]
fn a_send_to_oneself() {
    let (rule, _) = hang(1, |session| send(session, &SSEND, 0));
    assert_eq!(rule, "send-to-self");
}

#[test]
fn different_collectives() {
    let (rule, lines) = hang(2, |session| match session.rank() {
        0 => session.barrier(&BARRIER),
        _ => session.bcast(&BCAST, 0, &mut [0u32; 1]),
    });
    assert_eq!(rule, "collective-order");
    assert_eq!(
        lines,
        [
            "rank 0 waits in `barrier` (test.rs:7)",
            "rank 1 waits in `bcast from root 0` (test.rs:52)",
        ]
    );
}

#[test]
fn different_roots() {
    let (rule, _) = hang(3, |session| {
        let root = if session.rank() == 2 { 1 } else { 2 };
        session.bcast(&BCAST, root, &mut [0u32; 1])
    });
    assert_eq!(rule, "collective-root");
}

#[test]
fn a_collective_that_a_rank_never_calls() {
    let (rule, lines) = hang(3, |session| match session.rank() {
        2 => Ok(()),
        _ => session.barrier(&BARRIER),
    });
    assert_eq!(rule, "collective-missing-rank");
    assert_eq!(
        lines,
        [
            "rank 0 waits in `barrier` for rank 2 (test.rs:7)",
            "rank 1 waits in `barrier` for rank 2 (test.rs:7)",
        ]
    );
}

#[test]
fn the_report_says_what_to_do() {
    let error = run(2, |session| {
        let peer = 1 - session.rank() as i64;
        receive(session, &RECV, peer)
    })
    .unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("2 ranks wait for each other, and none can move (with 2 ranks)"));
    assert!(text.contains("help: let one side receive while the other sends"), "{text}");
    assert_eq!(format!("{error:?}"), text);
}
