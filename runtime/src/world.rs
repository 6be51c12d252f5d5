//! The ranks as one of them sees them.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::transport::Endpoint;

/// A rank's view of all ranks that were started together. Join a protocol with it.
pub struct World {
    rank: usize,
    size: usize,
    endpoint: Rc<RefCell<Endpoint>>,
}

impl World {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        let (rank, size) = (endpoint.rank(), endpoint.size());
        World { rank, size, endpoint: Rc::new(RefCell::new(endpoint)) }
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
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}
