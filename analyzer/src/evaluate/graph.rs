//! What a rank does, while it is being found out: basic blocks of events with jumps and branches
//! between them, and the flat list that becomes of them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use p2p_protocol::model::{Action, Behaviour, Event, Peer, Place, Position, SourceId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A basic block: an index into [`Graph`]'s blocks.
pub(super) type BlockId = usize;

/// Events one after the other, and where it goes on.
#[derive(Clone, Debug, Default)]
struct BasicBlock {
    events: Vec<Event>,
    /// The chains of calls by which messages were come to, with which of the events they are.
    chains: Vec<(usize, u32)>,
    next: Next,
}

/// Where a block leads.
#[derive(Clone, Debug, Default)]
pub(super) enum Next {
    /// The rank's end.
    #[default]
    End,
    /// Another block.
    Jump(BlockId),
    /// One of these, by what nobody knows.
    Branch(Place, Vec<BlockId>),
    /// One of these by the tag of a message, or the last one.
    BranchOnTag(Place, SourceId, Vec<(i32, BlockId)>, BlockId),
}

/// A point to return to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    blocks: usize,
    cursor: BlockId,
    events: usize,
    total: usize,
}

/// The blocks, and the one that is being written.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    blocks: Vec<BasicBlock>,
    /// The block that events go to.
    pub(super) cursor: BlockId,
    total: usize,
    /// The slots whose message's length the program has asked for.
    measured: BTreeSet<SourceId>,
    /// The slots whose message's tag the program looks at.
    tags_asked: BTreeSet<SourceId>,
    /// The chain of calls that is going on.
    pub(super) chain: u32,
    /// What empty blocks lead to, as far as it was asked for the flat list.
    resolved: RefCell<FxHashMap<BlockId, BlockId>>,
}

impl Default for Graph {
    fn default() -> Self {
        Graph {
            blocks: vec![BasicBlock::default()],
            cursor: 0,
            total: 0,
            measured: BTreeSet::new(),
            tags_asked: BTreeSet::new(),
            chain: 0,
            resolved: RefCell::default(),
        }
    }
}

impl Graph {
    /// How many events there are.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Writes an event down.
    pub(super) fn push(&mut self, action: Action, place: Place) {
        self.total += 1;
        let block = &mut self.blocks[self.cursor];
        if moves_message(&action) {
            block.chains.push((block.events.len(), self.chain));
        }
        block.events.push(Event { action, place });
    }

    /// Asks for the last events of the current block, the last one first, until one says yes or says
    /// that none before it counts. Whether one said yes.
    pub(super) fn any_of_last(
        &mut self,
        most: usize,
        asked: impl Fn(&mut Action) -> Option<bool>,
    ) -> bool {
        let events = self.blocks[self.cursor].events.iter_mut().rev().take(most);
        events.map(|event| asked(&mut event.action)).find(|it| *it != Some(false))
            == Some(Some(true))
    }

    /// The program goes by the length of the message that a slot was bound to: a probe binds it even
    /// if nobody asks for its source.
    pub(super) fn measure(&mut self, slot: SourceId) {
        self.measured.insert(slot);
    }

    /// Whether there is one way so far.
    pub(super) fn is_straight(&self) -> bool {
        self.blocks.len() == 1
    }

    /// The program looks at the tag of the message that a slot was bound to.
    pub(super) fn ask_tag(&mut self, slot: SourceId) {
        self.tags_asked.insert(slot);
    }

    /// A block that nothing leads to yet.
    pub(super) fn new_block(&mut self) -> BlockId {
        self.blocks.push(BasicBlock::default());
        self.blocks.len() - 1
    }

    /// Where a block leads from now on.
    pub(super) fn lead(&mut self, from: BlockId, next: Next) {
        self.blocks[from].next = next;
    }

    /// Where it stands, to return to.
    pub(super) fn mark(&self) -> Mark {
        let events = self.blocks[self.cursor].events.len();
        Mark { blocks: self.blocks.len(), cursor: self.cursor, events, total: self.total }
    }

    /// Takes back everything since the mark.
    pub(super) fn back_to(&mut self, mark: Mark) {
        self.blocks.truncate(mark.blocks);
        self.cursor = mark.cursor;
        let block = &mut self.blocks[mark.cursor];
        block.events.truncate(mark.events);
        block.chains.retain(|(event, _)| *event < mark.events);
        block.next = Next::End;
        self.total = mark.total;
    }

    /// Whether no event was written since the mark.
    pub(super) fn silent_since(&self, mark: Mark) -> bool {
        self.total == mark.total
    }

    /// The events since the mark, if they stand in one row: no branch was written.
    pub(super) fn since(&self, mark: Mark) -> Option<&[Event]> {
        let straight = self.blocks.len() == mark.blocks && self.cursor == mark.cursor;
        straight.then(|| &self.blocks[mark.cursor].events[mark.events..])
    }

    /// The flat list.
    pub(super) fn flatten(&self) -> Behaviour {
        let Flattening { events, mut chains, .. } = Flattening::of(self);
        let goes_by_tag = |position: Position| match &events[position].action {
            Action::Receive { binds: Some(slot), .. }
            | Action::StartReceive { binds: Some(slot), .. } => self.tags_asked.contains(slot),
            _ => false,
        };
        chains.retain(|(position, _)| !goes_by_tag(*position));
        let mut behaviour = Behaviour { events, chains, ..Default::default() };
        drop_unused_slots(&mut behaviour, &self.measured);
        behaviour.requests = requests(&behaviour.events);
        behaviour
    }

    /// Past empty blocks with one way on; [`END`] where nothing comes any more.
    fn resolve(&self, block: BlockId) -> BlockId {
        if let Some(resolved) = self.resolved.borrow().get(&block) {
            return *resolved;
        }
        let mut comes_back = false;
        self.resolve_from(block, &mut FxHashSet::default(), &mut comes_back)
    }

    /// The same from the midst of a way, which `comes_back` to a block that it has seen. What does
    /// not is kept: it is the same from anywhere.
    fn resolve_from(
        &self,
        from: BlockId,
        seen: &mut FxHashSet<BlockId>,
        comes_back: &mut bool,
    ) -> BlockId {
        if let Some(resolved) = self.resolved.borrow().get(&from) {
            return *resolved;
        }
        let (mut block, mut is_loop) = (from, false);
        while block != END && self.blocks[block].events.is_empty() {
            if !seen.insert(block) {
                is_loop = true;
                break;
            }
            match &self.blocks[block].next {
                Next::End => block = END,
                Next::Jump(target) => block = *target,
                Next::Branch(_, targets) => {
                    let known = seen.clone();
                    let mut resolved = targets
                        .iter()
                        .map(|it| self.resolve_from(*it, &mut known.clone(), &mut is_loop));
                    match resolved.next() {
                        Some(first) if first != block && resolved.all(|other| other == first) => {
                            block = first;
                        }
                        _ => break,
                    }
                }
                Next::BranchOnTag(..) => break,
            }
        }
        *comes_back |= is_loop;
        if !is_loop {
            self.resolved.borrow_mut().insert(from, block);
        }
        block
    }
}

/// A list in the making.
struct Flattening<'g> {
    graph: &'g Graph,
    events: Vec<Event>,
    chains: Vec<(Position, u32)>,
    placed: FxHashMap<BlockId, Position>,
}

/// Stands for the rank's end until its position is known.
const END: usize = usize::MAX;

impl<'g> Flattening<'g> {
    fn of(graph: &'g Graph) -> Self {
        graph.resolved.borrow_mut().clear();
        let (events, chains) = (Vec::new(), Vec::new());
        let mut list = Flattening { graph, events, chains, placed: FxHashMap::default() };
        let order = list.order();
        for (number, block) in order.iter().enumerate() {
            list.place(*block, order.get(number + 1).copied());
        }
        list.settle();
        list
    }

    /// All blocks, each before those that it leads to, but for the ways back in loops.
    fn order(&self) -> Vec<BlockId> {
        let mut seen = FxHashSet::from_iter([END]);
        let mut open = Vec::new();
        let mut order = Vec::new();
        let first = self.graph.resolve(0);
        if seen.insert(first) {
            open.push((first, self.successors(first)));
        }
        while let Some((block, left)) = open.last_mut() {
            // The last ones first: from the end, those come last that come first in the list.
            match left.pop() {
                Some(next) if seen.insert(next) => open.push((next, self.successors(next))),
                Some(_) => {}
                None => {
                    order.push(*block);
                    open.pop();
                }
            }
        }
        order.reverse();
        order
    }

    fn successors(&self, block: BlockId) -> Vec<BlockId> {
        if self.ends(block) {
            return Vec::new();
        }
        let targets = match &self.graph.blocks[block].next {
            Next::End => Vec::new(),
            Next::Jump(target) => vec![*target],
            Next::Branch(_, targets) => targets.clone(),
            Next::BranchOnTag(_, _, arms, otherwise) => {
                arms.iter().map(|(_, arm)| *arm).chain([*otherwise]).collect()
            }
        };
        targets.into_iter().map(|target| self.graph.resolve(target)).collect()
    }

    /// Whether nothing comes after a block's events.
    fn ends(&self, block: BlockId) -> bool {
        let last = self.graph.blocks[block].events.last();
        last.is_some_and(|it| matches!(it.action, Action::Leave { .. } | Action::Opaque))
    }

    /// Writes a block down, and how it goes on if that is not with the next one.
    fn place(&mut self, block: BlockId, following: Option<BlockId>) {
        self.placed.insert(block, self.events.len());
        let BasicBlock { events, chains, next } = &self.graph.blocks[block];
        let first = self.events.len();
        self.chains.extend(chains.iter().map(|(event, chain)| (first + event, *chain)));
        self.events.extend(events.iter().cloned());
        if self.ends(block) {
            return;
        }
        match next {
            Next::End => self.go_to_resolved(END, following),
            Next::Jump(target) => self.go_to(*target, following),
            Next::Branch(place, targets) => self.branch(*place, targets, following),
            Next::BranchOnTag(place, slot, arms, otherwise) => {
                let arms = arms.iter().map(|(tag, arm)| (*tag, self.graph.resolve(*arm)));
                let (arms, otherwise) = (arms.collect(), self.graph.resolve(*otherwise));
                let action = Action::BranchOnTag { slot: *slot, arms, otherwise };
                self.events.push(Event { action, place: *place });
            }
        }
    }

    fn branch(&mut self, place: Place, targets: &[BlockId], following: Option<BlockId>) {
        let mut resolved: Vec<BlockId> = Vec::new();
        for target in targets {
            let target = self.graph.resolve(*target);
            if !resolved.contains(&target) {
                resolved.push(target);
            }
        }
        match resolved[..] {
            [only] => self.go_to_resolved(only, following),
            _ => {
                let action = Action::Branch { targets: resolved.into() };
                self.events.push(Event { action, place });
            }
        }
    }

    fn go_to(&mut self, target: BlockId, following: Option<BlockId>) {
        self.go_to_resolved(self.graph.resolve(target), following);
    }

    fn go_to_resolved(&mut self, target: BlockId, following: Option<BlockId>) {
        if following.unwrap_or(END) != target {
            self.jump(target);
        }
    }

    fn jump(&mut self, target: usize) {
        let place = self.events.last().map_or(Place::default(), |event| event.place);
        self.events.push(Event { action: Action::Jump { target }, place });
    }

    /// Puts positions where blocks are named.
    fn settle(&mut self) {
        let end = self.events.len();
        let placed = &self.placed;
        let position = |block: &mut Position| {
            *block = if *block == END { end } else { placed.get(block).copied().unwrap_or(end) };
        };
        for event in &mut self.events {
            match &mut event.action {
                Action::Jump { target } => position(target),
                Action::Branch { targets } => targets.iter_mut().for_each(position),
                Action::BranchOnTag { arms, otherwise, .. } => {
                    arms.iter_mut().for_each(|(_, target)| position(target));
                    position(otherwise);
                }
                _ => {}
            }
        }
    }
}

fn moves_message(action: &Action) -> bool {
    matches!(
        action,
        Action::Send { .. }
            | Action::StartSend { .. }
            | Action::Receive { .. }
            | Action::StartReceive { .. }
    )
}

/// One more than the highest request's number.
fn requests(events: &[Event]) -> u32 {
    let highest = events.iter().flat_map(|event| event.action.requests()).copied();
    highest.max().map_or(0, |highest| highest + 1)
}

/// Slots that nobody asks are not bound; the others are numbered from 0.
fn drop_unused_slots(behaviour: &mut Behaviour, measured: &BTreeSet<SourceId>) {
    let mut used: Vec<SourceId> = Vec::new();
    for event in &mut behaviour.events {
        if let Action::Probe { binds: Some(slot), .. } = &event.action
            && measured.contains(slot)
        {
            used.push(*slot);
        }
        for_each_use(&mut event.action, &mut |slot| used.push(*slot));
    }
    used.sort_unstable();
    used.dedup();
    let number = |slot: &SourceId| used.binary_search(slot).ok().map(|index| index as SourceId);
    for event in &mut behaviour.events {
        for_each_use(&mut event.action, &mut |slot| *slot = number(slot).unwrap_or(*slot));
        if let Action::Receive { binds, .. }
        | Action::StartReceive { binds, .. }
        | Action::Probe { binds, .. } = &mut event.action
        {
            *binds = binds.as_ref().and_then(number);
        }
    }
    behaviour.sources = used.len() as SourceId;
}

/// Visits the slots that an action asks.
pub(super) fn for_each_use(action: &mut Action, visit: &mut dyn FnMut(&mut SourceId)) {
    for peer in action.peers_mut() {
        if let Peer::Source(slot) = peer {
            visit(slot);
        }
    }
    match action {
        Action::BranchOnTag { slot, .. } => visit(slot),
        Action::Measured { told, taken } => {
            visit(told);
            visit(taken);
        }
        _ => {}
    }
}
