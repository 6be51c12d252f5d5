//! What the rules about arguments share: the calls that are handed what MPI does not take.

use super::Rule;
use super::draft::{by_place, player};
use crate::engine::{At, Case, describe};
use crate::finding::Finding;
use crate::model::{Action, Argument, CallId, HandleKind, HandleState, TextId, World};

/// An argument, and who hands it over.
#[derive(Clone, Copy)]
pub(super) struct Handed {
    pub(super) at: At,
    call: CallId,
    parameter: TextId,
    pub(super) argument: Argument,
}

/// The arguments that are meant, brought together by the place of the call.
pub(super) fn handed(case: &Case<'_>, is_meant: impl Fn(&Argument) -> bool) -> Vec<Vec<Handed>> {
    let mut all = Vec::new();
    for (rank, behaviour) in (0..).zip(&case.world.behaviours) {
        for (position, event) in behaviour.events.iter().enumerate() {
            if let Action::Argument { call, parameter, argument } = event.action
                && is_meant(&argument)
            {
                all.push(Handed { at: (rank, position), call, parameter, argument });
            }
        }
    }
    by_place(case, all, |one| one.at).into_iter().map(|(_, all)| all).collect()
}

/// Handles of one kind, in any of these states.
pub(super) fn handles(
    case: &Case<'_>,
    kind: HandleKind,
    is_meant: fn(HandleState) -> bool,
) -> Vec<Vec<Handed>> {
    handed(
        case,
        |argument| matches!(argument, Argument::Handle { kind: it, state } if *it == kind && is_meant(*state)),
    )
}

impl Handed {
    /// The function that is called.
    pub(super) fn call<'w>(&self, world: &'w World) -> &'w str {
        describe::call(world, self.call)
    }

    /// The parameter's name.
    pub(super) fn parameter<'w>(&self, world: &'w World) -> &'w str {
        describe::text(world, self.parameter)
    }
}

impl Rule {
    /// A finding about an argument: "rank 0 hands `MPI_Send` -1 for `count`, and counts are not
    /// negative".
    pub(super) fn handed(
        &self,
        world: &World,
        all: &[Handed],
        what: &str,
        label: impl Into<String>,
    ) -> Finding {
        let first = all[0];
        let (who, call) = (player(world, first.at.0), first.call(world));
        let (what, why) = what.split_once(", ").map_or((what, None), |(it, why)| (it, Some(why)));
        let why = why.map_or_else(String::new, |why| format!(", {why}"));
        let message = format!("{who} hands `{call}` {what} for `{}`{why}", first.parameter(world));
        self.finding(world, first.at, message, label)
            .ranks(all.iter().map(|one| one.at.0).collect())
    }

    /// A finding about a handle of something that is not there, or not fit for the call.
    pub(super) fn handle(&self, world: &World, all: &[Handed]) -> Finding {
        let Argument::Handle { kind, state } = all[0].argument else {
            return self.handed(world, all, "something else", "not fit for the call");
        };
        let (name, null) = (with_article(kind), null(kind));
        let (what, label) = match state {
            HandleState::Null => (null.to_owned(), format!("this is {null} here")),
            HandleState::Freed => {
                (format!("{name} that was freed before"), "was freed before".to_owned())
            }
            HandleState::Uncommitted => {
                (format!("{name} that was not committed"), "not committed".to_owned())
            }
            HandleState::Uninitialized => {
                (format!("{name} that was never given a value"), "has no value here".to_owned())
            }
            HandleState::Unfit => (
                format!("{name} that the call cannot be made on"),
                "not fit for the call".to_owned(),
            ),
        };
        self.handed(world, all, &what, label)
    }
}

fn with_article(kind: HandleKind) -> String {
    let article = match kind {
        HandleKind::Operation | HandleKind::Info | HandleKind::ErrorHandler => "an",
        _ => "a",
    };
    format!("{article} {}", kind.name())
}

/// The null handle of a kind.
fn null(kind: HandleKind) -> &'static str {
    match kind {
        HandleKind::Communicator => "MPI_COMM_NULL",
        HandleKind::Datatype => "MPI_DATATYPE_NULL",
        HandleKind::Operation => "MPI_OP_NULL",
        HandleKind::Window => "MPI_WIN_NULL",
        HandleKind::Group => "MPI_GROUP_NULL",
        HandleKind::Request => "MPI_REQUEST_NULL",
        HandleKind::Info => "MPI_INFO_NULL",
        HandleKind::ErrorHandler => "MPI_ERRHANDLER_NULL",
        HandleKind::Message => "MPI_MESSAGE_NULL",
        HandleKind::File => "MPI_FILE_NULL",
    }
}
