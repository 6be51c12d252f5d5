//! Starting ranks: as processes that a launcher of MPI has started, or else as threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
#[cfg(feature = "mpi")]
use std::time::Duration;

use crate::error::{Error, Result, Step};
use crate::launcher::Launcher;
#[cfg(feature = "mpi")]
use crate::policy::Policy;
use crate::transport::Endpoint;
#[cfg(feature = "mpi")]
use crate::transport::mpi::{self, Settings};
use crate::transport::threads::{self, Leave, Limits, Shared};
use crate::world::{World, all_run};

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
    #[cfg(feature = "mpi")]
    watch: Option<Duration>,
    #[cfg(feature = "mpi")]
    policy: Option<Policy>,
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

    /// Under MPI, ends the job with the wait-for report when every rank has waited for this long
    /// and nothing moves anywhere, whatever `P2P_WATCH` says. Zero: nobody watches. (Threads need
    /// no watch: there it is always known who waits for whom.)
    #[cfg(feature = "mpi")]
    pub fn watch(mut self, limit: Duration) -> Self {
        self.watch = Some(limit);
        self
    }

    /// How messages travel under MPI, whatever `P2P_POLICY` says.
    #[cfg(feature = "mpi")]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Runs `rank` for this process's rank where a launcher of MPI has started it (`mpirun`,
    /// `mpiexec`, `srun`), and otherwise once for each rank, each on a thread of its own.
    ///
    /// Under MPI an error of one rank ends the job: this rank does not return, and the error is on
    /// the standard error output.
    pub fn start(self, rank: impl Fn(World) -> Result<()> + Sync) -> Result<()> {
        match Launcher::of_this_process() {
            Some(launcher) => self.start_under(&launcher, rank),
            None => self.run(rank).map(drop),
        }
    }

    #[cfg(feature = "mpi")]
    fn start_under(
        self,
        launcher: &Launcher,
        rank: impl Fn(World) -> Result<()> + Sync,
    ) -> Result<()> {
        let policy = match self.policy {
            Some(policy) => policy,
            None => Policy::from_environment()?,
        };
        let watch = match self.watch {
            Some(limit) => Some(limit).filter(|limit| !limit.is_zero()),
            None => mpi::limit_from_environment()?,
        };
        mpi::run(launcher, Settings { policy, watch }, rank)
    }

    /// A program that knows nothing of MPI would run as often as there are processes, each time
    /// with all ranks.
    #[cfg(not(feature = "mpi"))]
    fn start_under(
        self,
        launcher: &Launcher,
        rank: impl Fn(World) -> Result<()> + Sync,
    ) -> Result<()> {
        if launcher.size == Some(1) {
            return self.run(rank).map(drop);
        }
        if launcher.rank.unwrap_or(0) > 0 {
            // The first process says it for all.
            std::process::exit(1);
        }
        let reason = format!(
            "{} has started this program, which was built without MPI; build it with the feature \
             `mpi` of p2p-runtime, or start it without a launcher",
            launcher.name
        );
        Err(Error::Launch { reason })
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
    let (endpoint, unrun) = (world.endpoint().clone(), world.unrun().clone());
    let outcome = catch_unwind(AssertUnwindSafe(|| all_run(number, rank(world), &unrun)));
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

/// Runs `rank` for this process's rank where a launcher of MPI has started it (`mpirun`,
/// `mpiexec`, `srun`; with feature `mpi`), and otherwise once for each rank, each on a thread of
/// its own: as many as `P2P_RANKS` says, or 4.
pub fn launch(rank: impl Fn(World) -> Result<()> + Sync) -> Result<()> {
    Launch::new().start(rank)
}

/// Runs `rank` once for each of `ranks` ranks, and returns the results in the order of ranks.
pub fn threads<R: Send>(ranks: usize, rank: impl Fn(World) -> Result<R> + Sync) -> Result<Vec<R>> {
    Launch::new().ranks(ranks).run(rank)
}
