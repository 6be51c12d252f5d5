//! What happens on threads is what the engine says can happen.
//!
//! Small random worlds are run on paper and on threads, under every buffering: a run that ends must
//! be one that can end, a run that hangs one that can hang; so a world that cannot hang must end,
//! and one that cannot end must be told so. The worlds begin as runs that go well and are spoilt a
//! little, because unrelated events hang at once.

mod follow;
mod worlds;

use std::cell::Cell;

use p2p::Buffering;
use p2p_protocol::engine::{Limits, Outcome, Semantics, explore};
use p2p_protocol::model::{Action, CollectiveKind, World};
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// Worlds in a normal and in a long run.
const WORLDS: u32 = 300;
const WORLDS_LONG: u32 = 100_000;
/// States with a choice, above which the engine gives up and the world is skipped.
const STATES: usize = 2_000;

const RENDEZVOUS: Semantics = Semantics::Rendezvous { eager_limit: 0 };

/// The readings that a buffering may show: the threads buffer all or nothing as they are told, or
/// a little, which lies between. So do rooted collectives in any case, because a rank does not
/// wait there for ranks that its part does not need.
fn readings(world: &World, buffering: Buffering) -> &'static [Semantics] {
    let rooted = |action: &Action| {
        use CollectiveKind::{Bcast, Gather, Reduce, Scatter};
        matches!(action, Action::Collective(call)
            if matches!(call.kind, Bcast | Gather | Reduce | Scatter))
    };
    let mut events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    match buffering {
        _ if events.any(|event| rooted(&event.action)) => &[RENDEZVOUS, Semantics::Buffered],
        Buffering::Some => &[RENDEZVOUS, Semantics::Buffered],
        Buffering::None => &[RENDEZVOUS],
        Buffering::All => &[Semantics::Buffered],
    }
}

/// How the runs came out, over all worlds.
#[derive(Default)]
struct Census {
    ended: Cell<u32>,
    hung: Cell<u32>,
}

fn holds(world: &World, census: &Census) -> Result<(), TestCaseError> {
    for buffering in [Buffering::Some, Buffering::None, Buffering::All] {
        let readings = readings(world, buffering);
        let outcomes: Vec<Outcome> = readings
            .iter()
            .map(|&semantics| explore(world, semantics, Limits { states: STATES }))
            .collect();
        if !outcomes.iter().all(|outcome| outcome.complete) {
            continue;
        }
        let allowed = match follow::run(world, buffering) {
            Ok(()) => {
                census.ended.update(|ended| ended + 1);
                outcomes.iter().any(|outcome| outcome.can_finish)
            }
            Err(p2p::Error::Deadlock(_)) => {
                census.hung.update(|hung| hung + 1);
                outcomes.iter().any(|outcome| outcome.can_hang || outcome.mismatch)
            }
            Err(error) => return Err(TestCaseError::fail(format!("{buffering:?}: {error}"))),
        };
        if !allowed {
            let text = format!("{buffering:?}: {:?}", follow::run(world, buffering));
            return Err(TestCaseError::fail(format!("{text}, but {outcomes:?}")));
        }
    }
    Ok(())
}

#[test]
fn threads_do_what_the_engine_says() {
    let long = std::env::var_os("P2P_LONG").is_some();
    let cases = if long { WORLDS_LONG } else { WORLDS };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let census = Census::default();
    if let Err(error) = runner.run(&worlds::worlds(), |script| holds(&script.world(), &census)) {
        panic!("{error}");
    }
    // Worlds that all end, or all hang, would show little.
    let (ended, hung) = (census.ended.get(), census.hung.get());
    assert!(ended > cases && hung > cases / 3, "{ended} ended, {hung} hung");
}
