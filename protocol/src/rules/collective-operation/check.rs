//! Ranks that combine with different operations.

use super::draft::{by_place, player};
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "collective-operation",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let differing = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::CollectiveOperation { first, other } => {
            Some((first.min(other), first.max(other), seen))
        }
        _ => None,
    });
    let places = by_place(case, differing, |(one, _, _)| *one);
    places.iter().map(|(_, differing)| report(case.world, differing)).collect()
}

fn report(world: &World, differing: &[(At, At, &Seen)]) -> Finding {
    let (one, other, seen) = differing[0];
    let combines = |at| combines(world, at);
    let message = format!(
        "in `{}`, {} combines with {}, and {} with {}",
        describe::operation(world, one),
        player(world, one.0),
        combines(one),
        player(world, other.0),
        combines(other)
    );
    RULE.finding(world, one, message, format!("{} on rank {}", combines(one), one.0))
        .other_end(world, other, format!("{} on rank {}", combines(other), other.0))
        .ranks(differing.iter().flat_map(|(one, other, _)| [one.0, other.0]).collect())
        .trace(&seen.trace)
        .note("all ranks of a reduction name the same operation (MPI 4.0, 6.9.1); otherwise the result is neither the one nor the other")
        .help("name the same operation on every rank")
}

/// "`sum`".
fn combines(world: &World, at: At) -> String {
    let collective = describe::event(world, at).action.collective();
    let operation = collective.and_then(|collective| collective.operation);
    let name = operation.and_then(|operation| world.operations.get(usize::from(operation)));
    name.map_or_else(|| "another operation".to_owned(), |name| format!("`{name}`"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::samples::{found, rsmpi};
    use crate::model::{Action, Collective, CollectiveKind, World};

    fn reduction(operations: [Option<u16>; 2]) -> World {
        let reduce = |operation| {
            let kind = CollectiveKind::AllReduce;
            Action::Collective(Collective { operation, ..Collective::of(kind, 0) })
        };
        let world = rsmpi(operations.map(|operation| vec![reduce(operation)]).to_vec());
        World { operations: Arc::new(["sum".to_owned(), "max".to_owned()]), ..world }
    }

    #[test]
    fn all_ranks_name_the_same_operation() {
        let wrong = found(&reduction([Some(0), Some(1)]), "collective-operation");
        assert_eq!(wrong.len(), 1);
        assert_eq!(
            wrong[0].message,
            "in `all_reduce_into`, rank 0 combines with `sum`, and rank 1 with `max` (with 2 ranks)"
        );
        assert!(found(&reduction([Some(1), Some(1)]), "collective-operation").is_empty());
        assert!(found(&reduction([None, Some(1)]), "collective-operation").is_empty());
    }
}
