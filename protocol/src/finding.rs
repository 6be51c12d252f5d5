//! What a rule has to say: a plain value that each report turns into its own format.
//!
//! The texts that every report shares, who waits for whom and the step-by-step run, are written
//! here once, so that the compiler's error, the terminal, the editor and a rank that hangs at run
//! time all say the same.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::model::{Place, Rank};

/// How much a finding matters unless the user says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not shown.
    Allow,
    /// Shown.
    Warn,
    /// Shown, and the check fails.
    Deny,
}

/// The families that levels can be set for together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Group {
    Pairing,
    Deadlock,
    Request,
    Buffer,
    Race,
    Parameter,
    Collective,
    Resource,
    Rma,
    Protocol,
    Performance,
}

impl Group {
    /// The name as the command line takes it.
    pub fn name(self) -> &'static str {
        match self {
            Group::Pairing => "pairing",
            Group::Deadlock => "deadlock",
            Group::Request => "request",
            Group::Buffer => "buffer",
            Group::Race => "race",
            Group::Parameter => "parameter",
            Group::Collective => "collective",
            Group::Resource => "resource",
            Group::Rma => "rma",
            Group::Protocol => "protocol",
            Group::Performance => "performance",
        }
    }
}

/// Whether it happens, or happens under an assumption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// In every run, or in the run that the trace shows.
    Certain,
    /// If what is named holds.
    Possible {
        /// The assumption, as "if ..." would go on.
        assuming: String,
    },
}

/// A place with something to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What, in a few words.
    pub text: String,
}

/// A rank that does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Who waits.
    pub rank: Rank,
    /// In which operation, as the source writes it: "send Block to rank 1".
    pub operation: String,
    /// Where.
    pub place: Place,
    /// For whom.
    pub waits_for: Vec<Rank>,
}

/// One step of the run that shows the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who.
    pub rank: Rank,
    /// Does what: "sends Block (tag 5) to rank 1".
    pub text: String,
    /// Where.
    pub place: Place,
}

/// Something wrong, with all that is needed to understand and mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's kebab-case name, its only identity.
    pub rule: &'static str,
    /// The level it has unless the user sets another.
    pub level: Level,
    /// Whether it happens in any case.
    pub certainty: Certainty,
    /// What happens, in one sentence, with ranks and sizes.
    pub message: String,
    /// Where it happens.
    pub primary: Label,
    /// The other places that belong to it, such as the message's other end.
    pub secondary: Vec<Label>,
    /// Where requests start that are waited for elsewhere, or where they are waited for.
    pub requests: Vec<Label>,
    /// The ranks concerned, at the smallest size.
    pub ranks: Vec<Rank>,
    /// Those of them that one instance of it is between, such as the two ends of a message.
    pub between: Vec<Rank>,
    /// The sizes at which it happens, ascending.
    pub sizes: Vec<u32>,
    /// Every rank that waits, at the smallest size.
    pub waits: Vec<Wait>,
    /// A run that shows it, at the smallest size.
    pub trace: Vec<Step>,
    /// Why it is wrong, and what else there is to know.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Vec<String>,
}

impl Finding {
    /// Whether it says that somebody is missing at the other end. Of a function that is only half of an
    /// exchange that cannot be told: who calls it may call the other half on other ranks.
    pub fn is_about_a_missing_partner(&self) -> bool {
        matches!(self.rule, "unmatched-send" | "unmatched-receive" | "rank-left-waiting")
    }

    /// Whether it says that something was not begun, is not brought to an end, or is done on a rank that
    /// should not do it. Of a function that others call it cannot be told: they may begin it before,
    /// end it behind, or call it on the other ranks only.
    pub fn may_lie_with_callers(&self) -> bool {
        matches!(
            self.rule,
            "access-outside-epoch"
                | "buffered-send-without-buffer"
                | "call-before-init"
                | "communicator-leak"
                | "datatype-leak"
                | "epoch-not-closed"
                | "group-leak"
                | "missing-finalize"
                | "missing-start"
                | "missing-wait"
                | "operation-leak"
                | "request-leak"
                | "send-to-self"
                | "uncommitted-datatype"
                | "wait-before-start"
                | "window-leak"
        )
    }
}

impl fmt::Display for Wait {
    /// "rank 0 waits in `send Block to rank 1` for rank 1", without the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} waits in `{}`", self.rank, self.operation)?;
        if !self.waits_for.is_empty() {
            write!(f, " for {}", ranks(&self.waits_for))?;
        }
        Ok(())
    }
}

/// "rank 3", "ranks 0 and 1", "ranks 0, 1, 2 and 5", "ranks 0 to 7".
pub fn ranks(ranks: &[Rank]) -> String {
    let consecutive = ranks.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    match ranks {
        [] => "no rank".to_owned(),
        [one] => format!("rank {one}"),
        [first, .., last] if consecutive && ranks.len() > 3 => format!("ranks {first} to {last}"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("ranks {} and {last}", first.join(", "))
        }
    }
}

/// The sizes of a finding in words: "2 ranks", "2, 3 and 8 ranks", "2 to 8 ranks".
pub fn sizes(sizes: &[u32]) -> String {
    match sizes {
        [] => "no size".to_owned(),
        [1] => "1 rank".to_owned(),
        [one] => format!("{one} ranks"),
        more => format!("{} ranks", ranks(more).trim_start_matches("ranks ")),
    }
}

/// The most ranks that are listed one by one; of more, these and how many there are.
const LISTED: usize = 12;

/// The waits in the order in which they lead to each other, each once; where they close a circle
/// the circle comes first and a line says so.
pub fn wait_lines(waits: &[Wait], place: impl Fn(Place) -> String) -> Vec<String> {
    let circle = circle(waits);
    let line = |wait: &Wait| format!("{wait} ({})", place(wait.place));
    let mut lines: Vec<String> =
        circle.iter().take(LISTED).map(|&index| line(&waits[index])).collect();
    if circle.len() > LISTED {
        lines.push(format!("and {} more ranks in the circle", circle.len() - LISTED));
    }
    if circle.len() > 1 {
        lines.push(format!("and so back to rank {}: none can move", waits[circle[0]].rank));
    }
    let room = LISTED.saturating_sub(circle.len().min(LISTED));
    let outside: HashSet<usize> = circle.into_iter().collect();
    let others: Vec<&Wait> = (waits.iter().enumerate())
        .filter(|(index, _)| !outside.contains(index))
        .map(|(_, wait)| wait)
        .collect();
    lines.extend(others.iter().take(room).map(|wait| line(wait)));
    if others.len() > room {
        lines.push(format!("and {} more ranks wait", others.len() - room));
    }
    lines
}

/// One circle among the waits, as indices in the order of waiting, starting at its lowest rank;
/// empty where there is none.
pub fn circle(waits: &[Wait]) -> Vec<usize> {
    let index_of: HashMap<Rank, usize> = waits.iter().map(|wait| wait.rank).zip(0..).collect();
    // Each rank is walked through once: a walk that meets an earlier one finds nothing new.
    let mut walked = vec![false; waits.len()];
    for start in 0..waits.len() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(index) = at.filter(|&index| !walked[index]) {
            walked[index] = true;
            path.push(index);
            let mut next = waits[index].waits_for.iter().filter_map(|rank| index_of.get(rank));
            at = next.next().copied();
        }
        let entry = at.and_then(|again| path.iter().position(|&index| index == again));
        if let Some(entry) = entry {
            path.drain(..entry);
            let lowest = path.iter().enumerate().min_by_key(|&(_, &index)| waits[index].rank);
            let lowest = lowest.map_or(0, |(position, _)| position);
            path.rotate_left(lowest);
            return path;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(rank: Rank, waits_for: &[Rank]) -> Wait {
        let operation = "recv Block".to_owned();
        Wait { rank, operation, place: Place(rank), waits_for: waits_for.to_vec() }
    }

    #[test]
    fn a_circle_comes_first_and_starts_at_its_lowest_rank() {
        let waits = [wait(0, &[2]), wait(1, &[3]), wait(2, &[3]), wait(3, &[2])];
        assert_eq!(
            wait_lines(&waits, |place| format!("line {}", place.0)),
            [
                "rank 2 waits in `recv Block` for rank 3 (line 2)",
                "rank 3 waits in `recv Block` for rank 2 (line 3)",
                "and so back to rank 2: none can move",
                "rank 0 waits in `recv Block` for rank 2 (line 0)",
                "rank 1 waits in `recv Block` for rank 3 (line 1)",
            ]
        );
    }

    #[test]
    fn thousands_of_waits_are_counted() {
        let waits: Vec<Wait> = (0..4000).map(|rank| wait(rank, &[(rank + 1) % 4000])).collect();
        let lines = wait_lines(&waits, |_| String::new());
        assert_eq!(lines.len(), LISTED + 2);
        assert_eq!(lines[LISTED], "and 3988 more ranks in the circle");
    }

    #[test]
    fn ranks_and_sizes_read_like_words() {
        assert_eq!(ranks(&[0]), "rank 0");
        assert_eq!(ranks(&[0, 2]), "ranks 0 and 2");
        assert_eq!(ranks(&[0, 1, 2, 3, 4]), "ranks 0 to 4");
        assert_eq!(sizes(&[1]), "1 rank");
        assert_eq!(sizes(&[2, 3, 8]), "2, 3 and 8 ranks");
    }
}
