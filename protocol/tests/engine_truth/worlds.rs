//! Small random worlds: most of them a run that goes well, written down rank by rank and then
//! spoilt a little, because a world of unrelated events hangs at once; and some of those too.

use p2p_protocol::model::{Action, CollectiveKind, Data, LabelId, Mode, Peer, Position, Tag};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::actions::{self, EVENTS, RANKS};
use crate::edit::{self, Ranks};
use crate::talks::{Settling, Stage, Talk, settling, talk};

/// Ranks with at most [`EVENTS`] events each.
pub(crate) fn worlds() -> impl Strategy<Value = Ranks> {
    let actions = || prop::collection::vec(actions::action(), 0..=EVENTS);
    let unrelated = prop::collection::vec(actions(), 1..=RANKS as usize);
    prop_oneof![9 => related().prop_map(|script| script.ranks()), 1 => unrelated]
}

/// A run that goes well, and what is then changed.
#[derive(Clone, Debug)]
struct Script {
    size: u32,
    talks: Vec<Talk>,
    settlings: Vec<Settling>,
    changes: Vec<Change>,
    /// Does it start again and again?
    endless: bool,
}

fn related() -> impl Strategy<Value = Script> {
    let size = prop_oneof![1 => Just(1_u32), 5 => Just(2), 5 => Just(3), 4 => Just(4)];
    let changes = prop_oneof![4 => Just(0..1_usize), 4 => Just(1..2), 2 => Just(2..4)]
        .prop_flat_map(|count| prop::collection::vec(change(), count));
    let talks = prop::collection::vec(talk(), 1..8);
    let settlings = prop::collection::vec(settling(), RANKS as usize);
    (size, talks, settlings, changes, prop::bool::weighted(0.03)).prop_map(
        |(size, talks, settlings, changes, endless)| Script {
            size,
            talks,
            settlings,
            changes,
            endless,
        },
    )
}

impl Script {
    fn ranks(&self) -> Ranks {
        let mut stage = Stage::new(self.size);
        for talk in &self.talks {
            stage.play(talk);
        }
        let mut ranks = stage.settle(&self.settlings);
        if self.endless {
            for actions in ranks.iter_mut().filter(|actions| actions.len() < EVENTS) {
                actions.push(Action::Jump { target: 0 });
            }
        }
        for change in &self.changes {
            change.apply(&mut ranks);
        }
        ranks
    }
}

/// Something that is different in one rank.
#[derive(Clone, Debug)]
struct Change {
    rank: Index,
    position: Index,
    kind: ChangeKind,
}

#[derive(Clone, Debug)]
enum ChangeKind {
    Drop,
    SwapWithNext,
    Insert(Action),
    Repeat,
    Tag(i32),
    Peer(Peer),
    Wildcard(Peer),
    AnyTag,
    Mode(Mode),
    Communicator(u16),
    Data(Data),
    Root(i32),
    Kind(CollectiveKind),
    /// An offer forgets its last arm.
    FewerArms,
    Label(LabelId),
    Target(Position),
}

fn change() -> BoxedStrategy<Change> {
    let kind = prop_oneof![
        3 => Just(ChangeKind::Drop),
        4 => Just(ChangeKind::SwapWithNext),
        3 => actions::action().prop_map(ChangeKind::Insert),
        1 => Just(ChangeKind::Repeat),
        1 => actions::tag().prop_map(ChangeKind::Tag),
        2 => actions::receiver().prop_map(ChangeKind::Peer),
        2 => actions::wildcard().prop_map(ChangeKind::Wildcard),
        1 => Just(ChangeKind::AnyTag),
        2 => actions::mode().prop_map(ChangeKind::Mode),
        1 => actions::communicator().prop_map(ChangeKind::Communicator),
        1 => actions::data().prop_map(ChangeKind::Data),
        1 => (-1..=RANKS.cast_signed()).prop_map(ChangeKind::Root),
        1 => actions::collective_kind().prop_map(ChangeKind::Kind),
        1 => Just(ChangeKind::FewerArms),
        1 => (0..3_u16).prop_map(ChangeKind::Label),
        1 => actions::position().prop_map(ChangeKind::Target),
    ];
    (any::<Index>(), any::<Index>(), kind)
        .prop_map(|(rank, position, kind)| Change { rank, position, kind })
        .boxed()
}

impl Change {
    fn apply(&self, ranks: &mut Ranks) {
        let actions = self.rank.get_mut(ranks);
        if let ChangeKind::Insert(action) = &self.kind {
            if actions.len() < EVENTS {
                let position = self.position.index(actions.len() + 1);
                edit::insert(actions, position, action.clone());
            }
            return;
        }
        if actions.is_empty() {
            return;
        }
        let position = self.position.index(actions.len());
        match &self.kind {
            ChangeKind::Drop => edit::remove(actions, position),
            ChangeKind::SwapWithNext => {
                let next = (position + 1) % actions.len();
                actions.swap(position, next);
            }
            ChangeKind::Repeat if actions.len() < EVENTS => {
                actions.push(Action::Jump { target: position });
            }
            kind => kind.alter(&mut actions[position]),
        }
    }
}

impl ChangeKind {
    /// Changes a part of an action, if it has that part.
    fn alter(&self, action: &mut Action) {
        match (self, action) {
            (ChangeKind::Mode(mode), action) => {
                if let Some(old) = edit::mode_of(action) {
                    *old = *mode;
                }
            }
            (ChangeKind::Root(root), Action::Collective(call)) if call.root.is_some() => {
                call.root = Some(*root);
            }
            (ChangeKind::Communicator(communicator), Action::Collective(call)) => {
                call.communicator = *communicator;
            }
            (ChangeKind::Kind(kind), Action::Collective(call)) => {
                call.kind = *kind;
                call.root = actions::is_rooted(*kind).then_some(call.root.unwrap_or(0));
            }
            (ChangeKind::FewerArms, Action::Offer { arms, .. }) => {
                let fewer = arms.len().saturating_sub(1);
                *arms = arms[..fewer].into();
            }
            (ChangeKind::Label(label), Action::Send { envelope, .. }) => {
                let label = (*label < 2).then_some(*label);
                envelope.data.label = label;
            }
            (&ChangeKind::Target(target), action) => {
                edit::retarget(std::slice::from_mut(action), |_| target);
            }
            (kind, action) => {
                let receives = is_reception(action);
                let Some(envelope) = edit::envelopes_of(action).into_iter().next() else { return };
                match kind {
                    ChangeKind::Tag(tag) => envelope.tag = Tag::Exact(*tag),
                    ChangeKind::Peer(peer) => envelope.peer = *peer,
                    ChangeKind::Communicator(communicator) => envelope.communicator = *communicator,
                    ChangeKind::Data(data) => {
                        envelope.data = Data { label: envelope.data.label, ..*data };
                    }
                    ChangeKind::Wildcard(peer) if receives => envelope.peer = *peer,
                    ChangeKind::AnyTag if receives => envelope.tag = Tag::Any,
                    _ => {}
                }
            }
        }
    }
}

fn is_reception(action: &Action) -> bool {
    matches!(
        action,
        Action::Receive { .. }
            | Action::SendReceive { .. }
            | Action::StartReceive { .. }
            | Action::PlanReceive { .. }
            | Action::Probe { .. }
            | Action::Offer { .. }
    )
}
