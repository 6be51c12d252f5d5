//! What is under way at a point of a role: the numbers that are bound there and the requests that
//! travel. A state of the generated code carries exactly this.

use p2p_protocol::grammar::syntax::{Name, Range};

/// One thing in scope.
#[derive(Clone)]
pub(crate) struct Slot<'p> {
    /// Its declaration.
    pub(crate) name: &'p Name,
    /// What it is.
    pub(crate) kind: SlotKind<'p>,
    /// Whether it is carried here: a request that has completed is not, nor is what nobody
    /// mentions any more.
    pub(crate) carried: bool,
}

/// What can be in scope.
#[derive(Clone, Copy)]
pub(crate) enum SlotKind<'p> {
    /// A loop's variable, or the source of a wildcard receive.
    Number,
    /// What the loop over this variable has still to run over.
    Rest(&'p Range),
    /// A persistent request that is planned, whether it is started or not.
    Plan(Transfer),
    /// A request that is started.
    Request(Transfer),
    /// A set of requests.
    Set(Transfer),
}

/// What a request moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// The message's position in the protocol.
    pub(crate) message: usize,
    /// Which way.
    pub(crate) direction: Direction,
    /// Whether the sender is known only when it has come.
    pub(crate) wildcard: bool,
}

/// Which way a request moves its message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Send,
    Receive,
}

/// Everything in scope at one point, outermost first. Blocks end by truncating it.
#[derive(Clone, Default)]
pub(crate) struct Scope<'p> {
    slots: Vec<Slot<'p>>,
}

impl<'p> Scope<'p> {
    /// How many slots there are, carried or not.
    pub(crate) fn depth(&self) -> usize {
        self.slots.len()
    }

    /// With one more.
    pub(crate) fn with(mut self, name: &'p Name, kind: SlotKind<'p>) -> Scope<'p> {
        self.slots.push(Slot { name, kind, carried: true });
        self
    }

    /// Only the outermost slots.
    pub(crate) fn truncated(mut self, depth: usize) -> Scope<'p> {
        self.slots.truncate(depth);
        self
    }

    /// With this request under way, or not.
    pub(crate) fn set_started(mut self, name: &Name, started: bool) -> Scope<'p> {
        for slot in &mut self.slots {
            if slot.name.id == name.id && matches!(slot.kind, SlotKind::Request(_)) {
                slot.carried = started;
            }
        }
        self
    }

    /// Without what nobody mentions any more.
    pub(crate) fn dropped(mut self, name: &Name) -> Scope<'p> {
        for slot in &mut self.slots {
            if slot.name.id == name.id {
                slot.carried = false;
            }
        }
        self
    }

    /// How many requests are under way here, a set being one.
    pub(crate) fn requests(&self) -> usize {
        let is = |slot: &&Slot<'_>| matches!(slot.kind, SlotKind::Request(_) | SlotKind::Set(_));
        self.carried().filter(is).count()
    }

    /// What is carried, outermost first.
    pub(crate) fn carried(&self) -> impl Iterator<Item = &Slot<'p>> {
        self.slots.iter().filter(|slot| slot.carried)
    }

    /// Every slot from this depth on, carried or not.
    pub(crate) fn since(&self, depth: usize) -> &[Slot<'p>] {
        self.slots.get(depth..).unwrap_or_default()
    }

    /// The request or set of this name, in whatever state it is.
    pub(crate) fn transfer(&self, name: &Name) -> Option<Transfer> {
        self.slots.iter().rev().find_map(|slot| match slot.kind {
            SlotKind::Request(transfer) | SlotKind::Set(transfer) if slot.name.id == name.id => {
                Some(transfer)
            }
            _ => None,
        })
    }

    /// Whether this name is a set here.
    pub(crate) fn is_set(&self, name: &Name) -> bool {
        let is = |slot: &Slot<'_>| slot.name.id == name.id && matches!(slot.kind, SlotKind::Set(_));
        self.slots.iter().any(is)
    }
}
