//! How the engine's time grows with the number of events: ring and all-pairs over 4096 ranks.
//!
//! Prints one Markdown table; `cargo xtask bench engine` runs it.
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use p2p_protocol::engine::{Judge, Options};
use p2p_protocol::model::{
    Action, Behaviour, Communicator, Completion, Data, Datatype, Envelope, Event, Mode, Peer,
    Place, Tag, World,
};

const RANKS: u32 = 4096;
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const ROUNDS: usize = 5;

/// Makes a world of so many events.
type Shape = fn(usize) -> World;

fn main() {
    let shapes: [(&str, Shape); 2] = [("ring", ring), ("all-pairs", all_pairs)];
    println!("| world | events | median | per event | peak memory |");
    println!("| --- | --- | --- | --- | --- |");
    for (name, shape) in shapes {
        let times: Vec<(usize, Duration)> =
            SIZES.iter().map(|&events| measure(name, &shape(events))).collect();
        let (first, last) = (times[0], times[times.len() - 1]);
        let exponent = (last.1.as_secs_f64() / first.1.as_secs_f64()).ln()
            / (last.0 as f64 / first.0 as f64).ln();
        println!("| {name} | growth | time ~ events^{exponent:.2} | | |");
    }
    println!("\nTarget: 1,000,000 events in under 1 s and 1 GiB, exponent 1.");
}

fn measure(name: &str, world: &World) -> (usize, Duration) {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let mut judge = Judge::new(Options::default());
            judge.judge(world);
            let verdict = judge.finish();
            let time = start.elapsed();
            assert!(verdict.findings.is_empty(), "{:?}", verdict.findings[0]);
            time
        })
        .collect();
    times.sort_unstable();
    let (events, median) = (world.event_count(), times[ROUNDS / 2]);
    let each = median.as_secs_f64() * 1e9 / events as f64;
    println!("| {name} | {events} | {median:.1?} | {each:.0} ns | {} |", peak_memory());
    (events, median)
}

/// The most memory that this process has held so far, where the system says it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(|| "unknown".to_owned(), |peak| peak.trim().to_owned())
}

fn world(behaviours: Vec<Behaviour>) -> World {
    World {
        behaviours,
        communicators: Arc::new([Communicator::of_all("world")]),
        datatypes: Arc::new([Datatype { signature: "f64".to_owned(), bytes: Some(8) }]),
        messages: Arc::new(["Block".to_owned()]),
        ..World::default()
    }
}

fn envelope(peer: u32) -> Envelope {
    let peer = Peer::Rank(i32::try_from(peer).expect("a small rank"));
    let data =
        Data { datatype: Some(0), count: Some(512), message: Some(0), label: None, buffer: None };
    Envelope { peer, tag: Tag::Exact(0), communicator: 0, data }
}

fn behaviour(actions: Vec<Action>, requests: u32) -> Behaviour {
    let event = |(line, action)| Event { action, place: Place(line) };
    Behaviour { events: (0..).zip(actions).map(event).collect(), requests, ..Behaviour::default() }
}

/// Even ranks send first, odd ranks receive first, round after round.
fn ring(events: usize) -> World {
    let rounds = (events / (2 * RANKS as usize)).max(1);
    let rank = |rank: u32| {
        let send = Action::Send { mode: Mode::Standard, envelope: envelope((rank + 1) % RANKS) };
        let receive =
            Action::Receive { envelope: envelope((rank + RANKS - 1) % RANKS), binds: None };
        let round = if rank.is_multiple_of(2) { [send, receive] } else { [receive, send] };
        behaviour((0..rounds).flat_map(|_| round.clone()).collect(), 0)
    };
    world((0..RANKS).map(rank).collect())
}

/// Each rank exchanges with the next ones around it, all at once.
fn all_pairs(events: usize) -> World {
    let partners = u32::try_from(events / (2 * RANKS as usize)).expect("few partners").max(1);
    let rank = |rank: u32| {
        let mut actions = Vec::new();
        for step in 1..=partners {
            let envelope = envelope((rank + RANKS - step) % RANKS);
            actions.push(Action::StartReceive { envelope, request: step - 1, binds: None });
        }
        for step in 1..=partners {
            let envelope = envelope((rank + step) % RANKS);
            let request = partners + step - 1;
            actions.push(Action::StartSend { mode: Mode::Standard, envelope, request });
        }
        let requests = (0..2 * partners).collect();
        actions.push(Action::Wait { requests, completion: Completion::All });
        behaviour(actions, 2 * partners)
    };
    world((0..RANKS).map(rank).collect())
}
