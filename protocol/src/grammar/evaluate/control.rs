//! Loops, conditions, decisions: what is known is followed, what is not becomes jumps.

use super::expression::Numbers;
use super::lower::{Lowering, ROLE, Stop, wait};
use crate::grammar::LanguageError;
use crate::grammar::syntax::{
    Block, DecisionArm, Expression, Name, Peers, Range, Statement, StatementKind,
};
use crate::model::{Action, Arm, Completion, Envelope, LabelId, Mode, Peer, Place, Position, Tag};

/// Where a rank goes after some statements, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// On to the next.
    Next,
    /// Behind the loop of this frame.
    Break(usize),
    /// To the next round of the loop of this frame.
    Continue(usize),
    /// Nowhere past here: jumps have been made, or it loops for ever.
    Never,
}

/// A loop that is being lowered.
#[derive(Default)]
pub(super) struct Frame {
    label: Option<syn::Lifetime>,
    /// Where an endless loop begins; a `for` has no beginning to jump to.
    head: Option<Position>,
    /// Jumps behind the loop.
    breaks: Vec<Position>,
    /// Jumps to the next round.
    continues: Vec<Position>,
}

impl Frame {
    /// Whether some way has left this loop, or this round of it, before.
    pub(super) fn has_jumps(&self) -> bool {
        !self.breaks.is_empty() || !self.continues.is_empty()
    }
}

impl Lowering<'_> {
    /// A statement that decides where it goes on.
    pub(super) fn control(&mut self, statement: &Statement) -> Result<Flow, Stop> {
        let place = statement.place;
        match &statement.kind {
            StatementKind::For { label, variable, range, body } => {
                self.for_loop(label, variable, range, body, place)
            }
            StatementKind::If(condition, then, otherwise) => {
                let taken =
                    if self.bindings.numbers().holds(condition)? { then } else { otherwise };
                self.block(taken)
            }
            StatementKind::Loop(label, body) => self.endless_loop(label, body, place),
            StatementKind::Break(label) => Ok(self.frame(label).map_or(Flow::Never, Flow::Break)),
            StatementKind::Continue(label) => {
                Ok(self.frame(label).map_or(Flow::Never, Flow::Continue))
            }
            StatementKind::Test(name, then, otherwise) => self.test(name, then, otherwise, place),
            StatementKind::WaitAny(arms) => self.wait_any(arms, place),
            StatementKind::Choose(peers, arms) => self.choose(peers, arms, place),
            StatementKind::Offer(peer, arms) => self.offer(peer, arms, place),
            _ => Ok(Flow::Next),
        }
    }

    /// The loop that a `break` or `continue` is about.
    fn frame(&self, label: &Option<syn::Lifetime>) -> Option<usize> {
        match label {
            None => self.frames.len().checked_sub(1),
            Some(label) => self.frames.iter().rposition(|frame| {
                frame.label.as_ref().is_some_and(|other| other.ident == label.ident)
            }),
        }
    }

    /// Emits a jump whose target is not known yet.
    fn jump(&mut self, place: Place) -> Position {
        self.emit(place, Action::Jump { target: Position::MAX })
    }

    /// Makes jumps lead here.
    fn land(&mut self, jumps: &[Position]) {
        let here = self.events.len();
        for &jump in jumps {
            if let Action::Jump { target } = &mut self.events[jump].action {
                *target = here;
            }
        }
    }

    /// Ends a way that is not the only one: goes where the flow says by a jump. Gives back whether
    /// it goes on to the next statement.
    fn leave(&mut self, flow: Flow, place: Place) -> bool {
        match flow {
            Flow::Next => return true,
            Flow::Never => {}
            Flow::Break(frame) => {
                let jump = self.jump(place);
                self.frames[frame].breaks.push(jump);
            }
            Flow::Continue(frame) => match self.frames[frame].head {
                Some(head) => {
                    self.emit(place, Action::Jump { target: head });
                }
                None => {
                    let jump = self.jump(place);
                    self.frames[frame].continues.push(jump);
                }
            },
        }
        false
    }

    fn for_loop(
        &mut self,
        label: &Option<syn::Lifetime>,
        variable: &Name,
        range: &Range,
        body: &Block,
        place: Place,
    ) -> Result<Flow, Stop> {
        let rounds = Rounds::new(range, self.bindings.numbers())?;
        let this = self.frames.len();
        self.frames.push(Frame { label: label.clone(), ..Frame::default() });
        let mut last = Flow::Next;
        let number = rounds.left;
        for (round, value) in (0..).zip(rounds) {
            if self.rounds == Some(round) {
                self.cut = true;
                last = Flow::Break(ROLE);
                break;
            }
            super::set(&mut self.bindings.values, variable.id, value);
            let flow = self.spend(1).and_then(|()| self.block(body));
            last = flow.inspect_err(|_| {
                self.frames.truncate(this);
                self.longest = self.longest.max(Some((number, place)));
            })?;
            if last == Flow::Continue(this) {
                last = Flow::Next;
            }
            let continues = std::mem::take(&mut self.frames[this].continues);
            if continues.is_empty() {
                if last != Flow::Next {
                    break;
                }
            } else {
                self.leave(last, place);
                self.land(&continues);
                last = Flow::Next;
            }
        }
        Ok(self.end_loop(this, last, place))
    }

    fn endless_loop(
        &mut self,
        label: &Option<syn::Lifetime>,
        body: &Block,
        place: Place,
    ) -> Result<Flow, Stop> {
        if let Some((request, place)) = spin(label, body) {
            let action = wait(&[self.bindings.request(request)]);
            self.emit(place, action);
            return Ok(Flow::Next);
        }
        let this = self.frames.len();
        let head = self.events.len();
        self.frames.push(Frame { label: label.clone(), head: Some(head), ..Frame::default() });
        self.endless += 1;
        let flow = self.block(body);
        self.endless -= 1;
        let flow = flow.inspect_err(|_| self.frames.truncate(this))?;
        let again = matches!(flow, Flow::Next) || flow == Flow::Continue(this);
        let last = if again {
            self.emit(place, Action::Jump { target: head });
            Flow::Never
        } else {
            flow
        };
        if self.endless == 0 {
            self.complete_set_waits()?;
        }
        let flow = self.end_loop(this, last, place);
        let idle = |position: Position| matches!(self.events[position].action, Action::Jump { .. });
        if again && (head..self.events.len()).all(idle) {
            let (rank, size) = (self.bindings.rank, self.bindings.size);
            let text =
                format!("this loop goes on for ever and does nothing, for rank {rank} of {size}");
            let error = LanguageError::new(self.protocol.region(place), text)
                .help("leave it with `break`, or communicate in it");
            return Err(Stop::Wrong(error));
        }
        Ok(flow)
    }

    /// Ends a loop: what breaks out of it goes on here.
    pub(super) fn end_loop(&mut self, this: usize, last: Flow, place: Place) -> Flow {
        let Some(frame) = self.frames.pop() else { return last };
        let last = if last == Flow::Break(this) { Flow::Next } else { last };
        if frame.breaks.is_empty() {
            return last;
        }
        self.leave(last, place);
        self.land(&frame.breaks);
        Flow::Next
    }

    /// A wait in an endless loop waits also for what the loop pushes after it.
    fn complete_set_waits(&mut self) -> Result<(), Stop> {
        for (position, set) in std::mem::take(&mut self.set_waits) {
            let Some(set) = self.bindings.known_set(set) else { continue };
            let slots: Box<[_]> = set.slots.as_slice().into();
            self.spend(slots.len() as u64)?;
            if let Action::Wait { requests, .. } = &mut self.events[position].action {
                *requests = slots;
            }
        }
        Ok(())
    }

    /// One of several ways, which ends behind all of them. Gives back the jump there.
    fn way(&mut self, block: &Block, place: Place) -> Result<Option<Position>, Stop> {
        self.ways += 1;
        let flow = self.block(block);
        self.ways -= 1;
        let flow = flow?;
        Ok(if self.leave(flow, place) { Some(self.jump(place)) } else { None })
    }

    /// Joins the ways. The last one needs no jump.
    fn join(&mut self, mut jumps: Vec<Position>) -> Flow {
        if jumps.is_empty() {
            return Flow::Never;
        }
        if jumps.last() == Some(&(self.events.len() - 1)) {
            jumps.pop();
            self.events.pop();
        }
        self.land(&jumps);
        Flow::Next
    }

    fn test(
        &mut self,
        name: &Name,
        then: &Block,
        otherwise: &Block,
        place: Place,
    ) -> Result<Flow, Stop> {
        let request = self.bindings.request(name);
        let test = self.emit(place, Action::Test { request, pending: Position::MAX });
        let mut jumps = Vec::new();
        jumps.extend(self.way(then, place)?);
        let here = self.events.len();
        if let Action::Test { pending, .. } = &mut self.events[test].action {
            *pending = here;
        }
        jumps.extend(self.way(otherwise, place)?);
        Ok(self.join(jumps))
    }

    fn wait_any(&mut self, arms: &[(Name, Block)], place: Place) -> Result<Flow, Stop> {
        let requests = arms.iter().map(|(name, _)| self.bindings.request(name)).collect();
        let completion = Completion::Any(None);
        let wait = self.emit(place, Action::Wait { requests, completion });
        let mut jumps = Vec::new();
        let mut targets = Vec::new();
        for (_, block) in arms {
            targets.push(self.events.len());
            jumps.extend(self.way(block, place)?);
        }
        if let Action::Wait { completion, .. } = &mut self.events[wait].action {
            *completion = Completion::Any(Some(targets.into()));
        }
        Ok(self.join(jumps))
    }

    fn choose(&mut self, peers: &Peers, arms: &[DecisionArm], place: Place) -> Result<Flow, Stop> {
        let peers = self.told(peers)?;
        let choose = self.emit(place, Action::Choose { arms: Box::new([]) });
        let mut jumps = Vec::new();
        let mut targets = Vec::new();
        for arm in arms {
            targets.push(Arm { label: label_of(arm), target: self.events.len() });
            for &peer in &peers {
                self.spend(1)?;
                let envelope = self.decision(peer, Some(arm.index));
                self.emit(place, Action::Send { mode: Mode::Buffered, envelope });
            }
            jumps.extend(self.way(&arm.body, place)?);
        }
        self.events[choose].action = Action::Choose { arms: targets.into() };
        Ok(self.join(jumps))
    }

    fn offer(
        &mut self,
        peer: &Expression,
        arms: &[DecisionArm],
        place: Place,
    ) -> Result<Flow, Stop> {
        let peer = self.peer(peer)?;
        let envelope = self.decision(peer, None);
        let offer = self.emit(place, Action::Offer { envelope, arms: Box::new([]) });
        let mut jumps = Vec::new();
        let mut targets = Vec::new();
        for arm in arms {
            targets.push(Arm { label: label_of(arm), target: self.events.len() });
            jumps.extend(self.way(&arm.body, place)?);
        }
        self.events[offer].action = Action::Offer { envelope, arms: targets.into() };
        Ok(self.join(jumps))
    }

    fn decision(&self, peer: Peer, label: Option<usize>) -> Envelope {
        Envelope {
            peer,
            tag: Tag::Exact(0),
            communicator: self.tables.decisions(),
            data: self.tables.decision(label),
        }
    }

    /// Whom a decision is told: never this rank itself.
    fn told(&mut self, peers: &Peers) -> Result<Vec<Peer>, Stop> {
        let mut told = Vec::new();
        match peers {
            Peers::Nobody => {}
            Peers::One(peer) => told.push(self.peer(peer)?),
            Peers::Several(peers) => {
                for peer in peers {
                    told.push(self.peer(peer)?);
                }
            }
            Peers::Range(start, end) => {
                let numbers = self.bindings.numbers();
                let (start, end) = (numbers.integer(start)?, numbers.integer(end)?);
                let fits = |value: i64| value.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
                for peer in fits(start)..fits(end) {
                    self.spend(1)?;
                    told.extend(i32::try_from(peer).map(Peer::Rank));
                }
            }
        }
        told.retain(
            |&peer| !matches!(peer, Peer::Rank(rank) if i64::from(rank) == self.bindings.rank),
        );
        Ok(told)
    }
}

fn label_of(arm: &DecisionArm) -> LabelId {
    LabelId::try_from(arm.index).unwrap_or(LabelId::MAX)
}

/// The values of a loop variable, in order.
struct Rounds {
    next: i64,
    left: u64,
    stride: i64,
}

impl Rounds {
    fn new(range: &Range, numbers: Numbers<'_>) -> Result<Rounds, Stop> {
        let start = numbers.integer(&range.start)?;
        let end = numbers.integer(&range.end)?;
        let stride = match &range.step {
            None => 1,
            Some(step) => {
                let value = numbers.integer(step)?;
                if value < 1 {
                    let text = format!(
                        "the stride is {value}, for rank {} of {}",
                        numbers.rank, numbers.size
                    );
                    let error =
                        LanguageError::new(step.region(), text).help("a stride is 1 or more");
                    return Err(Stop::Wrong(error));
                }
                value
            }
        };
        // In 128 bits, since the distance of two integers needs one bit more than they have.
        let (start, end) = (i128::from(start), i128::from(end));
        let end = if range.inclusive { end + 1 } else { end };
        let wide = i128::from(stride);
        let left = ((end - start).max(0) + wide - 1) / wide;
        let covered = (left - 1).max(0) * wide;
        let lowest = if range.step_from_end { end - 1 - covered } else { start };
        let next = if range.reversed { lowest + covered } else { lowest };
        Ok(Rounds {
            // A range that is empty has no value that could be out of reach.
            next: i64::try_from(next).unwrap_or_default(),
            left: u64::try_from(left).unwrap_or(u64::MAX),
            stride: if range.reversed { -stride } else { stride },
        })
    }
}

impl Iterator for Rounds {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        let value = self.next;
        self.next = value.wrapping_add(self.stride);
        Some(value)
    }
}

/// The request that a loop does nothing but test, and where: it waits, in other words.
fn spin<'p>(label: &Option<syn::Lifetime>, body: &'p Block) -> Option<(&'p Name, Place)> {
    let (first, rest) = body.statements.split_first()?;
    let StatementKind::Test(name, then, otherwise) = &first.kind else { return None };
    let after = |block: &'p Block| block.statements.iter().chain(rest).next();
    let this = |used: &Option<syn::Lifetime>| {
        used.as_ref().is_none_or(|used| label.as_ref().is_some_and(|own| own.ident == used.ident))
    };
    let leaves = match &after(then)?.kind {
        StatementKind::Break(used) => this(used),
        _ => false,
    };
    let stays = after(otherwise).is_none_or(|statement| match &statement.kind {
        StatementKind::Continue(used) => this(used),
        _ => false,
    });
    (leaves && stays).then_some((name, first.place))
}
