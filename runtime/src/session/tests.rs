//! Every operation once, on small worlds.

use super::*;
use crate::{Buffering, Launch, World, threads};

macro_rules! operation {
    ($name:ident, $text:literal, $verb:literal, $message:literal, $tag:literal) => {
        static $name: Operation = Operation {
            text: $text,
            verb: $verb,
            message: $message,
            tag: $tag,
            communicator: 0,
            file: file!(),
            line: line!(),
            column: 1,
        };
    };
}

operation!(SEND, "send(peer, Block)", "send", "Block", 0);
operation!(RECV, "recv(peer, Block)", "recv", "Block", 0);
operation!(SEND_B, "send(peer, Other)", "send", "Other", 1);
operation!(RECV_B, "recv(peer, Other)", "recv", "Other", 1);
operation!(MEET, "barrier()", "barrier", "", 0);
operation!(FENCE, "fence()", "fence", "", 0);
operation!(WAIT, "wait(pending)", "wait", "", 0);

static PROTOCOL: Protocol = Protocol {
    name: "test",
    fingerprint: 1,
    join: Operation {
        text: "join(test)",
        verb: "join",
        message: "test",
        tag: 0,
        communicator: 0,
        file: file!(),
        line: 1,
        column: 1,
    },
};

fn with<R>(world: &World, steps: impl FnOnce(&mut Session<'_>) -> Result<R>) -> Result<R> {
    run(join(world, &PROTOCOL, &[])?, steps)
}

#[test]
fn blocking_sends_of_all_modes_and_kinds_arrive() {
    for buffering in [Buffering::Some, Buffering::None, Buffering::All] {
        let launch = Launch::new().ranks(2).buffering(buffering);
        let results = launch.run(|world| {
            with(&world, |session| {
                let mut sum = 0;
                for mode in [Mode::Standard, Mode::Synchronous, Mode::Buffered, Mode::Ready] {
                    for length in [0, 1, 4, 5, 1000, 100_000] {
                        if session.rank() == 0 {
                            let data: Vec<u64> = (0..length).collect();
                            session.send(&SEND, mode, 1, &data)?;
                            session.send(&SEND, mode, 1, data)?;
                        } else {
                            let mut data = vec![7u64; 3];
                            session.recv(&RECV, Source::Rank(0), &mut data)?;
                            assert_eq!(data, (0..length).collect::<Vec<_>>());
                            let (data, status) =
                                session.recv::<u64, _>(&RECV, Source::Any(0..2), Fresh::new())?;
                            assert_eq!(status, Status { source: 0, count: length as usize });
                            sum += data.iter().sum::<u64>();
                        }
                    }
                }
                Ok(sum)
            })
        });
        let once: u64 =
            [0u64, 1, 4, 5, 1000, 100_000].iter().map(|n| n * n.max(&1).wrapping_sub(1) / 2).sum();
        assert_eq!(results.unwrap(), [0, 4 * once]);
    }
}

#[test]
fn a_moved_vec_arrives_as_the_same_allocation() {
    let addresses = threads(2, |world| {
        with(&world, |session| {
            if session.rank() == 0 {
                let data = vec![1.5f32; 100];
                let address = data.as_ptr().addr();
                session.send(&SEND, Mode::Standard, 1, data)?;
                Ok(address)
            } else {
                let (data, _) = session.recv::<f32, _>(&RECV, Source::Rank(0), Fresh::new())?;
                assert_eq!(data, [1.5; 100]);
                Ok(data.as_ptr().addr())
            }
        })
    });
    let addresses = addresses.unwrap();
    assert_eq!(addresses[0], addresses[1]);
}

#[test]
fn two_that_receive_first_get_the_report() {
    let error = threads(2, |world| {
        with(&world, |session| {
            let peer = 1 - session.rank() as i64;
            let (value, _) = session.recv::<u32, _>(&RECV, Source::Rank(peer), One::new())?;
            session.send(&SEND, Mode::Standard, peer, &[value])
        })
    });
    let Err(Error::Deadlock(report)) = error else { panic!("{error:?}") };
    assert_eq!(report.rule(), "deadlock");
    let text = report.to_string();
    assert!(text.contains("rank 0 waits in `recv Block from rank 1` for rank 1"), "{text}");
    assert!(text.contains("rank 1 waits in `recv Block from rank 0` for rank 0"), "{text}");
}
