//! Starting ranks.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::error::{Error, Result, Step};
use crate::transport::Endpoint;
use crate::transport::threads::{self, Leave, Limits, Shared};
use crate::world::World;

/// How far standard sends are buffered. MPI leaves it open, so a protocol that is right runs with
/// every choice; the extremes are for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Buffering {
    /// Some small messages from each rank to each other; then the sender waits for its receive.
    #[default]
    Some,
    /// None: every standard send waits for its receive.
    None,
    /// All, however many and however long.
    All,
}

/// Settings for the start of ranks.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    ranks: Option<usize>,
    buffering: Buffering,
}

/// The longest standard message that is buffered, in bytes: beyond that, copying it twice costs
/// more than waiting.
const BUFFERED_BYTES: usize = 4096;
/// How many messages from one rank to another are buffered.
const BUFFERED_MESSAGES: u32 = 64;
/// Each pair of ranks costs some memory.
const MOST_RANKS: usize = 1024;
/// How many ranks there are where nobody says: the number in most tutorials.
const DEFAULT_RANKS: usize = 4;

impl Launch {
    /// The number of ranks from `P2P_RANKS`, or 4.
    pub fn new() -> Self {
        Self::default()
    }

    /// So many ranks, whatever `P2P_RANKS` says.
    pub fn ranks(mut self, ranks: usize) -> Self {
        self.ranks = Some(ranks);
        self
    }

    /// How far standard sends are buffered.
    pub fn buffering(mut self, buffering: Buffering) -> Self {
        self.buffering = buffering;
        self
    }

    /// Runs `rank` once for each rank, each on a thread of its own, and returns their results in
    /// the order of ranks; or the error that came first, where errors of ranks that only lost
    /// their peer count last.
    pub fn run<R: Send>(self, rank: impl Fn(World) -> Result<R> + Sync) -> Result<Vec<R>> {
        let size = self.ranks.map_or_else(ranks_from_environment, Ok)?;
        if !(1..=MOST_RANKS).contains(&size) {
            let reason = format!("{size} ranks were asked for; start 1 to {MOST_RANKS} as threads");
            return Err(Error::Launch { reason });
        }
        let limits = match self.buffering {
            Buffering::Some => Limits { bytes: BUFFERED_BYTES, messages: BUFFERED_MESSAGES },
            Buffering::None => Limits { bytes: 0, messages: 0 },
            Buffering::All => Limits { bytes: usize::MAX, messages: u32::MAX },
        };
        let shared = Arc::new(Shared::new(size, limits));
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..size)
                .map(|number| {
                    let (shared, rank) = (shared.clone(), &rank);
                    let builder = std::thread::Builder::new().name(format!("rank {number}"));
                    let thread = builder.spawn_scoped(scope, {
                        let shared = shared.clone();
                        move || run_rank(&shared, number, rank)
                    });
                    // At once: the ranks that did start wait for this one.
                    thread.inspect_err(|_| shared.leave(number, Leave::Failed(Step(None))))
                })
                .collect();
            let started = threads.into_iter().enumerate().map(|(number, thread)| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| {
                    Err(Error::Panicked { rank: number, text: text_of(&*panic), at: Step(None) })
                }),
                Err(error) => {
                    let reason = format!("no thread for rank {number}: {error}; start fewer ranks");
                    Err(Error::Launch { reason })
                }
            });
            started.collect()
        });
        all_or_cause(&shared, results)
    }
}

fn run_rank<R>(
    shared: &Arc<Shared>,
    number: usize,
    rank: impl Fn(World) -> Result<R>,
) -> Result<R> {
    let endpoint = threads::Endpoint::new(shared.clone(), number);
    let world = World::new(Endpoint::Threads(endpoint));
    let endpoint = world.endpoint().clone();
    let outcome = catch_unwind(AssertUnwindSafe(|| rank(world)));
    let at = endpoint.borrow_mut().end();
    let result = outcome
        .unwrap_or_else(|panic| Err(Error::Panicked { rank: number, text: text_of(&*panic), at }));
    shared.leave(number, if result.is_ok() { Leave::Ended } else { Leave::Failed(at) });
    result.map_err(|error| match error {
        Error::Other { rank: None, source } => Error::Other { rank: Some(number), source },
        other => other,
    })
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "its panic has no text".to_owned())
}

/// All results, or the error of the rank that made the others fail, or the first one.
fn all_or_cause<R>(shared: &Shared, results: Vec<Result<R>>) -> Result<Vec<R>> {
    let mut errors = Vec::new();
    let mut values = Vec::with_capacity(results.len());
    for (rank, result) in results.into_iter().enumerate() {
        match result {
            Ok(value) => values.push(value),
            Err(error) => errors.push((rank, error)),
        }
    }
    let cause = match shared.failure() {
        Some(Error::PeerGone { rank, .. }) => errors.iter().position(|&(other, _)| other == rank),
        _ => None,
    };
    if errors.is_empty() {
        return Ok(values);
    }
    Err(errors.swap_remove(cause.unwrap_or(0)).1)
}

fn ranks_from_environment() -> Result<usize> {
    match std::env::var("P2P_RANKS") {
        Err(_) => Ok(DEFAULT_RANKS),
        Ok(text) => text.parse().map_err(|_| Error::Launch {
            reason: format!("P2P_RANKS is `{text}`; set it to a number of ranks, such as 4"),
        }),
    }
}

/// Runs `rank` once for each rank: as many as `P2P_RANKS` says, or 4.
pub fn launch(rank: impl Fn(World) -> Result<()> + Sync) -> Result<()> {
    Launch::new().run(rank).map(drop)
}

/// Runs `rank` once for each of `ranks` ranks, and returns the results in the order of ranks.
pub fn threads<R: Send>(ranks: usize, rank: impl Fn(World) -> Result<R> + Sync) -> Result<Vec<R>> {
    Launch::new().ranks(ranks).run(rank)
}
