//! Follows a role's statements and says what is in scope behind each: which requests are under
//! way, on every path alike.
//!
//! A request that is complete on one path only has no type that fits both; that is an error here,
//! and a request set is the remedy.

use std::collections::HashSet;

use p2p_protocol::grammar::LanguageError;
use p2p_protocol::grammar::syntax::{
    Block, From, Name, RequestTarget, Role, Statement, StatementKind,
};
use syn::Lifetime;

use crate::mentions;
use crate::scope::{Direction, Scope, SlotKind, Transfer};

/// Follows one role.
pub(crate) struct Flow<'p> {
    role: &'p Role,
    loops: Vec<Loop<'p>>,
    errors: Vec<LanguageError>,
    reported: HashSet<u32>,
}

struct Loop<'p> {
    label: Option<&'p Lifetime>,
    entry: Scope<'p>,
    breaks: Vec<Scope<'p>>,
}

impl<'p> Flow<'p> {
    /// For following this role.
    pub(crate) fn new(role: &'p Role) -> Flow<'p> {
        Flow { role, loops: Vec::new(), errors: Vec::new(), reported: HashSet::new() }
    }

    /// Follows the whole role and says what does not fit together.
    pub(crate) fn check(mut self) -> Vec<LanguageError> {
        self.block(&self.role.body, Scope::default());
        self.errors
    }

    /// What is in scope behind a block, in the terms of before; nothing if it always jumps away.
    fn block(&mut self, block: &'p Block, before: Scope<'p>) -> Option<Scope<'p>> {
        let depth = before.depth();
        let mut scope = before;
        for statement in &block.statements {
            scope = self.after(statement, scope)?;
        }
        Some(scope.truncated(depth))
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
            StatementKind::StartSend(..)
            | StatementKind::StartReceive(..)
            | StatementKind::PlanSend(..)
            | StatementKind::PlanReceive(..) => Some(self.started(statement, before)),
            StatementKind::RequestSet(name) => Some(match self.pushed(name) {
                Some(transfer) => before.with(name, SlotKind::Set(transfer)),
                None => before,
            }),
            StatementKind::Start(name) => Some(before.set_started(name, true)),
            StatementKind::Wait(name) => Some(before.set_started(name, false)),
            StatementKind::WaitAll(names) => {
                Some(names.iter().fold(before, |scope, name| scope.set_started(name, false)))
            }
            StatementKind::If(_, then, otherwise) => {
                let arms = [(then, before.clone()), (otherwise, before)];
                self.arms(arms.into_iter())
            }
            StatementKind::Test(name, complete, pending) => {
                let completed = before.clone().set_started(name, false);
                self.arms([(complete, completed), (pending, before)].into_iter())
            }
            StatementKind::WaitAny(arms) => self.arms(
                arms.iter().map(|(name, body)| (body, before.clone().set_started(name, false))),
            ),
            StatementKind::Choose(_, arms) | StatementKind::Offer(_, arms) => {
                self.arms(arms.iter().map(|arm| (&arm.body, before.clone())))
            }
            StatementKind::For { label, variable, range, body } => {
                let entry = before.with(variable, SlotKind::Rest(range));
                let inside = entry.clone().with(variable, SlotKind::Number);
                let (entry, breaks) = self.repeated(label.as_ref(), body, entry, inside);
                let depth = entry.depth() - 1;
                let ends = [Some(entry)].into_iter().chain(breaks.into_iter().map(Some));
                self.join(ends.collect()).map(|scope| scope.truncated(depth))
            }
            StatementKind::Loop(label, body) => {
                let (_, breaks) = self.repeated(label.as_ref(), body, before.clone(), before);
                self.join(breaks.into_iter().map(Some).collect())
            }
            StatementKind::Break(label) => {
                if let Some((target, scope)) = self.jump(label.as_ref(), before) {
                    target.breaks.push(scope);
                }
                None
            }
            StatementKind::Continue(label) => {
                if let Some((target, scope)) = self.jump(label.as_ref(), before) {
                    let entry = target.entry.clone();
                    self.compare(&entry, &scope);
                }
                None
            }
            _ => Some(before),
        }
    }

    fn started(&self, statement: &'p Statement, before: Scope<'p>) -> Scope<'p> {
        match (transfer(&statement.kind), &statement.kind) {
            (
                Some(transfer),
                StatementKind::StartSend(_, _, _, RequestTarget::Named(name))
                | StatementKind::StartReceive(_, _, RequestTarget::Named(name)),
            ) => before.with(name, SlotKind::Request(transfer)),
            (
                Some(transfer),
                StatementKind::PlanSend(_, _, name) | StatementKind::PlanReceive(_, _, name),
            ) => before
                .with(name, SlotKind::Plan(transfer))
                .with(name, SlotKind::Request(transfer))
                .set_started(name, false),
            _ => before,
        }
    }

    /// Follows arms that come together again.
    fn arms(&mut self, arms: impl Iterator<Item = (&'p Block, Scope<'p>)>) -> Option<Scope<'p>> {
        let ends = arms.map(|(body, scope)| self.block(body, scope)).collect();
        self.join(ends)
    }

    /// Follows the body of a loop; gives back what is in scope at its head, and at its breaks.
    fn repeated(
        &mut self,
        label: Option<&'p Lifetime>,
        body: &'p Block,
        entry: Scope<'p>,
        inside: Scope<'p>,
    ) -> (Scope<'p>, Vec<Scope<'p>>) {
        self.loops.push(Loop { label, entry, breaks: Vec::new() });
        let end = self.block(body, inside);
        let Loop { entry, breaks, .. } = self.loops.pop().expect("it was pushed above");
        if let Some(end) = end {
            self.compare(&entry, &end);
        }
        (entry, breaks)
    }

    /// The loop that a jump means, and what is in scope there after the jump.
    fn jump(
        &mut self,
        label: Option<&Lifetime>,
        scope: Scope<'p>,
    ) -> Option<(&mut Loop<'p>, Scope<'p>)> {
        let index = target_of(self.loops.iter().map(|it| it.label), label)?;
        let target = &mut self.loops[index];
        let scope = scope.truncated(target.entry.depth());
        Some((target, scope))
    }

    fn join(&mut self, ends: Vec<Option<Scope<'p>>>) -> Option<Scope<'p>> {
        let mut ends = ends.into_iter().flatten();
        let first = ends.next()?;
        for other in ends {
            self.compare(&first, &other);
        }
        Some(first)
    }

    fn compare(&mut self, one: &Scope<'p>, other: &Scope<'p>) {
        for name in one.differences(other) {
            if self.reported.insert(name.id) {
                self.errors.push(LanguageError {
                    span: name.span(),
                    end: name.span(),
                    message: format!(
                        "the request `{name}` is completed on one path and still under way on \
                         another where they meet"
                    ),
                    help: Some(format!(
                        "complete it on both, or put it into a set: `let set = requests();` \
                         `set.push(..)` `wait_all(set)` instead of `let {name} = ..`"
                    )),
                });
            }
        }
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
                kind => mentions::blocks(kind).into_iter().find_map(|block| find(block, set)),
            })
        }
        find(&self.role.body, set)
    }
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
    let (message, direction, wildcard, persistent) = match kind {
        StatementKind::StartSend(_, _, message, _) => (message, Direction::Send, false, false),
        StatementKind::PlanSend(_, message, _) => (message, Direction::Send, false, true),
        StatementKind::StartReceive(from, message, _) => {
            (message, Direction::Receive, matches!(from, From::Any { .. }), false)
        }
        StatementKind::PlanReceive(from, message, _) => {
            (message, Direction::Receive, matches!(from, From::Any { .. }), true)
        }
        _ => return None,
    };
    Some(Transfer { message: message.index, direction, wildcard, persistent })
}
