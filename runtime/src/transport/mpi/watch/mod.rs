//! The hang watch: knows when no rank can move any more, and who waits for whom.
//!
//! A rank that has waited for longer than the limit publishes in what, in a window on rank 0
//! ([`window`]), as bytes ([`record`]); one that goes on says so only if it has published. So a
//! program whose waits are short pays one comparison of times for each look at a request that is
//! not complete, and nothing else.
//!
//! **The verdict.** Each rank that has published reads what all ranks do, twice a second. When
//! every rank waits or has ended, and the next readings show the same waits, and each rank that
//! waits has looked for its message at least once between two of these readings ([`Quiet`]), then
//! nothing has moved in between and nothing can: whoever could send is stuck itself, and has been
//! for longer than the limit. A rank that computes has not published, or has taken it back, so it
//! is never taken for stuck, however long it computes. What is not seen is a message that is on
//! its way for longer than the limit, so the limit has to be longer than the longest transfer.

mod quiet;
mod record;
mod window;

use std::time::{Duration, Instant};

use mpi::ffi;

use self::quiet::{Head, Quiet, State};
use self::window::Window;
use super::code::Code;
use crate::error::{Error, Report};
use crate::transport::report::{self, Doing, Known, Stuck};
use crate::transport::waiting::{Collective, Entered, Waiting};

/// How often a rank that waits looks at the others.
const LOOK: Duration = Duration::from_millis(500);

/// See the module. One for each rank.
pub(super) struct Watch {
    window: Window,
    rank: usize,
    limit: Duration,
    /// What the others see of this rank.
    head: Head,
    entered: Entered,
    published: Option<Published>,
}

/// After how long a wait counts, as `P2P_WATCH` says; `None` if nobody watches.
pub(crate) fn limit_from_environment() -> Result<Option<Duration>, Error> {
    match std::env::var("P2P_WATCH") {
        Ok(text) => limit(&text),
        Err(_) => Ok(None),
    }
}

fn limit(text: &str) -> Result<Option<Duration>, Error> {
    let seconds = text.trim().parse().ok();
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match limit {
        Some(limit) => Ok(Some(limit).filter(|limit| !limit.is_zero())),
        None => Err(Error::Launch {
            reason: format!(
                "P2P_WATCH is `{text}`; set it to the seconds after which a rank that waits is \
                 looked at, such as 30, or leave it out and nobody looks"
            ),
        }),
    }
}

/// A wait that the others know of.
struct Published {
    since: Instant,
    next_look: Instant,
    quiet: Quiet,
}

impl Watch {
    /// Opens the watch on all ranks of `world`, which do so together, if rank 0 has a limit. A rank
    /// counts as one that waits once it has done so for this limit. Others' limits do not matter:
    /// not every launcher passes the environment on to other nodes.
    pub(super) fn open(
        world: ffi::MPI_Comm,
        limit: Option<Duration>,
    ) -> Result<Option<Watch>, Code> {
        let own = limit.map_or(0, |limit| limit.as_millis().max(1));
        let limit = window::from_keeper(world, u64::try_from(own).unwrap_or(u64::MAX))?;
        if limit == 0 {
            return Ok(None);
        }
        let window = Window::open(world)?;
        Ok(Some(Watch {
            rank: window.rank(),
            window,
            limit: Duration::from_millis(limit),
            head: Head::default(),
            entered: Entered::default(),
            published: None,
        }))
    }

    /// This rank has come to a collective operation.
    pub(super) fn enter(&mut self, call: Collective) {
        self.entered.note(call);
    }

    /// To be called again and again by a wait that has not ended, each time after it has looked in
    /// vain. `since` says when the wait began, or when anything last moved in it; `waiting` says in
    /// what. There is a report if nothing moves anywhere and this rank is the one to say so.
    pub(super) fn waiting(
        &mut self,
        since: Instant,
        waiting: impl FnOnce() -> Waiting,
    ) -> Result<Option<Report>, Code> {
        let now = Instant::now();
        if now.duration_since(since) < self.limit {
            return Ok(None);
        }
        self.look(now, since, waiting)
    }

    #[cold]
    fn look(
        &mut self,
        now: Instant,
        since: Instant,
        waiting: impl FnOnce() -> Waiting,
    ) -> Result<Option<Report>, Code> {
        match &mut self.published {
            Some(published) if published.since == since => {
                if now < published.next_look {
                    return Ok(None);
                }
                published.next_look = now + LOOK;
            }
            _ => {
                self.goes_on()?;
                self.publish(State::Waits, Doing::Waits(Stuck::new(&waiting())))?;
                let (next_look, quiet) = (now + LOOK, Quiet::default());
                self.published = Some(Published { since, next_look, quiet });
            }
        }
        self.head.looks += 1;
        self.window.write_head(self.head)?;
        let heads = self.window.heads()?;
        let Some(published) = &mut self.published else { return Ok(None) };
        if published.quiet.see(&heads) && quiet::speaker(&heads) == Some(self.rank) {
            return self.report(&heads);
        }
        Ok(None)
    }

    /// This rank waits no longer. At once if it had not published.
    #[inline]
    pub(super) fn goes_on(&mut self) -> Result<(), Code> {
        match self.published.take() {
            None => Ok(()),
            Some(_) => self.enter_state(State::Runs),
        }
    }

    /// This rank has ended without an error; nobody should wait for it any more.
    pub(super) fn ended(&mut self) -> Result<(), Code> {
        self.published = None;
        self.publish(State::Ended, Doing::Ended)
    }

    /// Closes the watch, on all ranks together.
    pub(super) fn close(self) -> Result<(), Code> {
        self.window.close()
    }

    fn publish(&mut self, state: State, doing: Doing) -> Result<(), Code> {
        let known = Known { doing, entered: self.entered.clone() };
        self.window.write_record(&record::write(&known))?;
        self.enter_state(state)
    }

    fn enter_state(&mut self, state: State) -> Result<(), Code> {
        self.head.enter(state);
        self.window.write_head(self.head)
    }

    /// The report, unless somebody has moved after all.
    fn report(&self, heads: &[Head]) -> Result<Option<Report>, Code> {
        let mut world = Vec::with_capacity(heads.len());
        for rank in 0..heads.len() {
            world.push(record::read(&self.window.record(rank)?));
        }
        let same =
            self.window.heads()?.iter().zip(heads).all(|(now, then)| now.state == then.state);
        Ok(if same { report::report(&world) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_in_seconds() {
        assert_eq!(limit("30").unwrap(), Some(Duration::from_secs(30)));
        assert_eq!(limit(" 0.5").unwrap(), Some(Duration::from_millis(500)));
        assert_eq!(limit("0").unwrap(), None);
        for text in ["", "soon", "-1", "nan", "1e99"] {
            let error = limit(text).unwrap_err().to_string();
            assert!(error.contains(&format!("P2P_WATCH is `{text}`; set it to")), "{error}");
        }
    }
}
