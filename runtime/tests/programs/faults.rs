//! A rank that fails takes the others with it, and is named.
//!
//! Rank 0 hands out work and waits for the answers, so that all wait for rank 2, which goes wrong in
//! the way that the argument says. A second one, `large`, makes the messages so long that they do not
//! travel as they are.
//!
// run: -n 4, ends
// run: -n 4 error, fails: rank 2: the disk is full
// run: -n 4 panic, fails: rank 2 panicked
// run: -n 4 truncated, fails: rank 2 cannot receive, in `recv(0, Work)`
// run: -n 4 parameter, fails: rank 2 joins protocol `farm`
// run: -n 4 version, fails: rank 2 joins protocol `farm`
// run: -n 4 before, fails: rank 2: no input
// run: -n 4 left-out, fails: rank 2 was given a role, in `join(farm)`
// run: mpi: -n 4 killed, fails: signal 9
// run: mpi: -n 4 exit, fails: rank 2 has ended its process before its closure had ended
// run: -n 4 none large, ends
// run: -n 4 error large, fails: rank 2: the disk is full
// run: -n 4 panic large, fails: rank 2 panicked
// run: -n 4 truncated large, fails: rank 2 cannot receive, in `recv(0, Work)`
// run: mpi: -n 4 killed large, fails: signal 9

use std::process::Command;

use p2p::{Error, World, p2p_protocol};

const STEPS: usize = 20;
/// How many numbers a message has.
const SMALL: usize = 64;
const LARGE: usize = 1 << 19;

/// The work and the answers.
#[p2p_protocol(ranks = 2..)]
pub mod farm {
    /// Numbers to add up.
    pub type Work = [u64];
    /// Their sum.
    pub type Answer = u64;

    #[rank(0)]
    fn root(steps: usize) {
        for _step in 0..steps {
            for worker in 1..size {
                send(worker, Work);
            }
            for worker in 1..size {
                recv(worker, Answer);
            }
        }
    }

    #[rank(1..)]
    fn worker(steps: usize) {
        for _step in 0..steps {
            recv(0, Work);
            send(0, Answer);
        }
    }
}

/// The same as it was before the answers were counted.
mod earlier {
    use p2p::p2p_protocol;

    /// Work alone.
    #[p2p_protocol(ranks = 2..)]
    pub mod farm {
        /// Numbers to look at.
        pub type Work = [u64];

        #[rank(0)]
        fn root(steps: usize) {
            for _step in 0..steps {
                for worker in 1..size {
                    send(worker, Work);
                }
            }
        }

        #[rank(1..)]
        fn worker(steps: usize) {
            for _step in 0..steps {
                recv(0, Work);
            }
        }
    }
}

/// What goes wrong on rank 2.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    Error,
    Panic,
    Truncated,
    Parameter,
    Version,
    Before,
    LeftOut,
    Killed,
    Exit,
}

fn main() -> p2p::Result<()> {
    let fault = match std::env::args().nth(1).as_deref() {
        None | Some("none") => Fault::None,
        Some("error") => Fault::Error,
        Some("panic") => Fault::Panic,
        Some("truncated") => Fault::Truncated,
        Some("parameter") => Fault::Parameter,
        Some("version") => Fault::Version,
        Some("before") => Fault::Before,
        Some("left-out") => Fault::LeftOut,
        Some("killed") => Fault::Killed,
        Some("exit") => Fault::Exit,
        Some(other) => return Err(Error::other(format!("`{other}` is no fault"))),
    };
    let length = if std::env::args().nth(2).is_some() { LARGE } else { SMALL };
    p2p::launch(|world| {
        let fault = if world.rank() == 2 { fault } else { Fault::None };
        rank(&world, length, fault)
    })
}

fn rank(world: &World, length: usize, fault: Fault) -> p2p::Result<()> {
    let steps = match fault {
        Fault::Before => return Err(Error::other("no input")),
        Fault::Version => return join_earlier(world),
        Fault::Parameter => STEPS + 1,
        _ => STEPS,
    };
    match farm::join(world, farm::Parameters { steps })? {
        _ if fault == Fault::LeftOut => Ok(()),
        farm::Role::Root(root) => root.run(|s| {
            let work: Vec<u64> = (0..length as u64).collect();
            s.for_each_step(|_, s| {
                let s = s.for_each_worker(|_, s| s.send_work(&work))?;
                s.for_each_worker(|_, s| {
                    let (answer, s) = s.recv_answer()?;
                    assert_eq!(answer, work.iter().sum::<u64>());
                    Ok(s)
                })
            })
        }),
        farm::Role::Worker(worker) => worker.run(|s| {
            let mut work = vec![0; length];
            s.for_each_step(|step, s| {
                if step == STEPS / 2 {
                    strike(fault)?;
                }
                let room = if fault == Fault::Truncated { length - 1 } else { length };
                s.recv_work(&mut work[..room])?.send_answer(work.iter().sum())
            })
        }),
    }
}

fn join_earlier(world: &World) -> p2p::Result<()> {
    earlier::farm::join(world, earlier::farm::Parameters { steps: STEPS }).map(drop)
}

/// What the fault is, in the middle of everything.
fn strike(fault: Fault) -> p2p::Result<()> {
    match fault {
        Fault::Error => Err(Error::other("the disk is full")),
        Fault::Panic => panic!("index 7 is out of bounds"),
        Fault::Killed => {
            let own = std::process::id().to_string();
            Command::new("kill").args(["-9", &own]).status()?;
            Ok(())
        }
        // With a status that launchers take for success.
        Fault::Exit => std::process::exit(0),
        _ => Ok(()),
    }
}
