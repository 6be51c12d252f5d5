//! The beginning and the end of a rank as a process: MPI is started once, an endpoint is opened
//! for each launch, and whoever fails ends the job.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mpi::ffi;

use super::bulk::Bulk;
use super::calls::find_count;
use super::code::{Code, check};
use super::communicators::Communicators;
use super::crowd::is_crowded;
use super::endpoint::Endpoint;
use super::watch::Watch;
use crate::error::{Error, Result};
use crate::launcher::Launcher;
use crate::policy::Policy;
use crate::world::{World, all_run};

/// What a launch over MPI is told.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) policy: Policy,
    /// After how long a wait counts; `None` if nobody watches.
    pub(crate) watch: Option<Duration>,
}

/// Runs this process's rank. Returns on every rank or on none: where one fails, the job ends.
pub(crate) fn run(
    launcher: &Launcher,
    settings: Settings,
    rank: impl FnOnce(World) -> Result<()>,
) -> Result<()> {
    start(launcher)?;
    let opened = Endpoint::open(settings);
    let endpoint = opened.map_err(|code| refused("an endpoint could not be opened", code))?;
    let number = endpoint.rank;
    let world = World::new(crate::transport::Endpoint::Mpi(endpoint));
    let (endpoint, unrun) = (world.endpoint().clone(), world.unrun().clone());
    let outcome = catch_unwind(AssertUnwindSafe(|| all_run(number, rank(world), &unrun)));
    let mut endpoint = endpoint.borrow_mut();
    let crate::transport::Endpoint::Mpi(endpoint) = &mut *endpoint else {
        unreachable!("made a few lines above");
    };
    match outcome {
        Ok(Ok(())) => endpoint.close(),
        Ok(Err(error)) => {
            if number > 0 && error.is_everybodys() {
                // Rank 0 says it for all, and ends the job.
                std::thread::sleep(SAYING);
            }
            endpoint.give_up(Some(&error));
            Ok(())
        }
        Err(_) => {
            endpoint.give_up(None);
            Ok(())
        }
    }
}

/// How long the other ranks leave rank 0 to say what all of them have to say.
const SAYING: Duration = Duration::from_secs(1);

/// How long the launcher has to read what was said before it hears of the end. If it hears of both at
/// once, it may end first.
const HEARD: Duration = Duration::from_millis(100);

/// Starts MPI, if it is not.
fn start(launcher: &Launcher) -> Result<()> {
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    let started = STARTED.get_or_init(|| {
        initialise()?;
        check_size(launcher)
    });
    started.clone().map_err(|reason| Error::Launch { reason })
}

/// One thread of this process talks to MPI, the one that is here.
fn initialise() -> Result<(), String> {
    let (mut is_started, mut is_over, mut provided) = (0, 0, 0);
    // SAFETY: these may be called at any time, and the places are locals. The level is asked for
    // where MPI is not started yet, on the thread that will call it.
    unsafe {
        let failed = |code: Code| format!("MPI cannot be started: {code}");
        check(ffi::MPI_Finalized(&raw mut is_over)).map_err(failed)?;
        if is_over != 0 {
            return Err("MPI was shut down before; launch once, or before it is".to_owned());
        }
        check(ffi::MPI_Initialized(&raw mut is_started)).map_err(failed)?;
        if is_started != 0 {
            check(ffi::MPI_Query_thread(&raw mut provided)).map_err(failed)?;
        } else {
            let (none, wanted) = (std::ptr::null_mut(), ffi::RSMPI_THREAD_FUNNELED);
            let arguments = std::ptr::null_mut();
            check(ffi::MPI_Init_thread(none, arguments, wanted, &raw mut provided))
                .map_err(failed)?;
            libc::atexit(finalise);
        }
        if provided < ffi::RSMPI_THREAD_FUNNELED {
            return Err(format!(
                "MPI allows threads only at level {provided}, and a Rust program may have some \
                 that do not talk to MPI (MPI_THREAD_FUNNELED, {}); start MPI with that level, or \
                 use one that was built with threads",
                ffi::RSMPI_THREAD_FUNNELED
            ));
        }
        // Completion can raise an error on the world, whichever communicator it concerns.
        for communicator in [ffi::RSMPI_COMM_WORLD, ffi::RSMPI_COMM_SELF] {
            check(ffi::MPI_Comm_set_errhandler(communicator, ffi::RSMPI_ERRORS_RETURN))
                .map_err(failed)?;
        }
    }
    find_count();
    Ok(())
}

/// How many endpoints are open.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// At the process's end, so that a program can launch more than once. A process that is left in the
/// middle of everything takes the others with it: not every launcher takes that for a failure.
extern "C" fn finalise() {
    let mut is_over = 0;
    if OPEN.load(Ordering::Relaxed) > 0 {
        end_of_all();
    }
    // SAFETY: it was started, and is shut down once.
    unsafe {
        if ffi::MPI_Finalized(&raw mut is_over) == ffi::MPI_SUCCESS as c_int && is_over == 0 {
            ffi::MPI_Finalize();
        }
    }
}

/// `exit` was called while ranks were under way.
fn end_of_all() -> ! {
    // Not a second time, should ending the job call this again.
    OPEN.store(0, Ordering::Relaxed);
    let mut rank = 0;
    // SAFETY: an endpoint is open, so MPI is started; the place is a local.
    unsafe { ffi::MPI_Comm_rank(ffi::RSMPI_COMM_WORLD, &raw mut rank) };
    let text = format!(
        "Error: rank {rank} has ended its process before its closure had ended; return from the \
         closure instead, with an error if there is one\n"
    );
    // Nobody is left to be told that it could not be written.
    let _ = std::io::stderr().write_all(text.as_bytes());
    std::thread::sleep(HEARD);
    // SAFETY: MPI is started.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
    std::process::abort()
}

/// One MPI's program under another's launcher is many worlds of one rank each.
fn check_size(launcher: &Launcher) -> Result<(), String> {
    // SAFETY: MPI is started.
    let size = unsafe { size_of_world(ffi::RSMPI_COMM_WORLD) }.map_err(|code| code.to_string())?;
    match launcher.size {
        Some(started) if started != size => {
            if launcher.rank.unwrap_or(0) > 0 {
                // The first process says it for all.
                std::thread::sleep(SAYING);
                std::process::exit(1);
            }
            Err(format!(
                "{} has started {started} processes, but for {}, which this program was built \
                 with, the world has {size}; start it with the launcher of that MPI, or build it \
                 with the MPI of this launcher (MPICC=mpicc.openmpi or mpicc.mpich, in a target \
                 folder of its own)",
                launcher.name,
                library()
            ))
        }
        _ => Ok(()),
    }
}

/// # Safety
///
/// MPI is started.
unsafe fn size_of_world(world: ffi::MPI_Comm) -> Result<usize, Code> {
    let mut size = 0;
    // SAFETY: the caller says so; the place is a local.
    check(unsafe { ffi::MPI_Comm_size(world, &raw mut size) })?;
    Ok(usize::try_from(size).unwrap_or(0))
}

/// "Open MPI v4.1.4" and the like.
pub(super) fn library() -> String {
    let mut text = vec![0_u8; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the text has the room that the standard asks for.
    unsafe { ffi::MPI_Get_library_version(text.as_mut_ptr().cast::<c_char>(), &raw mut length) };
    let text = String::from_utf8_lossy(&text[..usize::try_from(length).unwrap_or(0)]).into_owned();
    let first = text.lines().next().unwrap_or_default();
    let name = first.split(',').next().unwrap_or_default();
    let words: Vec<&str> = name.split_whitespace().filter(|word| *word != "Version:").collect();
    if words.is_empty() { "the MPI".to_owned() } else { words.join(" ") }
}

/// Whether it is Open MPI. May be asked at any time.
pub(crate) fn is_open_mpi() -> bool {
    static IS_OPEN_MPI: OnceLock<bool> = OnceLock::new();
    *IS_OPEN_MPI.get_or_init(|| library().starts_with("Open MPI"))
}

fn refused(what: &str, code: Code) -> Error {
    Error::Launch { reason: format!("{what}: MPI says: {code}") }
}

impl Endpoint {
    /// Collective over all ranks.
    fn open(settings: Settings) -> Result<Endpoint, Code> {
        // SAFETY: a constant.
        let world = unsafe { ffi::RSMPI_COMM_WORLD };
        let mut rank = 0;
        // SAFETY: MPI is started, and the place is a local.
        check(unsafe { ffi::MPI_Comm_rank(world, &raw mut rank) })?;
        // SAFETY: MPI is started.
        let size = unsafe { size_of_world(world) }?;
        OPEN.fetch_add(1, Ordering::Relaxed);
        let communicators = Communicators::open(world)?;
        let base = communicators.base();
        let bulk = Bulk::open(base, settings.policy)?;
        let watch = Watch::open(base, settings.watch)?;
        let rank = usize::try_from(rank).unwrap_or(0);
        let crowded = is_crowded(base)?;
        Ok(Endpoint::new((rank, size), communicators, bulk, watch, crowded))
    }

    /// This rank has done its part; returns when all have. Collective.
    fn close(&mut self) -> Result<()> {
        if let Some(last) = self.step().operation() {
            self.send_copies(last)?;
        }
        let mut close = || {
            let watch = self.watch.take();
            let watch = watch.map(|mut watch| watch.ended().map(|()| watch)).transpose()?;
            self.bulk.close()?;
            watch.map_or(Ok(()), Watch::close)?;
            self.communicators.close()
        };
        close().map_err(|code| refused("the ranks could not end together", code))?;
        OPEN.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// This rank leaves before its end, so the job ends here: with the error's text, or after a
    /// panic, which has said its own.
    pub(crate) fn give_up(&mut self, error: Option<&Error>) {
        let rank = self.rank;
        match error {
            Some(Error::Other { rank: None, source }) => {
                self.abort(&format!("rank {rank}: {source}"))
            }
            Some(error) => self.abort(&error.to_string()),
            None => {
                let at = self.step();
                self.abort(&format!("rank {rank} panicked, {at}: what it said is above"))
            }
        }
    }

    /// Ends the job because of something that went wrong in the last step.
    pub(super) fn abort_where_it_stands(&self, why: &str) -> ! {
        self.abort(&format!("rank {} left early, {}: {why}", self.rank, self.step()))
    }

    /// Ends the job.
    pub(super) fn abort(&self, why: &str) -> ! {
        // In one piece, since all ranks write to the same place. Nobody is left to be told that
        // it could not be written.
        let _ = std::io::stderr().write_all(format!("Error: {why}\n").as_bytes());
        std::thread::sleep(HEARD);
        // SAFETY: MPI is started.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
        std::process::exit(1)
    }
}
