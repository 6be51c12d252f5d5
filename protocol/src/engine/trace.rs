//! A run told step by step.

use super::describe;
use super::evidence::At;
use crate::finding::Step;
use crate::model::{LabelId, Place, Position, Rank, World};

/// What happened in one step of a recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Sends {
        to: Rank,
    },
    Receives {
        from: Rank,
    },
    /// A wait for any or some returns the request that was started at this step.
    Completes {
        start: Position,
    },
    /// A test finds its request not complete.
    Pending {
        start: Position,
    },
    Chooses {
        label: LabelId,
    },
    Ends,
}

/// The longest story that is told; of a longer one, its end.
const TOLD: usize = 40;

/// The steps of a recorded run, its last ones where there are many.
pub(super) fn tell(world: &World, deeds: &[(At, Deed)]) -> Vec<Step> {
    let told = deeds.iter().skip(deeds.len().saturating_sub(TOLD));
    told.filter_map(|&(at, deed)| step(world, at, deed)).collect()
}

fn step(world: &World, at: At, deed: Deed) -> Option<Step> {
    let (rank, position) = at;
    let events = &world.behaviours[rank as usize].events;
    // A rank that ends is at the place of its last step.
    let place: Place = events.get(position).or(events.last())?.place;
    let text = match deed {
        Deed::Sends { to } => format!("sends {} to rank {to}", describe::sent(world, at)),
        Deed::Receives { from } => {
            format!("receives {} from rank {from}", describe::received(world, at))
        }
        Deed::Completes { start } => {
            format!(
                "{} returns `{}`",
                describe::operation(world, at),
                describe::operation(world, (rank, start))
            )
        }
        Deed::Pending { start } => {
            format!(
                "tests `{}`, which is not complete yet",
                describe::operation(world, (rank, start))
            )
        }
        Deed::Chooses { label } => format!("chooses {}", describe::label(world, Some(label))),
        Deed::Ends => "ends".to_owned(),
    };
    Some(Step { rank, text, place })
}
