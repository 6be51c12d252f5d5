//! What the engine says of a world is what happens when threads run it: a world that cannot hang
//! never ends in [`Error::Deadlock`], one that always hangs always does, and nothing ever hangs
//! for real.

// The worlds are those that the engine's own tests draw.
#[path = "../../../protocol/tests/engine_truth/actions.rs"]
mod actions;
#[allow(dead_code, reason = "the engine's tests write more worlds by hand")]
#[path = "../../../protocol/tests/engine_truth/build.rs"]
mod build;
#[allow(dead_code, reason = "the engine's tests make worlds smaller")]
#[path = "../../../protocol/tests/engine_truth/edit.rs"]
mod edit;
mod player;
#[path = "../../../protocol/tests/engine_truth/sample.rs"]
mod sample;
#[path = "../../../protocol/tests/engine_truth/show.rs"]
mod show;
#[path = "../../../protocol/tests/engine_truth/talks.rs"]
mod talks;
#[path = "../../../protocol/tests/engine_truth/worlds.rs"]
mod worlds;

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use p2p::session::{Operation, Protocol, join};
use p2p::{Buffering, Error, Launch};
use p2p_protocol::engine::{Limits, Outcome, Semantics, explore};
use p2p_protocol::model::{Action, World};

use player::{ENDLESS, Random, as_a_protocol_could, has_circle, is_playable, play};
use sample::Sample;
use show::Shown;

/// Worlds in a normal and in a long run.
const WORLDS: usize = 400;
const WORLDS_LONG: usize = 20_000;
/// Threads that run worlds.
const PARTS: usize = 4;
/// After so long a run is taken to hang for real.
const PATIENCE: Duration = Duration::from_secs(120);

static PROTOCOL: Protocol = Protocol {
    name: "random",
    fingerprint: 0,
    communicators: build::COMMUNICATORS,
    join: Operation {
        text: "join(random)",
        verb: "join",
        message: "",
        tag: 0,
        communicator: 0,
        file: file!(),
        line: line!(),
        column: 1,
    },
};

/// How a run ended.
enum End {
    Finished,
    Deadlock,
    /// A rank went on for longer than anything that ends.
    Endless,
    /// A failure that no world here should have.
    Other(String),
}

impl Display for End {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            End::Finished => f.write_str("finished"),
            End::Deadlock => f.write_str("deadlock"),
            End::Endless => f.write_str(ENDLESS),
            End::Other(text) => f.write_str(text),
        }
    }
}

fn run(world: &World, buffering: Buffering, seed: u64) -> End {
    let launch = Launch::new().ranks(world.behaviours.len()).buffering(buffering);
    let outcome = launch.run(|ranks| {
        let random = Random((seed + 1).wrapping_mul(0x9e37_79b9) ^ (ranks.rank() as u64 + 1) << 40);
        play(world, join(&ranks, &PROTOCOL, &[])?, random)
    });
    match outcome {
        Ok(_) => End::Finished,
        Err(Error::Deadlock(_)) => End::Deadlock,
        Err(Error::Other { source, .. }) if source.to_string() == ENDLESS => End::Endless,
        Err(other) => End::Other(other.to_string()),
    }
}

/// What must happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Expected {
    Finish,
    Hang,
    /// One or the other, by who comes first.
    Either,
}

/// What the engine expects of a run with this buffering; `None` where it does not say.
fn expected(world: &World, buffering: Buffering) -> Option<Expected> {
    let engine = |semantics| -> Option<Outcome> {
        let outcome = explore(world, semantics, Limits { states: 2_000 });
        let is_clear = outcome.complete && !outcome.mismatch && !outcome.missing_wait;
        is_clear.then_some(outcome)
    };
    let unbuffered = engine(Semantics::Rendezvous { eager_limit: 0 })?;
    let buffered = engine(Semantics::Buffered)?;
    let of = |outcome: &Outcome| match (outcome.can_finish, outcome.can_hang) {
        (true, false) => Some(Expected::Finish),
        (false, true) => Some(Expected::Hang),
        (true, true) => Some(Expected::Either),
        (false, false) => None,
    };
    if has_rooted(world) {
        // The threads' trees wait for less than everybody and for more than the standard asks:
        // only what holds at both ends of that holds here.
        return of(&unbuffered)
            .filter(|&one| Some(one) == of(&buffered) && !edit::has_choice(actions_of(world)));
    }
    of(if buffering == Buffering::All { &buffered } else { &unbuffered })
}

fn actions_of(world: &World) -> impl Iterator<Item = &Action> {
    world.behaviours.iter().flat_map(|behaviour| &behaviour.events).map(|event| &event.action)
}

fn has_rooted(world: &World) -> bool {
    let mut actions = actions_of(world);
    actions
        .any(|action| matches!(action, Action::Collective(call) if actions::is_rooted(call.kind)))
}

fn agrees(expected: Expected, end: &End, world: &World) -> bool {
    match end {
        End::Finished => expected != Expected::Hang,
        End::Deadlock => expected != Expected::Finish,
        End::Endless => has_circle(world),
        End::Other(_) => false,
    }
}

/// What runs now, by part of the sample; [`watch`] ends the process if one stays too long.
type Running = Mutex<BTreeMap<u64, (Instant, String)>>;

/// Says which world hangs, and ends everything: a thread that hangs cannot be ended alone.
fn watch(running: &Running) {
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let running = running.lock().expect("nobody panics with the lock");
        if running.is_empty() {
            return;
        }
        for (since, world) in running.values() {
            if since.elapsed() > PATIENCE {
                eprintln!("this world hangs for real:\n{world}");
                std::process::abort();
            }
        }
    }
}

/// How often what was expected, and what did not agree.
type Tally = (BTreeMap<Expected, usize>, Vec<String>);

fn run_all(sample: Sample, running: &Running) -> Tally {
    let mut tally = Tally::default();
    for (number, ranks) in (0..).zip(sample.worlds()) {
        let world = as_a_protocol_could(build::world(ranks));
        if !is_playable(&world) {
            continue;
        }
        for buffering in [Buffering::None, Buffering::All] {
            let Some(expected) = expected(&world, buffering) else { continue };
            let shown = format!("{buffering:?}: {expected:?}\n{}", Shown(&world));
            let now = (Instant::now(), shown.clone());
            running.lock().expect("nobody panics with the lock").insert(sample.seed, now);
            let end = run(&world, buffering, number);
            *tally.0.entry(expected).or_default() += 1;
            if !agrees(expected, &end, &world) {
                tally.1.push(format!("{shown}ended: {end}\n"));
            }
        }
    }
    running.lock().expect("nobody panics with the lock").remove(&sample.seed);
    tally
}

#[test]
fn threads_do_what_the_engine_says() {
    let sample = Sample::new(WORLDS, WORLDS_LONG);
    let running = Running::default();
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let running = &running;
        let started = (Instant::now(), "nothing yet".to_owned());
        let parts: Vec<Sample> = sample.split(PARTS).collect();
        let all = parts.iter().map(|part| (part.seed, started.clone()));
        running.lock().expect("nobody panics with the lock").extend(all);
        scope.spawn(|| watch(running));
        let run = |part| scope.spawn(move || run_all(part, running));
        let parts: Vec<_> = parts.into_iter().map(run).collect();
        for part in parts {
            let (counts, wrong) = part.join().expect("a part of the worlds");
            for (expected, count) in counts {
                *tally.0.entry(expected).or_default() += count;
            }
            tally.1.extend(wrong);
        }
    });
    let (counts, wrong) = tally;
    eprintln!("{counts:?}");
    assert!(
        wrong.is_empty(),
        "{sample:?}: {} runs, such as\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n")
    );
    let all: usize = counts.values().sum();
    assert!(all * 2 > sample.count, "few of the worlds could be played: {counts:?}");
    for (expected, share) in [(Expected::Finish, 30), (Expected::Hang, 15), (Expected::Either, 1)] {
        let count = counts.get(&expected).copied().unwrap_or(0);
        assert!(count * 100 >= all * share, "few of the worlds {expected:?}: {counts:?}");
    }
}
