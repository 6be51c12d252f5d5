//! What the rules share: findings begun, steps brought together by place, waits in words.

use rustc_hash::FxHashSet;

use super::Rule;
use crate::engine::{At, Blocked, Case, Cause, Unpaired, describe};
use crate::finding::{Certainty, Finding, Label, Step, Wait};
use crate::model::{Action, Peer, Place, Rank, World};

impl Rule {
    /// A finding of this rule at a step, with everything that a world says by itself.
    pub(super) fn finding(
        &self,
        world: &World,
        at: At,
        message: String,
        label: impl Into<String>,
    ) -> Finding {
        self.finding_at(world, describe::place(world, at), message, label).ranks(vec![at.0])
    }

    /// A finding of this rule at a place.
    pub(super) fn finding_at(
        &self,
        world: &World,
        place: Place,
        message: String,
        label: impl Into<String>,
    ) -> Finding {
        Finding {
            rule: self.name,
            level: self.level,
            certainty: Certainty::Certain,
            message: format!("{message}{}", in_world(world)),
            primary: Label { place, text: label.into() },
            secondary: Vec::new(),
            requests: Vec::new(),
            ranks: Vec::new(),
            between: Vec::new(),
            sizes: vec![world.size()],
            waits: Vec::new(),
            trace: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }
}

impl Finding {
    pub(super) fn other_end(mut self, world: &World, at: At, text: impl Into<String>) -> Self {
        let label = Label { place: describe::place(world, at), text: text.into() };
        if label.place != self.primary.place && !self.secondary.contains(&label) {
            self.secondary.push(label);
        }
        self
    }

    /// It is between all its ranks.
    pub(super) fn between_all(self) -> Self {
        Finding { between: self.ranks.clone(), ..self }
    }

    pub(super) fn ranks(mut self, mut ranks: Vec<Rank>) -> Self {
        ranks.sort_unstable();
        ranks.dedup();
        self.ranks = ranks;
        self
    }

    /// Between which ranks it is: this one, and who is meant by it.
    pub(super) fn between(self, rank: Rank, peer: Peer) -> Self {
        let peer = match peer {
            Peer::Rank(peer) => Some(peer.unsigned_abs()),
            _ => None,
        };
        Finding { between: [rank].into_iter().chain(peer).collect(), ..self }
    }

    pub(super) fn waits(mut self, world: &World, blocked: &[Blocked]) -> Self {
        self.waits = blocked.iter().map(|blocked| wait(world, blocked)).collect();
        self
    }

    pub(super) fn trace(mut self, trace: &[Step]) -> Self {
        self.trace = trace.to_vec();
        self
    }

    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// " (with 2 ranks, steps = 3)".
fn in_world(world: &World) -> String {
    let mut text = format!(" (with {}", crate::finding::sizes(&[world.size()]));
    for (name, value) in &world.parameters {
        text.push_str(&format!(", {name} = {value}"));
    }
    text + ")"
}

/// Steps brought together by where they stand, in the order of their first.
pub(super) fn by_place<T>(
    case: &Case<'_>,
    steps: impl IntoIterator<Item = T>,
    at: impl Fn(&T) -> At,
) -> Vec<(Place, Vec<T>)> {
    let mut places: Vec<(Place, Vec<T>)> = Vec::new();
    for step in steps {
        let place = describe::place(case.world, at(&step));
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, steps)) => steps.push(step),
            None => places.push((place, vec![step])),
        }
    }
    places
}

/// Whether no rank goes on by what nobody knows. Otherwise two ranks may be seen to take ways that do
/// not belong together, and messages to be there at once that never are.
pub(super) fn all_is_known(world: &World) -> bool {
    let mut events = world.behaviours.iter().flat_map(|behaviour| &behaviour.events);
    !events.any(|event| matches!(event.action, Action::Branch { .. } | Action::Opaque))
}

/// A message and a receive that are for each other and do not agree.
#[derive(Clone, Copy)]
pub(super) struct Missed<'c> {
    pub(super) send: At,
    pub(super) receive: At,
    pub(super) unpaired: &'c Unpaired,
}

/// The pairs that `other_end` sees in the causes, each once.
pub(super) fn missed<'c>(
    case: &'c Case<'_>,
    other_end: impl Fn(Cause) -> Option<At>,
) -> Vec<Missed<'c>> {
    let mut known = FxHashSet::default();
    let mut pairs: Vec<Missed<'c>> = Vec::new();
    for unpaired in &case.unpaired {
        let Some(other) = other_end(unpaired.cause) else { continue };
        let at = unpaired.operation.at;
        let (send, receive) = if unpaired.operation.sending { (at, other) } else { (other, at) };
        if known.insert((send, receive)) {
            pairs.push(Missed { send, receive, unpaired });
        }
    }
    pairs
}

/// A blocked rank as reports show it: its step, and what in it is open.
fn wait(world: &World, blocked: &Blocked) -> Wait {
    let at = (blocked.rank, blocked.position);
    let operation = match world.behaviours[blocked.rank as usize].events.get(blocked.position) {
        Some(event) if matches!(event.action, Action::Wait { .. } | Action::Test { .. }) => {
            let open = blocked.open.iter().take(3);
            let mut open: Vec<String> =
                open.map(|&start| describe::operation(world, (blocked.rank, start))).collect();
            if blocked.open.len() > open.len() {
                open.push(format!("{} more", blocked.open.len() - open.len()));
            }
            format!("{} ({})", describe::operation(world, at), open.join(", "))
        }
        Some(_) => describe::operation(world, at),
        None => "its end".to_owned(),
    };
    let place = describe::place(world, at);
    Wait { rank: blocked.rank, operation, place, waits_for: blocked.waits_for.clone() }
}

/// "rank 2 (`worker`)".
pub(super) fn player(world: &World, rank: Rank) -> String {
    let role = world.behaviours.get(rank as usize).and_then(|behaviour| behaviour.role);
    match role.and_then(|role| world.roles.get(usize::from(role))) {
        Some(role) => format!("rank {rank} (`{}`)", role.name),
        None => format!("rank {rank}"),
    }
}

impl Finding {
    /// Names the role of a rank that does not do its part.
    pub(super) fn absent(self, world: &World, rank: Rank, text: &str) -> Self {
        let role = world.behaviours.get(rank as usize).and_then(|behaviour| behaviour.role);
        let Some(role) = role.and_then(|role| world.roles.get(usize::from(role))) else {
            return self;
        };
        let text = format!("rank {rank} {text}");
        let secondary = [self.secondary.clone(), vec![Label { place: role.place, text }]].concat();
        Finding { secondary, ..self }
    }
}
