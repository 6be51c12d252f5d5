//! What can go wrong while ranks run, each with what, where, why and what to do.

use std::fmt;
use std::sync::Arc;

use p2p_protocol::finding::Wait;

use crate::operation::Operation;

/// The result of everything that a rank does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. `Debug` prints the same text as `Display`, so that a `main` that returns it
/// says what happened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another rank returned an error or panicked, and this one cannot go on without it.
    #[error(
        "rank {rank} left early, {at}, so this rank cannot go on: \
         rank {rank}'s own error says why; mend that first"
    )]
    PeerGone {
        /// Who left.
        rank: usize,
        /// The last step that it took.
        at: Step,
    },
    /// Every rank waits, or has ended while others wait for it.
    #[error("{0}")]
    Deadlock(Report),
    /// A message is longer than the buffer it was to be received into.
    #[error(
        "rank {rank} cannot receive, {at}: the message from rank {source_rank} has {} elements \
         and the buffer has room for {room}; give a longer buffer, or receive into a `Vec`",
        sent.map_or_else(|| "more".to_owned(), |sent| sent.to_string())
    )]
    Truncated {
        /// How many elements the message has, if that is known: not every MPI says it.
        sent: Option<usize>,
        /// How many there is room for.
        room: usize,
        /// Who received.
        rank: usize,
        /// Who sent.
        source_rank: usize,
        /// The receiving step.
        at: Step,
    },
    /// A message has another number of elements than the step must have.
    #[error(
        "rank {rank} has a wrong length, {at}: {found} elements, where {expected} are needed; \
         pass a buffer of that length"
    )]
    Length {
        /// How many there are.
        found: usize,
        /// How many there must be, and why.
        expected: String,
        /// Whose buffer it is.
        rank: usize,
        /// The step.
        at: Step,
    },
    /// A message's elements are of another type than the receiver's.
    #[error(
        "rank {rank} cannot receive, {at}: rank {source_rank} sent {sent}, and the buffer holds \
         {expected}; both ends must use the same message type"
    )]
    WrongType {
        /// What was sent.
        sent: &'static str,
        /// What was to be received.
        expected: &'static str,
        /// Who received.
        rank: usize,
        /// Who sent.
        source_rank: usize,
        /// The receiving step.
        at: Step,
    },
    /// A step names a rank that does not exist.
    #[error(
        "rank {rank} names rank {peer}, {at}, but the world has ranks 0 to {}; \
         change the peer's expression, or run with more ranks",
        size - 1
    )]
    PeerOutOfRange {
        /// Who does.
        rank: usize,
        /// The rank that does not exist.
        peer: i64,
        /// How many ranks there are.
        size: usize,
        /// The step.
        at: Step,
    },
    /// The ranks did not join the same protocol in the same way. Every rank gets the same text.
    #[error("the ranks cannot start together: {difference}; start all of them alike")]
    Mismatch {
        /// What differs, and on which ranks.
        difference: String,
    },
    /// The protocol is not for this number of ranks.
    #[error(
        "protocol `{protocol}` is for {allowed} ranks and was started with {size}; \
         run it with a size that it allows: the launcher's `-n`, or P2P_RANKS for threads"
    )]
    WrongSize {
        /// The protocol.
        protocol: &'static str,
        /// The sizes that it is for, as the protocol writes them.
        allowed: &'static str,
        /// How many ranks there are.
        size: usize,
    },
    /// The protocol is not for these parameters. Every rank gets the same text.
    #[error(
        "protocol `{protocol}` requires `{requirement}`, which does not hold with {given}; \
         join it with parameters that fulfil it"
    )]
    Unfulfilled {
        /// The protocol.
        protocol: &'static str,
        /// What it requires, as the protocol writes it.
        requirement: &'static str,
        /// The parameters, and how many ranks there are.
        given: String,
    },
    /// A rank has joined a protocol and then not followed it.
    #[error(
        "rank {rank} was given a role, {at}, and has ended without running it; call `run` on what \
         `join` returns, on every rank whose role has steps"
    )]
    NotRun {
        /// Which.
        rank: usize,
        /// The protocol.
        at: Step,
    },
    /// A rank panicked.
    #[error("rank {rank} panicked, {at}: {text}")]
    Panicked {
        /// Which.
        rank: usize,
        /// What it said.
        text: String,
        /// The last step that it took.
        at: Step,
    },
    /// The ranks could not be started.
    #[error("cannot start the ranks: {reason}")]
    Launch {
        /// Why, and what to do.
        reason: String,
    },
    /// MPI has refused a call.
    #[error("rank {rank} cannot go on, {at}: MPI says: {reason}")]
    Mpi {
        /// Whose call it was.
        rank: usize,
        /// What MPI says.
        reason: String,
        /// The step.
        at: Step,
    },
    /// An error of the program's own.
    #[error("{}{source}", of_rank(*rank))]
    Other {
        /// The rank that returned it, once that is known.
        rank: Option<usize>,
        /// The error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

fn of_rank(rank: Option<usize>) -> String {
    rank.map_or_else(String::new, |rank| format!("rank {rank}: "))
}

impl Error {
    /// Whether every rank gets it, and in the same words.
    #[cfg(feature = "mpi")]
    pub(crate) fn is_everybodys(&self) -> bool {
        matches!(self, Error::Mismatch { .. } | Error::WrongSize { .. } | Error::Unfulfilled { .. })
    }

    /// Wraps an error of the program's own, or a text, so that a rank can leave with it.
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::Other { rank: None, source: source.into() }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::other(error)
    }
}

impl From<Box<dyn std::error::Error + Send + Sync>> for Error {
    fn from(source: Box<dyn std::error::Error + Send + Sync>) -> Self {
        Error::Other { rank: None, source }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A step of the specification, or the time before the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step(pub(crate) Option<&'static Operation>);

impl Step {
    /// The operation, if a rank had come as far as one.
    pub fn operation(self) -> Option<&'static Operation> {
        self.0
    }
}

impl fmt::Display for Step {
    /// "in `recv(0, Block)` (src/main.rs:20:9)".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(operation) => write!(f, "in {operation}"),
            None => f.write_str("before its first step"),
        }
    }
}

/// Who waits for whom when no rank can move: what the checker would have printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report(pub(crate) Arc<Hang>);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hang {
    pub(crate) rule: &'static str,
    pub(crate) message: String,
    pub(crate) waits: Vec<Wait>,
    pub(crate) lines: Vec<String>,
    pub(crate) help: &'static str,
}

impl Report {
    /// The checker's rule that says the same, such as `deadlock` or `rank-left-waiting`.
    pub fn rule(&self) -> &'static str {
        self.0.rule
    }

    /// Every rank that waits, by rank.
    pub fn waits(&self) -> &[Wait] {
        &self.0.waits
    }

    /// One line for each rank that waits, in the order in which they wait for each other.
    pub fn lines(&self) -> &[String] {
        &self.0.lines
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [p2p::{}]", self.0.message, self.0.rule)?;
        for line in &self.0.lines {
            write!(f, "\n  {line}")?;
        }
        write!(f, "\n  help: {}", self.0.help)?;
        write!(f, "\n  more: cargo p2p-check explain {}", self.0.rule)
    }
}
