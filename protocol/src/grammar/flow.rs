//! What can be said of a role by following its statements once: where they cannot be reached,
//! jumps without a loop, and requests that are started or completed when they must not be.
//!
//! Requests that are never completed are not found here; the rule `missing-wait` does that.

use super::LanguageError;
use super::syntax::{Block, Name, Protocol, RequestTarget, Statement, StatementKind};
use super::tokens::Region;
use crate::model::Place;

/// The errors of all roles. Of a role that lacks statements, since they were wrong, only jumps
/// without a loop are reported: what is missing may be what the rest needs.
pub(super) fn check(protocol: &Protocol, lacking: &[bool]) -> Vec<LanguageError> {
    let mut errors = Vec::new();
    for (role, &lacking) in protocol.roles.iter().zip(lacking) {
        let mut walk = Walk { protocol, lacking, errors: Vec::new(), loops: Vec::new() };
        walk.block(&role.body, Requests::default());
        errors.append(&mut walk.errors);
    }
    errors
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Planned, not started.
    Idle,
    Active,
    Completed,
    /// It differs between the ways that lead here, which has been said.
    Unclear,
}

#[derive(Clone, Copy)]
struct Request<'p> {
    name: &'p Name,
    persistent: bool,
    state: State,
}

/// The requests that are known at one point, in the order of their declarations.
#[derive(Clone, Default)]
struct Requests<'p> {
    known: Vec<Request<'p>>,
}

impl<'p> Requests<'p> {
    fn find(&mut self, name: &Name) -> Option<&mut Request<'p>> {
        self.known.iter_mut().find(|request| request.name.id == name.id)
    }

    /// What is left of them where only the first so many are in scope.
    fn first(mut self, count: usize) -> Requests<'p> {
        self.known.truncate(count);
        self
    }
}

/// Requests at a point that is reached, or nothing at one that is not.
type Reached<'p> = Option<Requests<'p>>;

/// A loop that is being walked.
struct Loop<'p> {
    label: Option<&'p syn::Lifetime>,
    head: Requests<'p>,
    place: Place,
    exits: Vec<Requests<'p>>,
}

struct Walk<'p> {
    protocol: &'p Protocol,
    lacking: bool,
    errors: Vec<LanguageError>,
    loops: Vec<Loop<'p>>,
}

impl<'p> Walk<'p> {
    fn wrong(&mut self, region: Region, message: String, help: &str) {
        if !self.lacking {
            self.errors.push(LanguageError::new(region, message).help(help));
        }
    }

    /// A jump that is wrong whatever else is.
    fn wrong_jump(&mut self, place: Place, message: String, help: &str) {
        let region = self.protocol.region(place);
        self.errors.push(LanguageError::new(region, message).help(help));
    }

    /// Walks a block; what it declares ends with it.
    fn block(&mut self, block: &'p Block, before: Requests<'p>) -> Reached<'p> {
        let outer = before.known.len();
        let mut requests = Some(before);
        let mut said = false;
        for statement in &block.statements {
            requests = match requests {
                Some(requests) => self.statement(statement, requests),
                None if said => return None,
                None => {
                    said = true;
                    let region = self.protocol.region(statement.place);
                    let message = "this is never reached".to_owned();
                    self.wrong(region, message, "what stands before it always goes elsewhere");
                    None
                }
            };
        }
        requests.map(|requests| requests.first(outer))
    }

    fn statement(&mut self, statement: &'p Statement, mut requests: Requests<'p>) -> Reached<'p> {
        let place = statement.place;
        match &statement.kind {
            StatementKind::StartSend(_, _, _, RequestTarget::Named(name))
            | StatementKind::StartReceive(_, _, RequestTarget::Named(name)) => {
                self.declare(name, false, &mut requests);
            }
            StatementKind::PlanSend(_, _, name) | StatementKind::PlanReceive(_, _, name) => {
                self.declare(name, true, &mut requests);
            }
            StatementKind::Start(name) => self.start(name, &mut requests),
            StatementKind::Wait(name) => self.complete(name, &mut requests),
            StatementKind::WaitAll(names) => {
                for name in names {
                    self.complete(name, &mut requests);
                }
            }
            StatementKind::WaitAny(arms) => return self.wait_any(arms, requests, place),
            StatementKind::Test(name, then, otherwise) => {
                let mut completed = requests.clone();
                self.complete(name, &mut completed);
                let ways = [self.block(then, completed), self.block(otherwise, requests)];
                return self.join(ways, place);
            }
            StatementKind::If(_, then, otherwise) => {
                let ways = [self.block(then, requests.clone()), self.block(otherwise, requests)];
                return self.join(ways, place);
            }
            StatementKind::Choose(_, arms) | StatementKind::Offer(_, arms) => {
                let ways: Vec<Reached<'p>> =
                    arms.iter().map(|arm| self.block(&arm.body, requests.clone())).collect();
                return self.join(ways, place);
            }
            StatementKind::For { label, body, .. } => {
                return self.repeat(label.as_ref(), body, requests, place, true);
            }
            StatementKind::Loop(label, body) => {
                return self.repeat(label.as_ref(), body, requests, place, false);
            }
            StatementKind::Break(label) => {
                if let Some(index) = self.target(label.as_ref(), place, "break") {
                    let count = self.loops[index].head.known.len();
                    self.loops[index].exits.push(requests.first(count));
                }
                return None;
            }
            StatementKind::Continue(label) => {
                if let Some(index) = self.target(label.as_ref(), place, "continue") {
                    self.next_round(index, requests);
                }
                return None;
            }
            _ => {}
        }
        Some(requests)
    }

    fn declare(&mut self, name: &'p Name, persistent: bool, requests: &mut Requests<'p>) {
        let before = requests
            .known
            .iter()
            .find(|request| request.state == State::Active && request.name.ident == name.ident);
        if before.is_some() {
            let message = format!("`{name}` still names a request that is not completed");
            let help = "complete it first, or collect both in a set: `let pending = requests();`";
            self.wrong(name.span().into(), message, help);
        }
        let state = if persistent { State::Idle } else { State::Active };
        requests.known.push(Request { name, persistent, state });
    }

    fn start(&mut self, name: &Name, requests: &mut Requests<'p>) {
        let Some(request) = requests.find(name) else { return };
        let before = std::mem::replace(&mut request.state, State::Active);
        if before == State::Active {
            let message = format!("`{name}` is started already");
            self.wrong(name.span().into(), message, "wait for it before it is started again");
        }
    }

    fn complete(&mut self, name: &Name, requests: &mut Requests<'p>) {
        let Some(request) = requests.find(name) else { return };
        let after = if request.persistent { State::Idle } else { State::Completed };
        match std::mem::replace(&mut request.state, after) {
            State::Active | State::Unclear => {}
            State::Idle => {
                let message = format!("`{name}` is not started here");
                let help = format!("write `start({name});` before");
                self.wrong(name.span().into(), message, &help);
            }
            State::Completed => {
                let message = format!("`{name}` is completed already");
                self.wrong(name.span().into(), message, "a request is waited for once");
            }
        }
    }

    fn wait_any(
        &mut self,
        arms: &'p [(Name, Block)],
        requests: Requests<'p>,
        place: Place,
    ) -> Reached<'p> {
        let mut ways = Vec::new();
        for (name, body) in arms {
            let mut completed = requests.clone();
            self.complete(name, &mut completed);
            ways.push(self.block(body, completed));
        }
        self.join(ways, place)
    }

    /// The loop that a jump is about.
    fn target(&mut self, label: Option<&syn::Lifetime>, place: Place, word: &str) -> Option<usize> {
        let Some(label) = label else {
            if self.loops.is_empty() {
                let message = format!("`{word}` outside a loop");
                self.wrong_jump(place, message, "it belongs into `for` or `loop`");
            }
            return self.loops.len().checked_sub(1);
        };
        let found = self
            .loops
            .iter()
            .rposition(|candidate| candidate.label.is_some_and(|other| other.ident == label.ident));
        if found.is_none() {
            let message = format!("no loop around this has the label `'{}`", label.ident);
            let help = format!("write it before the loop: `'{}: loop {{ .. }}`", label.ident);
            self.wrong_jump(place, message, &help);
        }
        found
    }

    fn repeat(
        &mut self,
        label: Option<&'p syn::Lifetime>,
        body: &'p Block,
        requests: Requests<'p>,
        place: Place,
        ends_by_itself: bool,
    ) -> Reached<'p> {
        let head = requests.clone();
        self.loops.push(Loop { label, head, place, exits: Vec::new() });
        if let Some(end) = self.block(body, requests.clone()) {
            self.next_round(self.loops.len() - 1, end);
        }
        let exits = self.loops.pop().map_or(Vec::new(), |finished| finished.exits);
        let own = ends_by_itself.then_some(requests);
        self.join(exits.into_iter().map(Some).chain([own]), place)
    }

    /// A round must leave requests from before the loop as it found them.
    fn next_round(&mut self, index: usize, requests: Requests<'p>) {
        let Loop { head, place, .. } = &self.loops[index];
        let pairs = head.known.iter().zip(&requests.known);
        let changed: Vec<&Name> = pairs
            .filter(|(head, end)| {
                head.state != end.state
                    && head.state != State::Unclear
                    && end.state != State::Unclear
            })
            .map(|(head, _)| head.name)
            .collect();
        let region = self.protocol.region(*place);
        for name in changed {
            let message = format!("`{name}` is not in the same state after a round of this loop");
            let help = "start and complete it inside the loop, or both outside of it; many \
                        requests go into a set: `let pending = requests();`";
            self.wrong(region, message, help);
        }
    }

    /// Joins ways: a request has to be in the same state on all of them.
    fn join(&mut self, ways: impl IntoIterator<Item = Reached<'p>>, place: Place) -> Reached<'p> {
        let mut ways = ways.into_iter().flatten();
        let mut joined = ways.next()?;
        let mut different: Vec<&'p Name> = Vec::new();
        for way in ways {
            for (request, other) in joined.known.iter_mut().zip(&way.known) {
                let unclear = [request.state, other.state].contains(&State::Unclear);
                if !unclear && request.state != other.state {
                    different.push(request.name);
                }
                if request.state != other.state {
                    request.state = State::Unclear;
                }
            }
        }
        for name in different {
            let message = format!("`{name}` is completed on one way through this, not on another");
            let help = "complete it on every way, or after they have come together; a request that \
                        is started on some ways only goes into a set: `let pending = requests();`";
            self.wrong(self.protocol.region(place), message, help);
        }
        Some(joined)
    }
}
