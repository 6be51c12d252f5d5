//! The parts of a statement, whatever statement it is.

use super::syntax::{Block, Expression, From, Peers, Range, StatementKind};

impl StatementKind {
    /// The blocks directly inside a statement.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            StatementKind::For { body, .. } | StatementKind::Loop(_, body) => vec![body],
            StatementKind::If(_, then, otherwise) | StatementKind::Test(_, then, otherwise) => {
                vec![then, otherwise]
            }
            StatementKind::WaitAny(arms) => arms.iter().map(|(_, body)| body).collect(),
            StatementKind::Choose(_, arms) | StatementKind::Offer(_, arms) => {
                arms.iter().map(|arm| &arm.body).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The expressions directly in a statement.
    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            StatementKind::Send(_, peer, _)
            | StatementKind::StartSend(_, peer, _, _)
            | StatementKind::PlanSend(peer, _, _)
            | StatementKind::Put(peer, _)
            | StatementKind::Get(peer, _)
            | StatementKind::Offer(peer, _)
            | StatementKind::If(peer, _, _) => vec![peer],
            StatementKind::Receive(from, _, _)
            | StatementKind::StartReceive(from, _, _)
            | StatementKind::PlanReceive(from, _, _)
            | StatementKind::Probe(from, _, _) => from.expressions(),
            StatementKind::SendReceive { destination, source, .. } => {
                let mut both = vec![destination];
                both.extend(source.expressions());
                both
            }
            StatementKind::Collective(_, root, _) => root.iter().collect(),
            StatementKind::For { range: Range { start, end, step, .. }, .. } => {
                [start, end].into_iter().chain(step).collect()
            }
            StatementKind::Choose(peers, _) => match peers {
                Peers::One(peer) => vec![peer],
                Peers::Range(start, end) => vec![start, end],
                Peers::Several(peers) => peers.iter().collect(),
                Peers::Nobody => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

impl From {
    /// The expressions in it.
    fn expressions(&self) -> Vec<&Expression> {
        match self {
            From::Peer(peer) => vec![peer],
            From::Any { start, end } => vec![start, end],
        }
    }
}
