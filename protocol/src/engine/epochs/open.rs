//! The epochs of one window that a rank has open, and what is wrong with the next step.

use crate::model::{Peer, Position, WindowAccess, WindowStep};

/// The epochs of one window that a rank has open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Epochs {
    /// Nothing is known of them.
    lost: bool,
    /// How many fences were passed.
    pub(crate) fences: u32,
    /// The last fence, if an epoch may begin there.
    fence: Option<Position>,
    /// Whether something was accessed since.
    used: bool,
    locks: Vec<Lock>,
    lock_all: Option<Lock>,
    started: Option<(Position, Option<Box<[Peer]>>)>,
    posted: Option<Position>,
    /// An epoch was missing before: what belongs to it is no fault of its own.
    strays: bool,
}

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lock {
    target: Option<Peer>,
    is_exclusive: bool,
    position: Position,
    /// The last flush under it.
    flushed: Position,
}

impl Lock {
    fn of(target: Option<Peer>, is_exclusive: bool, position: Position) -> Self {
        Lock { target, is_exclusive, position, flushed: position }
    }
}

/// The access epoch that an access belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Opened {
    /// Behind so many fences.
    Fence(u32),
    /// Begun, or flushed, at this step of the rank.
    Own(Position),
}

/// What is wrong with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is no epoch that it could belong to, or end.
    Outside,
    /// It begins an epoch while the one of this step is open.
    Twice(Position),
    /// The epoch of this step is still open, and the present step takes that it is not.
    NotClosed(Position),
}

impl Epochs {
    /// The same where ways meet: known only where they agree.
    pub(super) fn meet(&mut self, other: &Epochs) {
        if self != other {
            *self = Epochs { lost: true, ..Epochs::default() };
        }
    }

    /// Takes a step at a position, and says what is wrong with it.
    pub(super) fn take(&mut self, step: &WindowStep, here: Position) -> Vec<Fault> {
        if let WindowStep::Made { .. } = step {
            *self = Epochs::default();
        }
        if self.lost {
            return Vec::new();
        }
        match step {
            WindowStep::Made { .. } | WindowStep::Sync | WindowStep::Local { .. } => Vec::new(),
            WindowStep::Unknown => {
                *self = Epochs { lost: true, ..Epochs::default() };
                Vec::new()
            }
            WindowStep::Freed => std::mem::take(self).left_open().collect(),
            WindowStep::Fence { no_succeed, .. } => self.fence(here, *no_succeed),
            WindowStep::Lock { target, exclusive } => self.lock(*target, *exclusive, here),
            WindowStep::LockAll => {
                let open = self.lock_all.or(self.locks.first().copied());
                let faults = self.begin(open.map(|lock| lock.position).or(self.start_of()));
                self.lock_all = Some(Lock::of(None, false, here));
                faults
            }
            WindowStep::Unlock { target } => {
                let held = self.locks.iter().position(|lock| lock.target == Some(*target));
                let held = held.map(|index| self.locks.remove(index));
                self.needs(held.is_some() || *target == Peer::Null)
            }
            WindowStep::UnlockAll => {
                let held = self.lock_all.take();
                self.needs(held.is_some())
            }
            WindowStep::Flush { target, .. } => self.flush(*target, here),
            WindowStep::Start { group } => {
                let lock = self.lock_all.or(self.locks.first().copied());
                let faults = self.begin(self.start_of().or(lock.map(|lock| lock.position)));
                self.started = Some((here, group.clone()));
                faults
            }
            WindowStep::Complete => {
                let started = self.started.take();
                self.needs(started.is_some())
            }
            WindowStep::Post { .. } => {
                let twice = self.posted.map(Fault::Twice);
                self.posted = Some(here);
                twice.into_iter().collect()
            }
            WindowStep::Wait => {
                let posted = self.posted.take();
                self.needs(posted.is_some())
            }
            WindowStep::Access(access) => {
                let faults =
                    self.needs(access.target == Peer::Null || self.epoch_of(access).is_some());
                self.used |= matches!(self.epoch_of(access), Some(Opened::Fence(_)));
                faults
            }
        }
    }

    /// The epochs that are still open: where each of them was begun.
    pub(super) fn left_open(self) -> impl Iterator<Item = Fault> {
        let fence = self.fence.filter(|_| self.used);
        let locks = self.locks.into_iter().chain(self.lock_all).map(|lock| lock.position);
        let started = self.started.map(|(position, _)| position);
        fence.into_iter().chain(locks).chain(started).chain(self.posted).map(Fault::NotClosed)
    }

    /// The epoch that an access belongs to.
    pub(crate) fn epoch_of(&self, access: &WindowAccess) -> Option<Opened> {
        let is_of = |lock: &&Lock| lock.target.is_none_or(|target| target == access.target);
        let lock = self.locks.iter().chain(&self.lock_all).find(is_of);
        let started = self
            .started
            .as_ref()
            .filter(|(_, group)| group.as_ref().is_none_or(|group| group.contains(&access.target)));
        let own = lock.map(|lock| lock.flushed).or(started.map(|(position, _)| *position));
        own.map(Opened::Own).or(self.fence.map(|_| Opened::Fence(self.fences)))
    }

    /// Whether the lock of a rank's part that is held is exclusive. `None`: none is held.
    pub(crate) fn lock_of(&self, target: Peer) -> Option<bool> {
        let mut locks = self.locks.iter().chain(&self.lock_all);
        locks.find(|lock| lock.target.is_none_or(|it| it == target)).map(|lock| lock.is_exclusive)
    }

    /// Whether anything is known.
    pub(crate) fn are_known(&self) -> bool {
        !self.lost
    }

    fn fence(&mut self, here: Position, no_succeed: bool) -> Vec<Fault> {
        let fences = self.fences + 1;
        let open = Epochs { used: false, ..std::mem::take(self) };
        self.fences = fences;
        self.fence = (!no_succeed).then_some(here);
        open.left_open().collect()
    }

    fn lock(&mut self, target: Peer, is_exclusive: bool, here: Position) -> Vec<Fault> {
        if target == Peer::Null {
            return Vec::new();
        }
        let same = self.locks.iter().find(|lock| lock.target == Some(target)).copied();
        let open = same.or(self.lock_all).map(|lock| lock.position).or(self.start_of());
        let faults = self.begin(open);
        if same.is_none() {
            self.locks.push(Lock::of(Some(target), is_exclusive, here));
        }
        faults
    }

    fn flush(&mut self, target: Option<Peer>, here: Position) -> Vec<Fault> {
        let mut is_locked = false;
        for lock in self.locks.iter_mut().chain(&mut self.lock_all) {
            if lock.target.is_none() || target.is_none() || lock.target == target {
                lock.flushed = here;
                is_locked = true;
            }
        }
        self.needs(is_locked || target == Some(Peer::Null))
    }

    fn start_of(&self) -> Option<Position> {
        self.started.as_ref().map(|(position, _)| *position)
    }

    /// An access epoch begins: no other one is open, and the fences' one has nothing in it.
    fn begin(&mut self, open: Option<Position>) -> Vec<Fault> {
        let fence = self.fence.take().filter(|_| self.used);
        (self.used, self.strays) = (false, false);
        fence.map(Fault::NotClosed).into_iter().chain(open.map(Fault::Twice)).collect()
    }

    /// There is an epoch for a step, or there should be.
    fn needs(&mut self, is_there: bool) -> Vec<Fault> {
        if is_there || self.strays {
            return Vec::new();
        }
        self.strays = true;
        vec![Fault::Outside]
    }
}
