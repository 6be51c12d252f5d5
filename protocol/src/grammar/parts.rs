//! The parts of statements and expressions, whatever they are.

use super::syntax::{
    Block, Expression, ExpressionKind, From, Name, Peers, Range, Statement, StatementKind,
};
use crate::model::Place;

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

impl Block {
    /// The statement that stands at this place, in here or in a block inside.
    pub(super) fn statement_at(&self, place: Place) -> Option<&Statement> {
        self.statements.iter().find_map(|statement| {
            let inside = || {
                let mut blocks = statement.kind.blocks().into_iter();
                blocks.find_map(|block| block.statement_at(place))
            };
            if statement.place == place { Some(statement) } else { inside() }
        })
    }
}

impl Expression {
    /// The expressions directly in it.
    fn parts(&self) -> Vec<&Expression> {
        match &self.kind {
            ExpressionKind::Unary(_, inner) => vec![inner],
            ExpressionKind::Pair(one, other) | ExpressionKind::Binary(_, one, other) => {
                vec![one, other]
            }
            ExpressionKind::Method(_, receiver, argument) => {
                std::iter::once(&**receiver).chain(argument.as_deref()).collect()
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                vec![condition, then, otherwise]
            }
            ExpressionKind::Variable(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Boolean(_)
            | ExpressionKind::Rank
            | ExpressionKind::Size => Vec::new(),
        }
    }

    /// How many nodes it has, itself among them.
    pub(super) fn nodes(&self) -> usize {
        1 + self.parts().into_iter().map(Expression::nodes).sum::<usize>()
    }

    /// Calls `see` with every name that it uses.
    pub fn visit<'e>(&'e self, see: &mut dyn FnMut(&'e Name)) {
        if let ExpressionKind::Variable(name) = &self.kind {
            see(name);
        }
        for part in self.parts() {
            part.visit(see);
        }
    }
}
