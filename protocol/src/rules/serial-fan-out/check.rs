//! One rank that serves all others one after another.

use super::advice::{Seen, by_place};
use super::draft::player;
use super::{Advised, Check, Rule};
use crate::engine::{At, describe, envelope, words};
use crate::finding::{Finding, Group, Level};
use crate::model::{
    Action, Behaviour, Buffer, CollectiveKind, Dialect, Envelope, Mode, Peer, Position, Rank, World,
};

mod rounds;

pub(super) const RULE: Rule = Rule {
    name: "serial-fan-out",
    group: Group::Performance,
    level: Level::Allow,
    doc: include_str!("doc.md"),
    check: Check::Advice(check),
};

/// With fewer ranks there is nobody to be served after another.
const FEWEST: u32 = 3;

/// Steps of one rank in a row, at one place: a blocking send to each other rank, or a receive from it.
struct Row {
    sending: bool,
    /// In the order of the list.
    steps: Vec<Position>,
    /// Whether it serves each other rank once, all with the same message, as one collective could.
    is_whole: bool,
}

fn check(world: &World) -> Vec<Advised> {
    let is_told = world.shows_work || world.dialect == Dialect::Protocol;
    if !is_told || world.size() < FEWEST {
        return Vec::new();
    }
    let mut seen = Vec::new();
    for (rank, behaviour) in (0..).zip(&world.behaviours) {
        let mut rows = rows(world, rank, behaviour);
        let place = |row: &Row| behaviour.events[row.steps[0]].place;
        rows.sort_by_key(place);
        for rows in rows.chunk_by(|one, other| place(one) == place(other)) {
            let at = (rank, rows[0].steps[0]);
            let is_better = rows.iter().all(|row| row.is_whole) && rounds::meet(world, rank, rows);
            seen.push((at, if is_better { Seen::Better } else { Seen::Needed }));
        }
    }
    by_place(world, seen, |at| say(world, at))
}

/// The rows of a rank.
fn rows(world: &World, rank: Rank, behaviour: &Behaviour) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut goes_on = false;
    for (position, event) in behaviour.events.iter().enumerate() {
        let sending = match &event.action {
            Action::Send { mode: Mode::Standard | Mode::Synchronous, .. } => true,
            Action::Receive { .. } => false,
            // What only says something does not come between.
            Action::Argument { .. } | Action::Create { .. } | Action::Release { .. } => continue,
            _ => {
                goes_on = false;
                continue;
            }
        };
        let peer = |at: Position| message(behaviour, at, sending).map(|envelope| envelope.peer);
        let belongs = |row: &Row| {
            behaviour.events[row.steps[0]].place == event.place
                && !row.steps.iter().any(|step| peer(*step) == peer(position))
        };
        match rows.last_mut().filter(|row| goes_on && belongs(row)) {
            Some(row) => row.steps.push(position),
            None => rows.push(Row { sending, steps: vec![position], is_whole: false }),
        }
        goes_on = true;
    }
    rows.iter_mut().for_each(|row| row.is_whole = is_whole(world, rank, behaviour, row));
    rows
}

fn is_whole(world: &World, rank: Rank, behaviour: &Behaviour, row: &Row) -> bool {
    let others = world.size() as usize - 1;
    let messages = row.steps.iter().filter_map(|step| message(behaviour, *step, row.sending));
    let messages: Vec<&Envelope> = messages.collect();
    let Some(first) = messages.first() else { return false };
    let is_plain = first.data.count.is_some()
        && first.data.datatype.is_some()
        && first.data.label.is_none()
        && world.member_count(first.communicator) == world.behaviours.len();
    // Each peer is there once only.
    let serves = |one: &Envelope| {
        matches!(one.peer, Peer::Rank(peer) if world.has(peer) && peer.unsigned_abs() != rank)
            && one.data.count == first.data.count
            && one.data.datatype == first.data.datatype
            && (one.tag, one.communicator) == (first.tag, first.communicator)
    };
    is_plain && messages.len() == others && messages.iter().all(|one| serves(one))
}

fn message(behaviour: &Behaviour, position: Position, sending: bool) -> Option<&Envelope> {
    envelope(behaviour.events.get(position)?, sending)
}

fn say(world: &World, at: At) -> Finding {
    let behaviour = &world.behaviours[at.0 as usize];
    let sending = matches!(behaviour.events[at.1].action, Action::Send { .. });
    let sent = message(behaviour, at.1, sending);
    let what = sent.map_or_else(String::new, |envelope| describe::data(world, &envelope.data));
    let (does, label) = match sending {
        true => (format!("sends {what} to"), "one send after another"),
        false => (format!("receives {what} from"), "one receive after another"),
    };
    let message = format!("{} {does} each other rank in turn", player(world, at.0));
    RULE.finding(world, at, message, label)
        .note("the last rank waits until all others are served; a collective passes the data on in parallel, in steps that grow with the logarithm of the number of ranks")
        .help(help(world, at, sending))
}

fn help(world: &World, at: At, sending: bool) -> String {
    let behaviour = &world.behaviours[at.0 as usize];
    let place = behaviour.events[at.1].place;
    let here = (at.1..behaviour.events.len()).filter(|it| behaviour.events[*it].place == place);
    let buffers = here.take(2).map(|it| message(behaviour, it, sending).and_then(|it| it.data.buffer));
    let buffers: Vec<Option<Buffer>> = buffers.collect();
    let are_pieces = match buffers[..] {
        [Some(one), Some(other)] => one.object == other.object && !one.overlaps(&other),
        _ => false,
    };
    let name = |kind| words::collective(world.dialect, kind);
    let [scatter, gather] = [CollectiveKind::Scatter, CollectiveKind::Gather].map(name);
    let [bcast, reduce] = [CollectiveKind::Bcast, CollectiveKind::Reduce].map(name);
    let where_it_is = "on all ranks in the same place";
    match (sending, are_pieces) {
        (true, true) => format!("call `{scatter}` {where_it_is}: it hands each rank its piece"),
        (true, false) => format!(
            "call `{bcast}` {where_it_is} if all get the same, or keep the pieces in one buffer and call `{scatter}`"
        ),
        (false, true) => format!("call `{gather}` {where_it_is}: it puts each rank's piece in its place"),
        (false, false) => format!(
            "call `{gather}` {where_it_is}, into one buffer for all, or `{reduce}` if they are only combined"
        ),
    }
}

#[cfg(test)]
mod tests;
