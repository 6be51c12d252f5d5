//! The ranks as one of them sees them.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use crate::error::{Error, Result, Step};
use crate::operation::Operation;
use crate::transport::Endpoint;

/// A rank's view of all ranks that were started together. Join a protocol with it.
pub struct World {
    rank: usize,
    size: usize,
    endpoint: Rc<RefCell<Endpoint>>,
    unrun: Unrun,
}

/// Where a rank has joined a protocol whose role it then did not run.
pub(crate) type Unrun = Rc<Cell<Option<&'static Operation>>>;

impl World {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        let (rank, size) = (endpoint.rank(), endpoint.size());
        World { rank, size, endpoint: Rc::new(RefCell::new(endpoint)), unrun: Unrun::default() }
    }

    /// This rank: `0..size`.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn endpoint(&self) -> &Rc<RefCell<Endpoint>> {
        &self.endpoint
    }

    pub(crate) fn unrun(&self) -> &Unrun {
        &self.unrun
    }
}

/// What a rank's closure has come to, now that it is over: a role that was never run is a failure.
pub(crate) fn all_run<R>(rank: usize, outcome: Result<R>, unrun: &Unrun) -> Result<R> {
    match unrun.get() {
        Some(join) if outcome.is_ok() => Err(Error::NotRun { rank, at: Step(Some(join)) }),
        _ => outcome,
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}
