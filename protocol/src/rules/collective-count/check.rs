//! Ranks that bring different amounts to one collective.

use super::collective_type::{alike_everywhere, differing};
use super::{Check, Rule};
use crate::engine::{Case, Observation};
use crate::finding::{Finding, Group, Level};
use crate::model::{CollectiveKind, World};

pub(super) const RULE: Rule = Rule {
    name: "collective-count",
    group: Group::Collective,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    differing(&RULE, case, (note, help), |observation| match observation {
        Observation::CollectiveCount { first, other } => Some((first, other)),
        _ => None,
    })
}

fn note(kind: CollectiveKind) -> &'static str {
    use CollectiveKind::{
        AllGather, AllGatherv, AllToAll, AllToAllv, Gather, Gatherv, Scatter, Scatterv,
    };
    match kind {
        Gatherv | Scatterv | AllGatherv | AllToAllv => {
            "what a rank brings for another must fit into the room that the other keeps for it (MPI 4.0, 6.5 to 6.8); what is longer ends the job or overwrites memory"
        }
        Gather | Scatter | AllGather | AllToAll => {
            "every rank brings as many elements as there is room for from each (MPI 4.0, 6.5 to 6.8); with less room the job ends or memory is overwritten, with more the parts are not where they are looked for"
        }
        _ => {
            "a broadcast and a reduction move the same number of elements on every rank (MPI 4.0, 6.4 and 6.9); with less room the job ends or memory is overwritten, with more the rest is never written"
        }
    }
}

fn help(world: &World, kind: CollectiveKind, is_one_call: bool) -> &'static str {
    use CollectiveKind::{AllGatherv, AllToAllv, Gatherv, Scatterv};
    match kind {
        Gatherv | AllGatherv | AllToAllv => world.dialect.words(
            "let the receiving side count what the others really bring",
            "give the receiving side the counts that the others really bring, for example from an `all_gather_into` of the lengths",
            "give the receiving side the counts that the others really bring, for example from an `MPI_Allgather` of the lengths",
        ),
        Scatterv => "give each rank as much room as the root has for it",
        _ if is_one_call => "give the buffer that receives room for all that comes",
        _ => alike_everywhere(world),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{found, rsmpi};
    use std::sync::Arc;

    use crate::model::{Action, Collective, CollectiveKind, Data, Shares, World};

    /// So many elements that a rank brings, and makes room for.
    type Part = (Option<u64>, Option<u64>);

    fn part(count: u64) -> Data {
        Data { datatype: Some(0), count: Some(count), message: None, label: None, buffer: None }
    }

    fn messages(kind: CollectiveKind, ranks: &[Part]) -> Vec<String> {
        let call = |&(data, room): &Part| {
            let (data, room) = (data.map(part), room.map(part));
            Action::Collective(Collective { data, room, ..Collective::of(kind, 0) })
        };
        let world = rsmpi(ranks.iter().map(|part| vec![call(part)]).collect());
        found(&world, "collective-count").into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn a_gather_has_room_for_what_each_rank_brings() {
        let gather = |ranks: [Part; 2]| messages(CollectiveKind::Gather, &ranks);
        assert_eq!(
            gather([(Some(1), Some(1)), (Some(2), None)]),
            ["in `gather_into`, rank 0 has 1 u8, and rank 1 has 2 u8 (with 2 ranks)"]
        );
        assert_eq!(
            gather([(None, Some(1)), (Some(2), None)]),
            [
                "in `gather_into`, rank 0 has room for 1 u8 from each rank, and rank 1 has 2 u8 (with 2 ranks)"
            ]
        );
        assert_eq!(gather([(Some(2), Some(2)), (Some(2), None)]), [""; 0]);
        assert_eq!(gather([(Some(2), None), (None, None)]), [""; 0]);
    }

    #[test]
    fn an_all_gather_has_room_for_what_the_rank_itself_brings() {
        let both = (Some(10), Some(1));
        assert_eq!(
            messages(CollectiveKind::AllGather, &[both, both]),
            [
                "in `all_gather_into`, rank 0 has 10 u8 and room for 1 u8 from each rank (with 2 ranks)"
            ]
        );
    }

    #[test]
    fn a_reduction_has_room_for_its_result() {
        let reduce =
            |room| messages(CollectiveKind::AllReduce, &[(Some(3), room), (Some(3), None)]);
        assert_eq!(
            reduce(Some(2)),
            ["in `all_reduce_into`, rank 0 has 3 u8 and room for 2 u8 (with 2 ranks)"]
        );
        assert_eq!(reduce(Some(4)), [""; 0]);
        assert_eq!(reduce(None), [""; 0]);
    }

    /// What is said of two ranks that bring and take so many elements for and from each.
    fn divided(kind: CollectiveKind, ranks: [(&[u64], &[u64]); 2]) -> Vec<String> {
        let known = |counts: &[u64]| counts.iter().copied().map(Some).collect();
        let shares =
            ranks.map(|(brings, takes)| Shares { brings: known(brings), takes: known(takes) });
        let any = Some(Data { count: None, ..part(0) });
        let call = |shares| {
            let (data, room, shares) = (any, any, Some(shares));
            Action::Collective(Collective { data, room, shares, ..Collective::of(kind, 0) })
        };
        let world = World { shares: Arc::new(shares), ..rsmpi(vec![vec![call(0)], vec![call(1)]]) };
        found(&world, "collective-count").into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn what_is_brought_for_one_rank_fits_into_its_room() {
        let exchange = |ranks| divided(CollectiveKind::AllToAllv, ranks);
        assert_eq!(
            exchange([(&[1, 3], &[1, 2]), (&[2, 0], &[2, 0])]),
            [
                "in `all_to_all_varcount_into`, rank 0 has 3 u8 for rank 1, and rank 1 has room for 2 u8 from rank 0 (with 2 ranks)"
            ]
        );
        assert_eq!(
            exchange([(&[4, 1], &[3, 1]), (&[1, 0], &[1, 0])]),
            [
                "in `all_to_all_varcount_into`, rank 0 has 4 u8 for itself and room for 3 u8 from itself (with 2 ranks)"
            ]
        );
        assert_eq!(exchange([(&[1, 3], &[1, 9]), (&[2, 0], &[3, 0])]), [""; 0]);
        assert_eq!(exchange([(&[1], &[]), (&[2, 0], &[2, 0])]), [""; 0]);
    }
}
