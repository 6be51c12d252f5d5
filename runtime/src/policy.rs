//! How messages travel over MPI, by their length and by where the two ranks are.
//!
//! A [`Policy`] is set by hand, or read from the file that `P2P_POLICY` names. How a strategy does
//! its work is the transport's.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::Error;
use crate::transport::mpi::is_open_mpi;

/// A way for a message to travel. One that two ranks cannot use is replaced by one that they can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// One call of MPI's, which is expected to copy the message away at once.
    Eager,
    /// One call of MPI's, which is expected to wait for the receiver.
    Blocking,
    /// Chunks as non-blocking messages, a few of them under way at a time.
    Pipeline,
    /// Through a ring of chunks in memory that both ranks share: the sender copies in while the
    /// receiver copies out. Ranks of one node.
    Window,
    /// Both ranks copy at once, straight from the sender's memory into the receiver's: the
    /// receiver from the front, the sender from the back. Ranks of one node that may read each
    /// other's memory.
    Direct,
    /// One-sided: the receiver exposes its buffer and the sender puts the message there.
    Put,
}

impl Strategy {
    const ALL: [Strategy; 6] = [
        Strategy::Eager,
        Strategy::Blocking,
        Strategy::Pipeline,
        Strategy::Window,
        Strategy::Direct,
        Strategy::Put,
    ];

    /// What it is called in a policy's file.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Eager => "eager",
            Strategy::Blocking => "blocking",
            Strategy::Pipeline => "pipeline",
            Strategy::Window => "window",
            Strategy::Direct => "direct",
            Strategy::Put => "put",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which strategy a message takes: the first of its pair's whose limit it does not exceed.
///
/// ```
/// use p2p::{Policy, Strategy};
///
/// let policy = Policy::default()
///     .same_node(&[(64 << 10, Strategy::Blocking)], Strategy::Direct)
///     .other_node(&[], Strategy::Blocking);
/// assert_eq!(policy, policy.to_string().parse()?);
/// # Ok::<(), p2p::PolicyError>(())
/// ```
///
/// As text, a line for each kind of pair; what follows a `#` is a remark:
///
/// ```text
/// same-node: eager to 4 KiB, blocking to 64 KiB, direct   # longer than 64 KiB: direct
/// other-node: blocking to 1 MiB, pipeline
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    same_node: Limits,
    other_node: Limits,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Limits {
    /// The longest message in bytes, and how it travels.
    steps: Vec<(usize, Strategy)>,
    beyond: Strategy,
}

impl Default for Policy {
    /// What was the fastest where it was measured: two cores of one node. How long a message may be
    /// for MPI's own call to be that depends on which MPI it is.
    fn default() -> Self {
        let eager = if is_open_mpi() { 256 } else { 5 << 10 };
        Policy {
            same_node: Limits {
                steps: vec![(eager, Strategy::Eager), (8 << 10, Strategy::Window)],
                beyond: Strategy::Direct,
            },
            other_node: Limits {
                steps: vec![(4 << 10, Strategy::Eager)],
                beyond: Strategy::Blocking,
            },
        }
    }
}

impl Policy {
    /// The same strategy for all messages.
    pub fn fixed(strategy: Strategy) -> Self {
        let limits = Limits { steps: Vec::new(), beyond: strategy };
        Policy { same_node: limits.clone(), other_node: limits }
    }

    /// Sets how messages travel between ranks of one node: limits in bytes, each with the strategy
    /// of messages up to that length, and the strategy of longer ones.
    #[must_use]
    pub fn same_node(mut self, limits: &[(usize, Strategy)], beyond: Strategy) -> Self {
        self.same_node = Limits { steps: limits.to_vec(), beyond };
        self
    }

    /// Sets how messages travel between ranks of different nodes, as [`Policy::same_node`].
    #[must_use]
    pub fn other_node(mut self, limits: &[(usize, Strategy)], beyond: Strategy) -> Self {
        self.other_node = Limits { steps: limits.to_vec(), beyond };
        self
    }

    /// The policy in the file that `P2P_POLICY` names, or else the default.
    pub fn from_environment() -> Result<Self, PolicyError> {
        match std::env::var_os("P2P_POLICY") {
            Some(path) => Policy::from_file(path),
            None => Ok(Policy::default()),
        }
    }

    /// The policy in a file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, PolicyError> {
        let path = path.as_ref();
        let place = Some(path.to_owned());
        let text = std::fs::read_to_string(path).map_err(|error| PolicyError {
            place: place.clone(),
            line: 0,
            what: error.to_string(),
        })?;
        text.parse().map_err(|error| PolicyError { place, ..error })
    }

    /// The strategy of a message between two ranks.
    pub fn strategy(&self, is_same_node: bool, bytes: usize) -> Strategy {
        self.limits(is_same_node).strategy(bytes)
    }

    /// All strategies that some message takes.
    pub(crate) fn uses(&self, strategy: Strategy) -> bool {
        [&self.same_node, &self.other_node].iter().any(|limits| {
            limits.beyond == strategy || limits.steps.iter().any(|&(_, step)| step == strategy)
        })
    }

    /// The length up to which MPI's own call takes messages between two ranks; the most if it
    /// takes all.
    pub(crate) fn longest_plain(&self, is_same_node: bool) -> usize {
        let Limits { steps, beyond } = self.limits(is_same_node);
        let is_plain = |strategy| matches!(strategy, Strategy::Eager | Strategy::Blocking);
        match steps.iter().find(|&&(_, strategy)| !is_plain(strategy)) {
            None if is_plain(*beyond) => usize::MAX,
            first => {
                let before = steps.iter().take_while(|&step| Some(step) != first);
                before.map(|&(limit, _)| limit).max().unwrap_or(0)
            }
        }
    }

    fn limits(&self, is_same_node: bool) -> &Limits {
        if is_same_node { &self.same_node } else { &self.other_node }
    }
}

impl Limits {
    fn strategy(&self, bytes: usize) -> Strategy {
        let step = self.steps.iter().find(|&&(limit, _)| bytes <= limit);
        step.map_or(self.beyond, |&(_, strategy)| strategy)
    }
}

const SAME_NODE: &str = "same-node";
const OTHER_NODE: &str = "other-node";

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (pair, limits) in [(SAME_NODE, &self.same_node), (OTHER_NODE, &self.other_node)] {
            write!(f, "{pair}: ")?;
            for &(limit, strategy) in &limits.steps {
                write!(f, "{strategy} to {}, ", length(limit))?;
            }
            writeln!(f, "{}", limits.beyond)?;
        }
        Ok(())
    }
}

const UNITS: [(&str, usize); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// A length in the largest unit that leaves no rest.
fn length(bytes: usize) -> String {
    let fits = |&&(_, size): &&(&str, usize)| bytes.is_multiple_of(size) && bytes >= size;
    let (unit, size) = UNITS.iter().find(fits).unwrap_or(&UNITS[3]);
    format!("{} {unit}", bytes / size)
}

/// What is wrong with a policy's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    place: Option<PathBuf>,
    /// 0: the file as a whole.
    line: usize,
    what: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the transfer policy cannot be used: ")?;
        match (&self.place, self.line) {
            (Some(path), 0) => write!(f, "{}: ", path.display())?,
            (Some(path), line) => write!(f, "{}:{line}: ", path.display())?,
            (None, 0) => {}
            (None, line) => write!(f, "line {line}: ")?,
        }
        f.write_str(&self.what)?;
        if self.place.is_some() {
            f.write_str("; mend the file, or leave P2P_POLICY unset")?;
        }
        Ok(())
    }
}

impl std::error::Error for PolicyError {}

impl From<PolicyError> for Error {
    fn from(error: PolicyError) -> Self {
        Error::Launch { reason: error.to_string() }
    }
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let mut policy = Policy::default();
        let mut seen: Vec<&str> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let error = |what| PolicyError { place: None, line: index + 1, what };
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let Some((pair, limits)) = line.split_once(':') else {
                return Err(error(format!(
                    "`{line}` has no `:`; write a line such as `{SAME_NODE}: eager to 4 KiB, direct`"
                )));
            };
            let limits = read_limits(limits).map_err(error)?;
            let pair = pair.trim();
            if seen.contains(&pair) {
                return Err(error(format!("`{pair}` has a line before; keep one of them")));
            }
            seen.push(pair);
            match pair {
                SAME_NODE => policy.same_node = limits,
                OTHER_NODE => policy.other_node = limits,
                pair => {
                    let known = format!("`{SAME_NODE}: ..` or `{OTHER_NODE}: ..`");
                    return Err(error(format!("`{pair}` is no kind of pair; write {known}")));
                }
            }
        }
        Ok(policy)
    }
}

/// "eager to 4 KiB, blocking to 64 KiB, direct".
fn read_limits(text: &str) -> Result<Limits, String> {
    let mut steps: Vec<(usize, Strategy)> = Vec::new();
    let mut parts = text.split(',').map(str::trim).peekable();
    while let Some(part) = parts.next() {
        let Some((strategy, limit)) = part.split_once(" to ") else {
            if parts.peek().is_some() {
                return Err(format!("`{part}` has no limit; write `{part} to 64 KiB`"));
            }
            return Ok(Limits { steps, beyond: read_strategy(part)? });
        };
        let limit = read_length(limit)?;
        if steps.last().is_some_and(|&(before, _)| before >= limit) {
            return Err(format!("`{part}` comes after a limit as large; write the limits upwards"));
        }
        steps.push((limit, read_strategy(strategy)?));
    }
    Err("the last strategy has a limit; end with one for all longer messages".to_owned())
}

fn read_strategy(text: &str) -> Result<Strategy, String> {
    let text = text.trim();
    Strategy::ALL.into_iter().find(|strategy| strategy.name() == text).ok_or_else(|| {
        let known = Strategy::ALL.map(Strategy::name).join(", ");
        format!("`{text}` is no strategy; write one of: {known}")
    })
}

fn read_length(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = text[digits.len()..].trim();
    let size = UNITS.iter().find(|&&(name, _)| name == unit).map(|&(_, size)| size);
    size.and_then(|size| digits.parse::<usize>().ok()?.checked_mul(size))
        .ok_or_else(|| format!("`{text}` is no length; write one such as `64 KiB` or `4096 B`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_limit_that_is_not_exceeded_decides() {
        let limits = [(8, Strategy::Eager), (100, Strategy::Window)];
        let policy = Policy::default().same_node(&limits, Strategy::Direct);
        let strategies = [0, 8, 9, 100, 101].map(|bytes| policy.strategy(true, bytes));
        let [eager, window, direct] = [Strategy::Eager, Strategy::Window, Strategy::Direct];
        assert_eq!(strategies, [eager, eager, window, window, direct]);
        assert_eq!(policy.longest_plain(true), 8);
        assert!(policy.uses(direct) && !policy.uses(Strategy::Put));
    }

    #[test]
    fn mpi_may_take_all_or_none() {
        assert_eq!(Policy::fixed(Strategy::Blocking).longest_plain(false), usize::MAX);
        assert_eq!(Policy::fixed(Strategy::Direct).longest_plain(true), 0);
    }

    #[test]
    fn text_is_read_as_it_is_written() {
        let limits = [(1, Strategy::Eager), (4 << 10, Strategy::Put), (3 << 30, Strategy::Window)];
        let policy = Policy::default().same_node(&limits, Strategy::Pipeline);
        assert_eq!(policy, policy.to_string().parse().unwrap());
        let text = "# measured\n\nother-node: blocking # all\nsame-node:eager to 4096B , direct\n";
        let policy: Policy = text.parse().unwrap();
        let expected = Policy::fixed(Strategy::Blocking)
            .same_node(&[(4 << 10, Strategy::Eager)], Strategy::Direct);
        assert_eq!(policy, expected);
    }

    #[test]
    fn errors_say_where_and_what_to_do() {
        let said = |text: &str| text.parse::<Policy>().unwrap_err().to_string();
        for (text, expected) in [
            ("\nsame-nod: direct", "line 2: `same-nod` is no kind of pair; write `same-node: ..`"),
            ("same-node: direkt", "line 1: `direkt` is no strategy; write one of: eager, "),
            ("same-node", "line 1: `same-node` has no `:`; write a line such as `same-node: "),
            ("same-node: eager, direct", "`eager` has no limit; write `eager to 64 KiB`"),
            ("same-node: eager to 4 KiB", "end with one for all longer messages"),
            ("same-node: eager to 4 KB, direct", "`4 KB` is no length; write one such as"),
            ("same-node: eager to 99999999999 GiB, direct", "is no length"),
            ("same-node: eager to 4 B, put to 4 B, direct", "write the limits upwards"),
            ("same-node: put\n\nsame-node: put", "line 3: `same-node` has a line before; keep one"),
        ] {
            assert!(said(text).contains(expected), "{}", said(text));
        }
        let missing = Policy::from_file("/nowhere/policy").unwrap_err().to_string();
        assert!(missing.contains("/nowhere/policy: No such file"), "{missing}");
        assert!(missing.contains("leave P2P_POLICY unset"), "{missing}");
    }
}
