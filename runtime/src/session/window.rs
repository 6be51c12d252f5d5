//! One-sided operations: memory of one rank that others write and read between fences.
//!
//! A window is a `Vec` that belongs to its rank's session, one for each message that `put` or
//! `get` names. Nobody else ever touches it: a put sends its elements, a get its wish, as buffered
//! messages, and at the fence each rank does to its own window what the others have asked for. All
//! that was asked before the fence is there when its meeting is over. Puts are done first, in the
//! order of ranks, then gets are answered, so what a fence does depends on no race, though MPI
//! would call two puts to one place in one epoch wrong. A window grows as far as it is written.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};

use super::{Channel, Fresh, Mode, One, Operation, Outgoing, Plain, Receive, Result, Session};
use crate::transport::{Envelope, Filter, Origin};

type Key = (u16, i32);

/// All windows of a session, and what it has asked for since the last fence.
#[derive(Default)]
pub(super) struct Windows {
    /// How many fences there were.
    epoch: u32,
    windows: BTreeMap<Key, Box<dyn Apply>>,
    /// The gets since the last fence: whom, and into which window's results.
    wanted: Vec<(&'static Operation, usize, u64)>,
}

struct Window<T> {
    data: Vec<T>,
    fetched: VecDeque<Vec<T>>,
}

/// What is done to another rank's window, as it travels: communicator and tag, 1 for a put or 2
/// for a get, the place of the first element, how many.
type Wish = [u64; 4];
const PUT: u64 = 1;
const GET: u64 = 2;

/// The kinds of message of an epoch; the rest of the tag is the epoch.
#[derive(Clone, Copy)]
enum Kind {
    Wish = 0,
    Put = 1,
    Answer = 2,
}

/// A window without its type. Each method is one message's worth of a fence.
trait Apply: Any {
    /// Writes what `source` has put.
    fn put(&mut self, fence: &Fence<'_, '_>, source: usize, range: (usize, usize)) -> Result<()>;
    /// Sends `source` what it wants to get.
    fn answer(&self, fence: &Fence<'_, '_>, source: usize, range: (usize, usize)) -> Result<()>;
    /// Keeps what `source` has answered.
    fn fetch(&mut self, fence: &Fence<'_, '_>, source: usize, count: usize) -> Result<()>;
    fn as_any(&mut self) -> &mut dyn Any;
}

impl<T: Plain> Apply for Window<T> {
    fn put(
        &mut self,
        fence: &Fence<'_, '_>,
        source: usize,
        (first, count): (usize, usize),
    ) -> Result<()> {
        if first == 0 && count >= self.data.len() {
            return fence.take(Kind::Put, source, &mut self.data);
        }
        let end = first + count;
        if self.data.len() < end {
            self.data.resize(end, T::zero());
        }
        fence.take(Kind::Put, source, &mut self.data[first..end])
    }

    fn answer(
        &self,
        fence: &Fence<'_, '_>,
        source: usize,
        (first, count): (usize, usize),
    ) -> Result<()> {
        // Less than was wanted is an error at the end that wanted it.
        let rest = self.data.get(first..).unwrap_or_default();
        let answer = rest[..count.min(rest.len())].to_vec();
        fence.session.tell(fence.operation, fence.epoch, Kind::Answer, source, answer)
    }

    fn fetch(&mut self, fence: &Fence<'_, '_>, source: usize, count: usize) -> Result<()> {
        let data: Vec<T> = fence.take(Kind::Answer, source, Fresh::new())?;
        if data.len() < count {
            let expected = format!("{count} in the window of rank {source}");
            return Err(fence.session.wrong_length(fence.operation, data.len(), expected));
        }
        self.fetched.push_back(data);
        Ok(())
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Windows {
    /// The window of `operation`'s message; made empty if it is not there.
    fn window<T: Plain>(&mut self, operation: &Operation) -> &mut Window<T> {
        let key = (operation.communicator, operation.tag);
        let new = || Box::new(Window::<T> { data: Vec::new(), fetched: VecDeque::new() }) as _;
        let window = self.windows.entry(key).or_insert_with(new).as_any();
        window.downcast_mut().expect("one message has one type")
    }
}

/// One fence while it is going on.
struct Fence<'a, 'env> {
    session: &'a Session<'env>,
    operation: &'static Operation,
    epoch: u32,
}

impl Fence<'_, '_> {
    fn envelope(&self, step: Kind) -> Envelope {
        self.session.window_envelope(self.epoch, step)
    }

    fn take<T: Plain, R: Receive<T>>(
        &self,
        step: Kind,
        source: usize,
        buffer: R,
    ) -> Result<R::Output> {
        let filter = Filter { source: Origin::Rank(source), envelope: self.envelope(step) };
        self.session.recv_filtered(self.operation, filter, buffer).map(|(output, _)| output)
    }

    /// What `source` still asks for in this epoch.
    fn next_wish(&self, source: usize) -> Result<Option<Wish>> {
        let filter = Filter { source: Origin::Rank(source), envelope: self.envelope(Kind::Wish) };
        if !self.session.endpoint.borrow_mut().has_message(self.operation, &filter)? {
            return Ok(None);
        }
        self.take(Kind::Wish, source, One::new()).map(Some)
    }

    /// Does what the others asked for, and takes what they answer.
    fn apply(&self, windows: &mut Windows) -> Result<()> {
        let mut gets = Vec::new();
        for source in 0..self.session.size {
            while let Some([key, kind, first, count]) = self.next_wish(source)? {
                let key = ((key >> 32) as u16, (key as u32).cast_signed());
                let window = windows.windows.get_mut(&key).expect("all ranks open all windows");
                let range = (first as usize, count as usize);
                if kind == PUT {
                    window.put(self, source, range)?;
                } else {
                    gets.push((key, source, range));
                }
            }
        }
        for (key, source, range) in gets {
            windows.windows[&key].answer(self, source, range)?;
        }
        for (operation, source, count) in std::mem::take(&mut windows.wanted) {
            let key = (operation.communicator, operation.tag);
            let window = windows.windows.get_mut(&key).expect("a get opens its window");
            window.fetch(self, source, count as usize)?;
        }
        Ok(())
    }
}

impl Session<'_> {
    /// Opens the window of `operation`'s message. Every rank opens every window of its protocol
    /// when the run begins, since others may put into it.
    pub fn open_window<T: Plain>(&mut self, operation: &'static Operation) {
        self.windows.window::<T>(operation);
    }

    /// This rank's own window of `operation`'s message, to fill and to read. What others put
    /// arrives in it at a fence, and only there.
    pub fn window<T: Plain>(&mut self, operation: &'static Operation) -> &mut Vec<T> {
        &mut self.windows.window::<T>(operation).data
    }

    /// Writes `data` into the window of `peer`, from element `first` on, at the next fence. The
    /// data is copied, or moved, before this returns.
    pub fn put<'a, T: Plain>(
        &mut self,
        operation: &'static Operation,
        peer: i64,
        first: usize,
        data: impl Into<Outgoing<'a, T>>,
    ) -> Result<()> {
        let peer = self.peer(operation, peer)?;
        self.endpoint.borrow_mut().enter(operation);
        let epoch = self.windows.epoch;
        let data = data.into();
        let wish = wish(operation, PUT, first, data.length());
        self.tell(operation, epoch, Kind::Wish, peer, &[wish])?;
        self.tell(operation, epoch, Kind::Put, peer, data)
    }

    /// Asks for `count` elements of the window of `peer`, from element `first` on; they are there
    /// after the next fence, in [`Session::fetched`].
    pub fn get<T: Plain>(
        &mut self,
        operation: &'static Operation,
        peer: i64,
        first: usize,
        count: usize,
    ) -> Result<()> {
        let peer = self.peer(operation, peer)?;
        self.endpoint.borrow_mut().enter(operation);
        let epoch = self.windows.epoch;
        self.windows.window::<T>(operation);
        self.windows.wanted.push((operation, peer, count as u64));
        self.tell(operation, epoch, Kind::Wish, peer, &[wish(operation, GET, first, count)])
    }

    /// What the oldest get of `operation`'s message has brought, if there is one that a fence has
    /// completed and nobody has asked for yet.
    pub fn fetched<T: Plain>(&mut self, operation: &'static Operation) -> Option<Vec<T>> {
        self.windows.window::<T>(operation).fetched.pop_front()
    }

    /// Returns when every rank has called it and all puts and gets before it are done.
    pub fn fence(&mut self, operation: &'static Operation) -> Result<()> {
        self.fence_meeting(operation)?;
        let mut windows = std::mem::take(&mut self.windows);
        let fence = Fence { session: self, operation, epoch: windows.epoch };
        let result = fence.apply(&mut windows);
        windows.epoch = windows.epoch.wrapping_add(1);
        self.windows = windows;
        result
    }

    fn window_envelope(&self, epoch: u32, step: Kind) -> Envelope {
        let tag = (epoch << 2 | step as u32).cast_signed();
        Envelope { tag, session: self.number, communicator: Channel::Window as u16 }
    }

    fn tell<'a, T: Plain>(
        &self,
        operation: &'static Operation,
        epoch: u32,
        step: Kind,
        peer: usize,
        data: impl Into<Outgoing<'a, T>>,
    ) -> Result<()> {
        let envelope = self.window_envelope(epoch, step);
        self.send_enveloped(operation, Mode::Buffered, peer, envelope, data.into())
    }
}

fn wish(operation: &Operation, kind: u64, first: usize, count: usize) -> Wish {
    let key = u64::from(operation.communicator) << 32 | u64::from(operation.tag.cast_unsigned());
    [key, kind, first as u64, count as u64]
}
