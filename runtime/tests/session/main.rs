//! The session on threads: every operation of the language, hangs, early leaves, and random
//! programs, by the calls that generated code makes.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]
#![allow(clippy::forget_non_drop, reason = "that nothing rests on a destructor is what is tested")]

mod blocking;
mod collectives;
mod hangs;
mod leaving;
mod requests;
mod stress;
mod windows;

use p2p::session::{self, Operation, Protocol, Session};
use p2p::{Buffering, Launch, Result, World};

/// An operation of the message `message`; the line says which one it is in a report.
const fn operation(verb: &'static str, message: &'static str, tag: i32, line: u32) -> Operation {
    Operation { text: verb, verb, message, tag, communicator: 0, file: "test.rs", line, column: 1 }
}

static PROTOCOL: Protocol =
    Protocol { name: "test", fingerprint: 1, communicators: 1, join: operation("join", "", 0, 1) };
static SEND: Operation = operation("send", "Block", 0, 2);
static RECV: Operation = operation("recv", "Block", 0, 3);
static SEND_OTHER: Operation = operation("send", "Other", 1, 4);
static RECV_OTHER: Operation = operation("recv", "Other", 1, 5);
static WAIT: Operation = operation("wait", "", 0, 6);
static BARRIER: Operation = operation("barrier", "", 0, 7);

const ALL_BUFFERINGS: [Buffering; 3] = [Buffering::Some, Buffering::None, Buffering::All];

/// Joins and runs a protocol.
fn with<'env, R>(world: &World, steps: impl FnOnce(&mut Session<'env>) -> Result<R>) -> Result<R> {
    session::run(session::join(world, &PROTOCOL, &[])?, steps)
}

/// Runs `steps` on every one of `ranks` ranks.
fn run<R: Send>(
    ranks: usize,
    steps: impl Fn(&mut Session<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    run_buffering(ranks, Buffering::Some, steps)
}

fn run_buffering<R: Send>(
    ranks: usize,
    buffering: Buffering,
    steps: impl Fn(&mut Session<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let launch = Launch::new().ranks(ranks).buffering(buffering);
    launch.run(|world| with(&world, |session| steps(session)))
}
