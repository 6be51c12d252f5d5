//! Accesses that may meet, and accesses that may not.

use super::super::samples::{c, found, on_window, put};
use crate::engine::samples::{receive, send};
use crate::model::{AccessKind, Action, Collective, CollectiveKind, WindowStep};

fn fence() -> Action {
    on_window(WindowStep::Fence { no_precede: false, no_succeed: false, others: false })
}

fn as_kind(action: Action, kind: AccessKind) -> Action {
    let Action::OneSided(mut it) = action else { return action };
    if let WindowStep::Access(access) = &mut it.step {
        access.kind = kind;
    }
    Action::OneSided(it)
}

fn count(ranks: [Vec<Action>; 2]) -> usize {
    let fenced =
        ranks.map(|steps| std::iter::once(fence()).chain(steps).chain([fence()]).collect());
    found(&c(fenced.into()), "conflicting-access").len()
}

#[test]
fn who_puts_into_the_same_bytes_is_in_conflict() {
    assert_eq!(count([vec![put(0, 0..4)], vec![put(0, 2..6)]]), 1);
    assert_eq!(count([vec![put(0, 0..4)], vec![put(0, 4..8)]]), 0);
    assert_eq!(count([vec![put(0, 0..4)], vec![put(1, 0..4)]]), 0);
    assert_eq!(count([vec![put(0, 0..4), fence()], vec![fence(), put(0, 0..4)]]), 0);
    assert_eq!(count([vec![put(0, 0..4), put(0, 0..4)], vec![]]), 1);
}

#[test]
fn who_reads_or_accumulates_may_meet_itself() {
    let get = || as_kind(put(0, 0..4), AccessKind::Get);
    let add = || as_kind(put(0, 0..4), AccessKind::Accumulate);
    assert_eq!(count([vec![get()], vec![get()]]), 0);
    assert_eq!(count([vec![add()], vec![add()]]), 0);
    assert_eq!(count([vec![get()], vec![put(0, 0..4)]]), 1);
    assert_eq!(count([vec![add()], vec![put(0, 0..4)]]), 1);
}

#[test]
fn the_target_itself_counts_as_well() {
    let range = Some(crate::model::WindowRange { start: 0, end: 4 });
    let local = |writes| on_window(WindowStep::Local { writes, range });
    assert_eq!(count([vec![local(false)], vec![put(0, 0..4)]]), 1);
    assert_eq!(count([vec![local(true)], vec![put(0, 4..8)]]), 0);
    let get = as_kind(put(0, 0..4), AccessKind::Get);
    assert_eq!(count([vec![local(false)], vec![get]]), 0);
}

#[test]
fn a_flush_puts_accesses_in_order() {
    use crate::model::Peer;
    let target = Peer::Rank(1);
    let lock = || on_window(WindowStep::Lock { target, exclusive: false });
    let flush = || on_window(WindowStep::Flush { target: Some(target), local: false });
    let count = |steps| found(&c(vec![steps, vec![]]), "conflicting-access").len();
    assert_eq!(count(vec![lock(), put(1, 0..4), put(1, 0..4)]), 1);
    assert_eq!(count(vec![lock(), put(1, 0..4), flush(), put(1, 0..4)]), 0);
}

#[test]
fn what_an_rget_has_read_before_its_wait_is_over() {
    use crate::model::{Completion, Peer};
    let lock = || on_window(WindowStep::Lock { target: Peer::Rank(1), exclusive: false });
    let requested = |kind| {
        let Action::OneSided(mut it) = as_kind(put(1, 0..4), kind) else { unreachable!() };
        if let WindowStep::Access(access) = &mut it.step {
            (access.request, access.requested) = (Some(0), true);
        }
        Action::OneSided(it)
    };
    let wait = || Action::Wait { requests: [0].into(), completion: Completion::All };
    let count = |steps| found(&c(vec![steps, vec![]]), "conflicting-access").len();
    assert_eq!(count(vec![lock(), requested(AccessKind::Get), put(1, 0..4), wait()]), 1);
    assert_eq!(count(vec![lock(), requested(AccessKind::Get), wait(), put(1, 0..4)]), 0);
    assert_eq!(count(vec![lock(), requested(AccessKind::Put), wait(), put(1, 0..4)]), 1);
}

/// Ranks 0 and 1 use rank 2's part, and rank 2 does something as well.
fn under_locks(ranks: [Vec<Action>; 3]) -> usize {
    found(&c(ranks.into()), "conflicting-access").len()
}

fn locked(exclusive: bool, step: Action) -> Vec<Action> {
    let target = crate::model::Peer::Rank(2);
    let lock = on_window(WindowStep::Lock { target, exclusive });
    vec![lock, step, on_window(WindowStep::Unlock { target })]
}

fn barrier() -> Vec<Action> {
    vec![Action::Collective(Collective::of(CollectiveKind::Barrier, 0))]
}

#[test]
fn shared_locks_keep_nobody_away() {
    let shared = |bytes| locked(false, put(2, bytes));
    assert_eq!(under_locks([shared(0..4), shared(0..4), vec![]]), 1);
    assert_eq!(under_locks([shared(0..4), shared(4..8), vec![]]), 0);
    let exclusive = || locked(true, put(2, 0..4));
    assert_eq!(under_locks([shared(0..4), exclusive(), vec![]]), 0);
    assert_eq!(under_locks([exclusive(), exclusive(), vec![]]), 0);
}

#[test]
fn a_collective_or_a_message_may_put_them_in_order() {
    let shared = || locked(false, put(2, 0..4));
    let [first, second] = [[shared(), barrier()].concat(), [barrier(), shared()].concat()];
    assert_eq!(under_locks([first.clone(), second, barrier()]), 0);
    assert_eq!(under_locks([first, [shared(), barrier()].concat(), barrier()]), 1);
    let tells = [shared(), vec![send(1, 0)]].concat();
    assert_eq!(under_locks([tells, [vec![receive(0, 0)], shared()].concat(), vec![]]), 0);
    let tells_before = [vec![send(1, 0)], shared()].concat();
    assert_eq!(under_locks([tells_before, [vec![receive(0, 0)], shared()].concat(), vec![]]), 1);
}

#[test]
fn the_target_needs_a_lock_of_its_own_part() {
    let range = Some(crate::model::WindowRange { start: 0, end: 4 });
    let store = || on_window(WindowStep::Local { writes: true, range });
    let exclusive = || locked(true, put(2, 0..4));
    assert_eq!(under_locks([exclusive(), vec![], vec![store()]]), 1);
    assert_eq!(under_locks([exclusive(), vec![], locked(false, store())]), 0);
    let later = [barrier(), vec![store()]].concat();
    assert_eq!(under_locks([[exclusive(), barrier()].concat(), barrier(), later]), 0);
}

#[test]
fn who_goes_on_by_what_it_reads_may_be_in_order() {
    let branch = vec![Action::Branch { targets: [1, 1].into() }];
    let shared = || locked(false, put(2, 0..4));
    assert_eq!(under_locks([shared(), [branch, shared()].concat(), vec![]]), 0);
}
