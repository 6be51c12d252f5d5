//! What each rank of a world is known to do once nobody can move, for the report.

use super::shared::Shared;
use crate::error::Report;
use crate::transport::report::{self, Doing, Known, Stuck};

/// Who waits for whom; `None` if nobody waits. Called when nothing changes any more.
pub(super) fn report(shared: &Shared) -> Option<Report> {
    let ranks: Vec<Known> = (0..shared.size).map(|rank| known(shared, rank)).collect();
    report::report(&ranks)
}

fn known(shared: &Shared, rank: usize) -> Known {
    let sleeper = &shared.sleepers[rank];
    let doing = match sleeper.waiting() {
        Some(waiting) => Doing::Waits(Stuck::new(&waiting)),
        None if shared.has_ended(rank) => Doing::Ended,
        None => Doing::Runs,
    };
    Known { doing, entered: sleeper.entered().clone() }
}
