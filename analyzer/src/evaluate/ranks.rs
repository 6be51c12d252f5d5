//! The ranks of a world, one after the other. Those that do the same as one before are not run, in
//! this world and in those of other sizes.

use std::collections::BTreeMap;
use std::rc::Rc;

use p2p_protocol::model::{Behaviour, Peer, Place};
use rustc_hash::FxHashMap;

use super::alike;
use super::machine::{Machine, Told};
use super::shared::{Shared, Tale};
use super::world::{Report, Setting};

/// It is asked of so many ranks at most whether they do the same.
const OTHERS: usize = 64;

/// What all ranks have done.
pub(super) struct Ranks {
    /// Each of them.
    pub(super) runs: Vec<Ran>,
    /// The same in worlds of other sizes, by the size.
    pub(super) elsewhere: BTreeMap<u32, Vec<Ran>>,
}

/// One rank's run.
#[derive(Debug, PartialEq)]
pub(super) struct Ran {
    pub(super) behaviour: Behaviour,
    pub(super) returned_early: bool,
    pub(super) cuts: Vec<(Place, u64)>,
    pub(super) last_cut: Option<Place>,
    steps: u64,
}

/// The run of a rank that does the same as one that was run.
struct Same {
    run: Ran,
    as_rank: u32,
    told: Tale<Told>,
    /// What the oracle had learnt before the other one was run.
    learnt: usize,
}

/// Runs that need not be made, by size and rank.
type Alike = BTreeMap<(u32, u32), Same>;

impl Setting<'_, '_> {
    /// Runs all ranks once.
    pub(super) fn run_ranks(&self, shared: &mut Shared, report: &mut Report) -> Ranks {
        let mut alike = Alike::new();
        let mut leaders = 0;
        let mut runs = Vec::new();
        for rank in 0..self.size {
            let same = alike.remove(&(self.size, rank));
            let run = match same.filter(|same| same.learnt == shared.oracle.learnt()) {
                Some(same) => self.follow(rank, same, shared, report),
                None => {
                    leaders += 1;
                    self.lead(rank, &mut alike, shared, report)
                }
            };
            runs.push(run);
        }
        // What is not the same on all ranks here need not be so elsewhere.
        let are_known = leaders == 1 && shared.has_answered_nothing();
        let elsewhere = if are_known { complete(alike) } else { BTreeMap::new() };
        Ranks { runs, elsewhere }
    }

    /// Runs a rank, and puts down what is found out of others by that.
    fn lead(&self, rank: u32, alike: &mut Alike, shared: &mut Shared, report: &mut Report) -> Ran {
        let here = (rank + 1..self.size).map(|rank| (self.size, rank));
        let sizes = self.others.iter().filter(|_| rank == 0);
        let elsewhere = sizes.flat_map(|size| (0..*size).map(|rank| (*size, rank)));
        let others = here.filter(|it| !alike.contains_key(it)).chain(elsewhere);
        let others: Vec<(u32, u32)> = others.take(OTHERS).collect();
        let learnt = shared.oracle.learnt();
        let run = self.run(rank, others, shared, report);
        let tale = shared.take_tale();
        for follower in alike::end() {
            if let Some(run) = run.with_peers(&follower.peers) {
                let there = |number| follower.number(number);
                let told = tale.iter().map(|(key, telling)| (*key, telling.by(there))).collect();
                let same = Same { run, as_rank: rank, told, learnt };
                alike.insert((follower.size, follower.rank), same);
            }
        }
        run
    }

    /// A rank that has done the same as one before: there is nothing more to be found out.
    fn follow(&self, rank: u32, same: Same, shared: &mut Shared, report: &mut Report) -> Ran {
        let Same { run, as_rank, told, .. } = same;
        let own = cfg!(debug_assertions).then(|| {
            let (mut shared, mut report) = (shared.clone(), report.clone());
            let run = self.run(rank, Vec::new(), &mut shared, &mut report);
            (run, shared, report)
        });
        report.steps += run.steps;
        shared.tell_as(rank, told);
        if let Some((own, own_shared, mut own_report)) = own {
            // What came before has been learnt from, which spares steps; where they run out, the ends
            // of the two are not the same.
            if own.steps.max(run.steps) >= self.limits.steps {
                return run;
            }
            let own = Ran { steps: run.steps, ..own };
            own_report.steps = report.steps;
            let [own, same] = [&own, &run].map(Ran::with_memory_in_order);
            assert_eq!(own, same, "rank {rank} of {} does the same as {as_rank}", self.size);
            assert!(own_shared.is_same(shared) && own_report == *report, "there is nothing more");
        }
        run
    }

    fn run(
        &self,
        rank: u32,
        others: Vec<(u32, u32)>,
        shared: &mut Shared,
        report: &mut Report,
    ) -> Ran {
        let numbers = alike::begin((self.size, rank), others);
        let effects = self.effects.clone();
        let mut machine = Machine::new(self.program, effects, numbers, self.limits);
        machine.shared = std::mem::take(shared);
        machine.computations = Rc::clone(&self.computations);
        let returned_early = machine.run_entry(self.entry);
        report.add(Report {
            calls: machine.calls,
            spared: machine.spared,
            lost: machine.lost,
            gaps: machine.gaps,
            steps: machine.steps,
        });
        *shared = machine.shared;
        let behaviour = machine.graph.flatten();
        let (cuts, steps) = (machine.cuts, machine.steps);
        let last_cut = cuts.last().map(|(place, _)| *place);
        Ran { behaviour, returned_early, cuts, last_cut, steps }
    }
}

/// The sizes of which all ranks are there.
fn complete(alike: Alike) -> BTreeMap<u32, Vec<Ran>> {
    let mut sizes: BTreeMap<u32, Vec<Ran>> = BTreeMap::new();
    for ((size, _), same) in alike {
        sizes.entry(size).or_default().push(same.run);
    }
    sizes.retain(|size, runs| runs.len() == *size as usize);
    sizes
}

impl Ran {
    /// The same run of a rank that names others; `None` where it is not known whom.
    fn with_peers(&self, peers: &FxHashMap<i32, i32>) -> Option<Ran> {
        let mut behaviour = self.behaviour.clone();
        for event in &mut behaviour.events {
            for peer in event.action.peers_mut() {
                if let Peer::Rank(peer) = peer {
                    *peer = *peers.get(peer)?;
                }
            }
        }
        let (cuts, last_cut) = (self.cuts.clone(), self.last_cut);
        Some(Ran { behaviour, cuts, last_cut, ..*self })
    }

    /// The same run with its pieces of memory called by the order in which it names them: where a
    /// computation is known from before, fewer are made besides.
    fn with_memory_in_order(&self) -> Ran {
        let mut behaviour = self.behaviour.clone();
        let mut names = FxHashMap::default();
        for buffer in behaviour.events.iter_mut().flat_map(|event| event.action.buffers_mut()) {
            let next = names.len() as u32;
            buffer.object = *names.entry(buffer.object).or_insert(next);
        }
        let (cuts, last_cut) = (self.cuts.clone(), self.last_cut);
        Ran { behaviour, cuts, last_cut, ..*self }
    }
}
