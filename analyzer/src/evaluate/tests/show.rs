//! Worlds in a compact form: `0: send 1 tag 0 3 x f64; receive any tag any 1 x i32`.

use p2p_protocol::model::{Action, Collective, Data, Envelope, Event, Peer, Tag, World};

/// A line for each rank: its events, separated by semicolons.
pub(crate) fn world(world: &World) -> String {
    let ranks = world.behaviours.iter().enumerate().map(|(rank, behaviour)| {
        let events: Vec<String> =
            behaviour.events.iter().map(|event| self::event(world, event)).collect();
        format!("{rank}: {}", events.join("; ")).trim_end().to_owned()
    });
    ranks.collect::<Vec<_>>().join("\n")
}

fn event(world: &World, event: &Event) -> String {
    let envelope = |envelope: &Envelope| self::envelope(world, envelope);
    let binds = |binds: &Option<u16>| binds.map_or(String::new(), |slot| format!(" -> s{slot}"));
    match &event.action {
        Action::Send { mode, envelope: it } => {
            format!("{}send {}", mode_name(*mode), envelope(it))
        }
        Action::Receive { envelope: it, binds: slot } => {
            format!("receive {}{}", envelope(it), binds(slot))
        }
        Action::SendReceive { send, receive } => {
            format!("sendrecv {} / {}", envelope(send), envelope(receive))
        }
        Action::StartSend { mode, envelope: it, request } => {
            format!("r{request} = {}isend {}", mode_name(*mode), envelope(it))
        }
        Action::StartReceive { envelope: it, request, binds: slot } => {
            format!("r{request} = ireceive {}{}", envelope(it), binds(slot))
        }
        Action::Wait { requests, completion } => {
            let requests: Vec<String> = requests.iter().map(|it| format!("r{it}")).collect();
            let how = match completion {
                p2p_protocol::model::Completion::All => "",
                p2p_protocol::model::Completion::Any(_) => "any ",
                p2p_protocol::model::Completion::Some => "some ",
            };
            format!("wait {how}{}", requests.join(" "))
        }
        Action::Probe { envelope: it, binds: slot } => {
            format!("probe {}{}", envelope(it), binds(slot))
        }
        Action::Collective(it) => collective(world, it),
        Action::StartCollective { collective: it, request } => {
            format!("r{request} = i{}", collective(world, it))
        }
        Action::Jump { target } => format!("jump {target}"),
        Action::Branch { targets } => format!("branch {targets:?}"),
        Action::BranchOnTag { slot, arms, otherwise } => {
            let arms: Vec<String> =
                arms.iter().map(|(tag, target)| format!("{tag} => {target}")).collect();
            format!("branch s{slot} {} else {otherwise}", arms.join(", "))
        }
        Action::Leave { departure } => format!("{departure:?}").to_lowercase(),
        Action::Opaque => "opaque".to_owned(),
        other => format!("{other:?}"),
    }
}

fn mode_name(mode: p2p_protocol::model::Mode) -> &'static str {
    match mode {
        p2p_protocol::model::Mode::Standard => "",
        p2p_protocol::model::Mode::Synchronous => "s",
        p2p_protocol::model::Mode::Buffered => "b",
        p2p_protocol::model::Mode::Ready => "r",
    }
}

fn envelope(world: &World, envelope: &Envelope) -> String {
    let peer = match envelope.peer {
        Peer::Rank(rank) => rank.to_string(),
        Peer::Any { .. } => "any".to_owned(),
        Peer::Source(slot) => format!("s{slot}"),
        Peer::Outside(rank) => format!("outside {rank}"),
        Peer::Null => "null".to_owned(),
    };
    let tag = match envelope.tag {
        Tag::Exact(tag) => tag.to_string(),
        Tag::Any => "any".to_owned(),
    };
    let on = match envelope.communicator {
        0 => String::new(),
        other => format!(" on {}", world.communicators[other as usize].name),
    };
    format!("{peer} tag {tag}{on} {}", data(world, &envelope.data))
}

fn data(world: &World, data: &Data) -> String {
    let datatype = data.datatype.map_or("?", |it| &world.datatypes[it as usize].signature);
    let count = data.count.map_or("?".to_owned(), |count| count.to_string());
    format!("{count} x {datatype}")
}

fn collective(world: &World, collective: &Collective) -> String {
    let mut text = collective.kind.name().to_owned();
    if let Some(root) = collective.root {
        text += &format!(" root {root}");
    }
    if collective.communicator != 0 {
        let name = &world.communicators[collective.communicator as usize].name;
        text += &format!(" on {name}");
    }
    if let Some(it) = &collective.data {
        text += &format!(" {}", data(world, it));
    }
    text
}
