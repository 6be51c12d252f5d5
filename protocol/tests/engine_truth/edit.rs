//! Small changes to the ranks of a world that keep every jump pointing where it pointed.

use p2p_protocol::model::{Action, Completion, Data, Envelope, Mode, Peer, Position, Tag};

use crate::build::SMALL;

/// What each rank of a world does, one after the other.
pub(crate) type Ranks = Vec<Vec<Action>>;

/// Takes one action out.
pub(crate) fn remove(actions: &mut Vec<Action>, position: Position) {
    actions.remove(position);
    retarget(actions, |target| if target > position { target - 1 } else { target });
}

/// Puts one action in; what jumped to its place still comes to what was there, by way of it.
pub(crate) fn insert(actions: &mut Vec<Action>, position: Position, action: Action) {
    retarget(actions, |target| if target > position { target + 1 } else { target });
    actions.insert(position, action);
}

/// Gives every jump another target.
pub(crate) fn retarget(actions: &mut [Action], target: impl Fn(Position) -> Position) {
    let all = actions.iter_mut().flat_map(targets);
    for position in all {
        *position = target(*position);
    }
}

/// Every position that an action names.
fn targets(action: &mut Action) -> Vec<&mut Position> {
    match action {
        Action::Jump { target } => vec![target],
        Action::Branch { targets } => targets.iter_mut().collect(),
        Action::BranchOnTag { arms, otherwise, .. } => {
            arms.iter_mut().map(|(_, target)| target).chain([otherwise]).collect()
        }
        Action::Test { pending, .. } => vec![pending],
        Action::Choose { arms } | Action::Offer { arms, .. } => {
            arms.iter_mut().map(|arm| &mut arm.target).collect()
        }
        Action::Wait { completion: Completion::Any(Some(targets)), .. } => {
            targets.iter_mut().collect()
        }
        _ => Vec::new(),
    }
}

/// Every way to make a world a little smaller or plainer.
pub(crate) fn smaller(ranks: &Ranks) -> Vec<Ranks> {
    let mut all = Vec::new();
    if let [first @ .., last] = &ranks[..]
        && last.is_empty()
        && !first.is_empty()
    {
        all.push(first.to_vec());
    }
    let places =
        || (0..ranks.len()).flat_map(|rank| (0..ranks[rank].len()).map(move |at| (rank, at)));
    for (rank, position) in places() {
        let mut fewer = ranks.clone();
        remove(&mut fewer[rank], position);
        all.push(fewer);
    }
    for (rank, position) in places() {
        for plain in plainer(&ranks[rank][position]) {
            let mut changed = ranks.clone();
            changed[rank][position] = plain;
            all.push(changed);
        }
    }
    all
}

/// The action with one part made usual.
fn plainer(action: &Action) -> Vec<Action> {
    let mut all = Vec::new();
    let mut keep = |plain: Action| {
        if plain != *action {
            all.push(plain);
        }
    };
    let mut plain = action.clone();
    if let Some(mode) = mode_of(&mut plain) {
        *mode = Mode::Standard;
        keep(plain);
    }
    let mut plain = action.clone();
    for envelope in envelopes_of(&mut plain) {
        envelope.communicator = 0;
        envelope.data = Data { label: envelope.data.label, ..SMALL };
        if let Tag::Exact(tag) = &mut envelope.tag {
            *tag = 0;
        }
    }
    keep(plain);
    if let Action::StartSend { mode, envelope, .. } = action {
        keep(Action::Send { mode: *mode, envelope: *envelope });
    }
    if let Action::StartReceive { envelope, binds, .. } = action {
        keep(Action::Receive { envelope: *envelope, binds: *binds });
    }
    if let Action::SendReceive { send, receive } = action {
        keep(Action::Send { mode: Mode::Standard, envelope: **send });
        keep(Action::Receive { envelope: **receive, binds: None });
    }
    all
}

/// The mode of a send.
pub(crate) fn mode_of(action: &mut Action) -> Option<&mut Mode> {
    match action {
        Action::Send { mode, .. }
        | Action::StartSend { mode, .. }
        | Action::PlanSend { mode, .. } => Some(mode),
        _ => None,
    }
}

/// The envelopes of an action; of a combined one the receive half comes first.
pub(crate) fn envelopes_of(action: &mut Action) -> Vec<&mut Envelope> {
    let mut envelopes: Vec<&mut Envelope> = action.envelopes_mut().collect();
    envelopes.reverse();
    envelopes
}

/// May the order of steps matter where ranks do these?
pub(crate) fn has_choice<'a>(actions: impl IntoIterator<Item = &'a Action>) -> bool {
    actions.into_iter().cloned().any(|mut action| {
        let is_wildcard = |peer| matches!(peer, Peer::Any { .. });
        envelopes_of(&mut action).iter().any(|envelope| is_wildcard(envelope.peer))
            || match action {
                Action::Wait { completion, .. } => completion != Completion::All,
                Action::Test { .. } | Action::Choose { .. } | Action::Branch { .. } => true,
                _ => false,
            }
    })
}
