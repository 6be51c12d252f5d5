//! What a step names, whichever step it is: messages, ranks, requests, positions. Whoever has to look
//! at all of them, or to rename them, does so here.

use super::{
    Action, Buffer, Collective, Completion, Data, Envelope, OneSided, Peer, Position, RequestId,
    WindowAccess, WindowStep,
};

impl Action {
    /// The collective that it enters, blocking or not.
    pub fn collective(&self) -> Option<&Collective> {
        match self {
            Action::Collective(collective) | Action::StartCollective { collective, .. } => {
                Some(collective)
            }
            _ => None,
        }
    }

    /// The envelopes of what it sends, receives, plans or looks at.
    pub fn envelopes(&self) -> impl Iterator<Item = &Envelope> {
        let (one, other) = match self {
            Action::Send { envelope, .. }
            | Action::Receive { envelope, .. }
            | Action::StartSend { envelope, .. }
            | Action::StartReceive { envelope, .. }
            | Action::PlanSend { envelope, .. }
            | Action::PlanReceive { envelope, .. }
            | Action::Probe { envelope, .. }
            | Action::Put { envelope }
            | Action::Get { envelope }
            | Action::Offer { envelope, .. } => (Some(envelope), None),
            Action::SendReceive { send, receive } => (Some(&**send), Some(&**receive)),
            _ => (None, None),
        };
        one.into_iter().chain(other)
    }

    /// The same, to be changed.
    pub fn envelopes_mut(&mut self) -> impl Iterator<Item = &mut Envelope> {
        let (one, other) = match self {
            Action::Send { envelope, .. }
            | Action::Receive { envelope, .. }
            | Action::StartSend { envelope, .. }
            | Action::StartReceive { envelope, .. }
            | Action::PlanSend { envelope, .. }
            | Action::PlanReceive { envelope, .. }
            | Action::Probe { envelope, .. }
            | Action::Put { envelope }
            | Action::Get { envelope }
            | Action::Offer { envelope, .. } => (Some(envelope), None),
            Action::SendReceive { send, receive } => (Some(&mut **send), Some(&mut **receive)),
            _ => (None, None),
        };
        one.into_iter().chain(other)
    }

    /// The other ends that it names: of messages, of one-sided accesses, and the ranks of a group.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        let (one, group) = match self {
            Action::OneSided(it) => it.step.peers(),
            _ => (None, &[][..]),
        };
        self.envelopes().map(|envelope| envelope.peer).chain(one).chain(group.iter().copied())
    }

    /// The same, to be changed.
    pub fn peers_mut(&mut self) -> impl Iterator<Item = &mut Peer> {
        let (one, other, group) = match self {
            Action::OneSided(it) => {
                let (one, group) = it.step.peers_mut();
                (one, None, group)
            }
            action => {
                let mut peers = action.envelopes_mut().map(|envelope| &mut envelope.peer);
                (peers.next(), peers.next(), &mut [][..])
            }
        };
        one.into_iter().chain(other).chain(group)
    }

    /// The pieces of memory that it names, to be changed.
    pub fn buffers_mut(&mut self) -> impl Iterator<Item = &mut Buffer> {
        let (one, other) = match self {
            Action::Collective(it) | Action::StartCollective { collective: it, .. } => {
                (buffer_of(it.data.as_mut()), buffer_of(it.room.as_mut()))
            }
            Action::OneSided(it) => match &mut it.step {
                WindowStep::Made { memory } => (memory.as_mut(), None),
                WindowStep::Access(it) => (it.origin.as_mut(), it.result.as_mut()),
                _ => (None, None),
            },
            action => {
                let mut envelopes = action.envelopes_mut();
                let mut next = || buffer_of(envelopes.next().map(|it| &mut it.data));
                (next(), next())
            }
        };
        one.into_iter().chain(other)
    }

    /// The requests that it names.
    pub fn requests(&self) -> &[RequestId] {
        match self {
            Action::StartSend { request, .. }
            | Action::StartReceive { request, .. }
            | Action::PlanSend { request, .. }
            | Action::PlanReceive { request, .. }
            | Action::StartCollective { request, .. }
            | Action::Test { request, .. }
            | Action::Cancel { request }
            | Action::Free { request }
            | Action::Overwrite { request } => std::slice::from_ref(request),
            Action::Wait { requests, .. }
            | Action::Start { requests }
            | Action::Access { requests, .. }
            | Action::Vanish { requests } => requests,
            Action::OneSided(it) => it.access().map_or(&[], |access| access.request.as_slice()),
            _ => &[],
        }
    }

    /// Where it may go on besides the next step.
    pub fn targets(&self) -> Vec<Position> {
        match self {
            Action::Jump { target } => vec![*target],
            Action::Test { pending, .. } => vec![*pending],
            Action::Choose { arms } | Action::Offer { arms, .. } => {
                arms.iter().map(|arm| arm.target).collect()
            }
            Action::Wait { completion: Completion::Any(Some(targets)), .. }
            | Action::Branch { targets } => targets.to_vec(),
            Action::BranchOnTag { arms, otherwise, .. } => {
                arms.iter().map(|&(_, target)| target).chain([*otherwise]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it goes on at the next step whatever others do, and others do not hear of it.
    pub fn moves_nothing(&self) -> bool {
        matches!(
            self,
            Action::Access { .. }
                | Action::Vanish { .. }
                | Action::Measured { .. }
                | Action::Argument { .. }
                | Action::Create { .. }
                | Action::Release { .. }
                | Action::Initialize
                | Action::Finalize
                | Action::Outside { .. }
                | Action::Compute { .. }
        )
    }

    /// Whether it may go on at the next step.
    pub fn falls_through(&self) -> bool {
        !matches!(
            self,
            Action::Jump { .. }
                | Action::Choose { .. }
                | Action::Offer { .. }
                | Action::Branch { .. }
                | Action::BranchOnTag { .. }
                | Action::Leave { .. }
                | Action::Opaque
        )
    }
}

impl OneSided {
    /// The access that it is.
    pub fn access(&self) -> Option<&WindowAccess> {
        match &self.step {
            WindowStep::Access(access) => Some(access),
            _ => None,
        }
    }
}

fn buffer_of(data: Option<&mut Data>) -> Option<&mut Buffer> {
    data?.buffer.as_mut()
}

impl WindowStep {
    fn peers(&self) -> (Option<Peer>, &[Peer]) {
        match self {
            WindowStep::Lock { target, .. } | WindowStep::Unlock { target } => (Some(*target), &[]),
            WindowStep::Flush { target, .. } => (*target, &[]),
            WindowStep::Access(access) => (Some(access.target), &[]),
            WindowStep::Start { group } | WindowStep::Post { group } => {
                (None, group.as_deref().unwrap_or_default())
            }
            _ => (None, &[]),
        }
    }

    fn peers_mut(&mut self) -> (Option<&mut Peer>, &mut [Peer]) {
        match self {
            WindowStep::Lock { target, .. } | WindowStep::Unlock { target } => {
                (Some(target), &mut [])
            }
            WindowStep::Flush { target, .. } => (target.as_mut(), &mut []),
            WindowStep::Access(access) => (Some(&mut access.target), &mut []),
            WindowStep::Start { group } | WindowStep::Post { group } => {
                (None, group.as_deref_mut().unwrap_or_default())
            }
            _ => (None, &mut []),
        }
    }
}
