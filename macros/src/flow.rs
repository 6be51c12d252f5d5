//! Follows a role's statements and says what is in scope behind each: what is bound there, and
//! which requests are under way.
//!
//! The grammar has seen to it that requests are in the same state on all ways that meet, so any of
//! these ways tells.

use p2p_protocol::grammar::syntax::{
    Block, From, Name, RequestTarget, Role, Statement, StatementKind,
};
use syn::Lifetime;

use crate::scope::{Direction, Scope, SlotKind, Transfer};

/// Follows one role.
pub(crate) struct Flow<'p> {
    role: &'p Role,
    loops: Vec<Loop<'p>>,
}

struct Loop<'p> {
    label: Option<&'p Lifetime>,
    depth: usize,
    /// What is in scope where it is left.
    exit: Option<Scope<'p>>,
}

impl<'p> Flow<'p> {
    /// For following this role.
    pub(crate) fn new(role: &'p Role) -> Flow<'p> {
        Flow { role, loops: Vec::new() }
    }

    /// What is in scope behind a statement; nothing if it always jumps away.
    pub(crate) fn after(
        &mut self,
        statement: &'p Statement,
        before: Scope<'p>,
    ) -> Option<Scope<'p>> {
        match &statement.kind {
            StatementKind::Receive(_, _, Some(name)) | StatementKind::Probe(_, _, Some(name)) => {
                Some(before.with(name, SlotKind::Number))
            }
            StatementKind::StartSend(_, _, _, RequestTarget::Named(name))
            | StatementKind::StartReceive(_, _, RequestTarget::Named(name)) => {
                let transfer = transfer(&statement.kind)?;
                Some(before.with(name, SlotKind::Request(transfer)))
            }
            StatementKind::PlanSend(_, _, name) | StatementKind::PlanReceive(_, _, name) => {
                let transfer = transfer(&statement.kind)?;
                let planned = before.with(name, SlotKind::Plan(transfer));
                Some(planned.with(name, SlotKind::Request(transfer)).set_started(name, false))
            }
            StatementKind::RequestSet(name) => Some(match self.pushed(name) {
                Some(transfer) => before.with(name, SlotKind::Set(transfer)),
                None => before,
            }),
            StatementKind::Start(name) => Some(before.set_started(name, true)),
            StatementKind::Wait(name) => Some(before.set_started(name, false)),
            StatementKind::WaitAll(names) => {
                Some(names.iter().fold(before, |scope, name| scope.set_started(name, false)))
            }
            StatementKind::For { label, body, .. } => {
                self.round(label.as_ref(), body, before.clone());
                Some(before)
            }
            StatementKind::Loop(label, body) => self.round(label.as_ref(), body, before),
            StatementKind::Break(label) => {
                let index = target_of(self.loops.iter().map(|it| it.label), label.as_ref())?;
                let left = &mut self.loops[index];
                left.exit = Some(before.truncated(left.depth));
                None
            }
            StatementKind::Continue(_) => None,
            kind => match arms(kind, &before) {
                Some(arms) => self.first_end(arms),
                None => Some(before),
            },
        }
    }

    fn block(&mut self, block: &'p Block, before: Scope<'p>) -> Option<Scope<'p>> {
        let depth = before.depth();
        let mut scope = before;
        for statement in &block.statements {
            scope = self.after(statement, scope)?;
        }
        Some(scope.truncated(depth))
    }

    /// What is in scope where arms meet again.
    fn first_end(&mut self, arms: Vec<(&'p Block, Scope<'p>)>) -> Option<Scope<'p>> {
        let mut met = None;
        for (body, scope) in arms {
            // Each is followed to its end: one may hold the way out of a loop.
            let end = self.block(body, scope);
            met = met.or(end);
        }
        met
    }

    /// Follows a loop's body once, and says what is in scope where a `break` leaves it.
    fn round(
        &mut self,
        label: Option<&'p Lifetime>,
        body: &'p Block,
        before: Scope<'p>,
    ) -> Option<Scope<'p>> {
        self.loops.push(Loop { label, depth: before.depth(), exit: None });
        self.block(body, before);
        self.loops.pop().and_then(|finished| finished.exit)
    }

    /// What is pushed into a set, by the first push that the role has.
    fn pushed(&self, set: &Name) -> Option<Transfer> {
        fn find(block: &Block, set: &Name) -> Option<Transfer> {
            block.statements.iter().find_map(|statement| match &statement.kind {
                StatementKind::StartSend(_, _, _, RequestTarget::Set(name))
                | StatementKind::StartReceive(_, _, RequestTarget::Set(name))
                    if name.id == set.id =>
                {
                    transfer(&statement.kind)
                }
                kind => kind.blocks().into_iter().find_map(|block| find(block, set)),
            })
        }
        find(&self.role.body, set)
    }
}

/// The arms of a statement that goes on in one of several ways, each with what is in scope at its
/// start.
pub(crate) fn arms<'p>(
    kind: &'p StatementKind,
    before: &Scope<'p>,
) -> Option<Vec<(&'p Block, Scope<'p>)>> {
    let completed = |name: &Name| before.clone().set_started(name, false);
    Some(match kind {
        StatementKind::If(_, then, otherwise) => {
            vec![(then, before.clone()), (otherwise, before.clone())]
        }
        StatementKind::Test(name, complete, pending) => {
            vec![(complete, completed(name)), (pending, before.clone())]
        }
        StatementKind::WaitAny(arms) => {
            arms.iter().map(|(name, body)| (body, completed(name))).collect()
        }
        StatementKind::Choose(_, arms) | StatementKind::Offer(_, arms) => {
            arms.iter().map(|arm| (&arm.body, before.clone())).collect()
        }
        _ => return None,
    })
}

/// The loop that a jump means, among these, the innermost last.
pub(crate) fn target_of<'p>(
    loops: impl ExactSizeIterator<Item = Option<&'p Lifetime>> + DoubleEndedIterator,
    label: Option<&Lifetime>,
) -> Option<usize> {
    let mut indexed = loops.enumerate().rev();
    let found = indexed.find(|(_, candidate)| label.is_none() || *candidate == label);
    found.map(|(index, _)| index)
}

/// What the request moves that a statement starts or plans.
pub(crate) fn transfer(kind: &StatementKind) -> Option<Transfer> {
    let (message, direction, wildcard) = match kind {
        StatementKind::StartSend(_, _, message, _) | StatementKind::PlanSend(_, message, _) => {
            (message, Direction::Send, false)
        }
        StatementKind::StartReceive(from, message, _)
        | StatementKind::PlanReceive(from, message, _) => {
            (message, Direction::Receive, matches!(from, From::Any { .. }))
        }
        _ => return None,
    };
    Some(Transfer { message: message.index, direction, wildcard })
}
