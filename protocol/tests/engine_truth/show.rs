//! A world as a person writes it down, one rank a line.

use std::fmt::{Display, Formatter, Result};

use p2p_protocol::model::{
    Action, Arm, Completion, Envelope, Mode, Peer, RequestId, SourceId, Tag, World,
};

/// A world that prints readably.
pub(crate) struct Shown<'world>(pub(crate) &'world World);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (rank, behaviour) in self.0.behaviours.iter().enumerate() {
            write!(f, "rank {rank}:")?;
            for (position, event) in behaviour.events.iter().enumerate() {
                write!(f, " {position}: {};", action(&event.action))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn action(action: &Action) -> String {
    match action {
        Action::Send { mode, envelope: to } => format!("{}send{}", letter(*mode), envelope(to)),
        Action::Receive { envelope: from, binds } => {
            format!("recv{}{}", envelope(from), bound(*binds))
        }
        Action::SendReceive { send, receive } => {
            format!("sendrecv[send{} recv{}]", envelope(send), envelope(receive))
        }
        Action::StartSend { mode, envelope: to, request } => {
            format!("r{request} = i{}send{}", letter(*mode), envelope(to))
        }
        Action::StartReceive { envelope: from, request, binds } => {
            format!("r{request} = irecv{}{}", envelope(from), bound(*binds))
        }
        Action::PlanSend { mode, envelope: to, request } => {
            format!("r{request} = {}send_init{}", letter(*mode), envelope(to))
        }
        Action::PlanReceive { envelope: from, request } => {
            format!("r{request} = recv_init{}", envelope(from))
        }
        Action::Start { requests } => format!("start({})", list(requests)),
        Action::Wait { requests, completion } => match completion {
            Completion::All => format!("wait_all({})", list(requests)),
            Completion::Any(None) => format!("wait_any({})", list(requests)),
            Completion::Any(Some(targets)) => {
                format!("wait_any({}) -> {targets:?}", list(requests))
            }
            Completion::Some => format!("wait_some({})", list(requests)),
        },
        Action::Test { request, pending } => format!("test(r{request}) else -> {pending}"),
        Action::Probe { envelope: from, binds } => {
            format!("probe{}{}", envelope(from), bound(*binds))
        }
        Action::Collective(call) => {
            let root = call.root.map(|root| format!("root {root}")).unwrap_or_default();
            format!("{:?}({root}){}", call.kind, on(call.communicator))
        }
        Action::Put { envelope: to } => format!("put{}", envelope(to)),
        Action::Get { envelope: from } => format!("get{}", envelope(from)),
        Action::Choose { arms } => format!("choose {}", branches(arms)),
        Action::Offer { envelope: from, arms } => {
            format!("offer{} {}", envelope(from), branches(arms))
        }
        Action::Jump { target } => format!("jump -> {target}"),
        Action::StartCollective { collective: call, request } => {
            let root = call.root.map(|root| format!("root {root}")).unwrap_or_default();
            format!("r{request} = i{:?}({root}){}", call.kind, on(call.communicator))
        }
        Action::Free { request } => format!("free(r{request})"),
        Action::AttachBuffer { .. } => "attach".to_owned(),
        Action::DetachBuffer => "detach".to_owned(),
        Action::Branch { targets } => format!("branch -> {targets:?}"),
        Action::BranchOnTag { slot, arms, otherwise } => {
            format!("branch on tag of source {slot} -> {arms:?} else {otherwise}")
        }
        Action::Leave { departure } => format!("leave({departure:?})"),
        other => format!("{other:?}"),
    }
}

fn letter(mode: Mode) -> &'static str {
    match mode {
        Mode::Standard => "",
        Mode::Synchronous => "s",
        Mode::Buffered => "b",
        Mode::Ready => "r",
    }
}

/// `(1, tag 0)`, with all that is unusual about the data.
fn envelope(envelope: &Envelope) -> String {
    let peer = match envelope.peer {
        Peer::Rank(rank) => rank.to_string(),
        Peer::Any { first, end } => format!("any {first}..{end}"),
        Peer::Source(slot) => format!("source {slot}"),
        Peer::Outside(rank) => format!("outside {rank}"),
        Peer::Null => "null".to_owned(),
    };
    let tag = match envelope.tag {
        Tag::Exact(tag) => format!("tag {tag}"),
        Tag::Any => "any tag".to_owned(),
    };
    let label = envelope.data.label.map(|label| format!(", label {label}")).unwrap_or_default();
    let data = match (envelope.data.datatype, envelope.data.count) {
        (Some(0), Some(1)) => String::new(),
        (Some(0), Some(count)) => format!(", {count} elements"),
        _ => ", unknown bytes".to_owned(),
    };
    format!("({peer}, {tag}{label}{data}){}", on(envelope.communicator))
}

fn on(communicator: u16) -> String {
    if communicator == 0 { String::new() } else { format!(" on {communicator}") }
}

fn bound(slot: Option<SourceId>) -> String {
    slot.map(|slot| format!(" as source {slot}")).unwrap_or_default()
}

fn list(requests: &[RequestId]) -> String {
    let requests: Vec<String> = requests.iter().map(|request| format!("r{request}")).collect();
    requests.join(", ")
}

fn branches(arms: &[Arm]) -> String {
    let arms: Vec<String> =
        arms.iter().map(|arm| format!("{} -> {}", arm.label, arm.target)).collect();
    format!("{{{}}}", arms.join(", "))
}
