//! Runs programs on paper: every entry of every program is evaluated for each size and judged.
//!
//! What is wrong is decided in `p2p_protocol`; here it is only put together, so that what several
//! programs show is said once.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use p2p_protocol::engine::{Judge, Options};
use p2p_protocol::finding::{Certainty, Finding};
use p2p_protocol::model::Action;
use p2p_protocol::rules::Conformance;
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};
use rustc_hash::FxHashMap;

use crate::coverage::{Call, Calls, Shown};
use crate::diagnostic::Failure;
use crate::evaluate::{Communicating, Evaluated, Evaluator, Limits};
use crate::program::{Dialect, Entry, EntryKind, Program};
use crate::read::rust::{Expected, Played, TargetProgram};
use crate::source::{FileId, Location};

/// The sizes that are looked at unless the user names some.
const SIZES: std::ops::RangeInclusive<u32> = 2..=8;

/// How to run programs.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The sizes.
    pub sizes: Vec<u32>,
    /// Standard sends of at most this many bytes are taken to be buffered.
    pub eager_limit: u64,
    /// Whether it is looked at where ranks compute between their steps.
    pub shows_work: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Examined {
    /// What was found, with where its places are; the first place is the program itself.
    pub findings: Vec<(Finding, Arc<[Location]>)>,
    /// Every call that communicates.
    pub calls: Vec<Call>,
    /// How many programs communicate.
    pub programs: usize,
    /// The files of those that only make things, and send nothing.
    pub without_calls: BTreeSet<FileId>,
    /// The sizes that were run.
    pub sizes: BTreeSet<u32>,
    /// Not every program was run with each of them.
    pub sizes_differ: bool,
    /// The sizes that a program refuses itself, by what it is called.
    pub refused: BTreeMap<String, BTreeSet<u32>>,
    /// The sizes of which not every course was followed.
    pub incomplete: BTreeMap<String, BTreeSet<u32>>,
    /// What went wrong with the check itself.
    pub failures: Vec<(FileId, Failure)>,
}

impl Examination {
    /// With these sizes, or those that are looked at by default.
    pub fn new(sizes: Option<&[u32]>, eager_limit: u64) -> Self {
        let sizes = sizes.map_or_else(|| SIZES.collect(), <[u32]>::to_vec);
        Examination { sizes, eager_limit, shows_work: false }
    }

    /// Runs each entry of a program.
    pub fn run(&self, target: &TargetProgram) -> Vec<Run> {
        let communicating = Arc::new(Communicating::of(&target.program));
        let entries = (0..target.program.entries.len()).into_par_iter();
        entries.map(|number| self.run_entry(target, number, &communicating)).collect()
    }

    /// Runs one entry. A defect of ours in it does not keep the others from being reported.
    fn run_entry<'p>(
        &self,
        target: &'p TargetProgram,
        number: usize,
        communicating: &Arc<Communicating<'p>>,
    ) -> Run {
        let program = &target.program;
        let entry = &program.entries[number];
        let evaluator = || Evaluator::new(program, Arc::clone(communicating));
        let run = || match &entry.kind {
            EntryKind::Role(..) => {
                let mut played = target.played.iter().filter(|played| played.entry == number);
                played.next().map(|played| compare(&evaluator(), program, entry, played))
            }
            _ => Some(self.run_sizes(evaluator, entry, program.dialect)),
        };
        let run = || run().unwrap_or_default();
        catch_unwind(AssertUnwindSafe(run)).unwrap_or(Run { failed: true, ..Run::default() })
    }

    /// The worlds of an entry for each size, several at a time; only the first one of an entry that
    /// does not communicate.
    fn evaluated<'p>(
        &self,
        evaluator: impl Fn() -> Evaluator<'p> + Sync + Send,
        entry: &Entry,
    ) -> Vec<Evaluated> {
        let limits = Limits { shows_work: self.shows_work, ..Limits::default() };
        let evaluate = |evaluator: &mut Evaluator<'_>, &size: &u32| {
            (size, evaluator.evaluate(entry, size, limits))
        };
        let Some((&first, others)) = self.sizes.split_first() else { return Vec::new() };
        let own = evaluator();
        let evaluated = own.evaluate(entry, first, limits);
        let Some((&second, others)) = others.split_first() else { return vec![evaluated] };
        if is_silent(&evaluated) {
            return vec![evaluated];
        }
        let mut all = BTreeMap::from([(first, evaluated)]);
        // With two ranks, the one before is the one after: another size says more of all others.
        let (evaluated, alike) = own.evaluate_as_well(entry, second, others, limits);
        all.insert(second, evaluated);
        let left: Vec<u32> = others.iter().copied().filter(|it| !alike.contains_key(it)).collect();
        all.extend(alike);
        let left = left.par_iter().with_min_len(2).map_init(evaluator, evaluate);
        all.extend(left.collect::<Vec<(u32, Evaluated)>>());
        self.sizes.iter().filter_map(|size| all.remove(size)).collect()
    }

    fn run_sizes<'p>(
        &self,
        evaluator: impl Fn() -> Evaluator<'p> + Sync + Send,
        entry: &Entry,
        dialect: Dialect,
    ) -> Run {
        let options = Options { eager_limit: self.eager_limit, ..Options::default() };
        let mut judge = Judge::new(options);
        let mut run = Run::default();
        for (&size, evaluated) in self.sizes.iter().zip(self.evaluated(evaluator, entry)) {
            run.show(&evaluated);
            if is_silent(&evaluated) {
                break;
            } else if evaluated.refused {
                run.refused.insert(size);
            } else if !evaluated.calls.is_empty() || keeps_something(&evaluated) {
                run.sizes.insert(size);
                if !judge.judge_size(&evaluated.worlds) {
                    run.incomplete.insert(size);
                }
            }
        }
        run.findings = judge.finish().findings;
        if entry.kind == EntryKind::Public {
            if run.findings.iter().any(Finding::is_about_a_missing_partner) {
                run.findings.clear();
            }
            // In C a function hands out what it makes through pointers, which is seen by nobody here.
            if dialect == Dialect::C {
                run.findings.retain(|finding| !finding.may_lie_with_callers());
            }
        }
        run
    }
}

/// Whether an entry does not communicate: with one size it hardly does if it does not with another,
/// unless it was only not followed to where it does.
fn is_silent(evaluated: &Evaluated) -> bool {
    evaluated.calls.is_empty()
        && !evaluated.refused
        && evaluated.lost.is_empty()
        && !keeps_something(evaluated)
}

/// Whether something is made in a run that has to be given back, or is done out of its time or left
/// undone: there is something to judge in it though nothing is sent.
fn keeps_something(evaluated: &Evaluated) -> bool {
    let mut behaviours = evaluated.worlds.iter().flat_map(|(world, _)| &world.behaviours);
    behaviours.any(|behaviour| {
        let mut is_open = false;
        let keeps = behaviour.events.iter().any(|event| {
            match event.action {
                Action::Initialize => is_open = true,
                Action::Finalize => is_open = false,
                Action::Create { .. } | Action::Outside { .. } | Action::Argument { .. } => {
                    return true;
                }
                _ => {}
            }
            false
        });
        keeps || is_open
    })
}

/// Compares what a function does with the role that it says it plays.
fn compare(evaluator: &Evaluator<'_>, program: &Program, entry: &Entry, played: &Played) -> Run {
    let mut judge = Judge::new(Options::default());
    let mut run = Run::default();
    let declared = program.function(entry.function).place;
    if let Some(missing) = played.missing.first() {
        let why = format!("its role has the parameter `{missing}`, which the function has not");
        run.shown.lost.push((declared, why));
        return run;
    }
    for Expected { world: expected, parameters } in &played.expected {
        let size = expected.size();
        let entry = Entry { given: parameters.clone(), ..entry.clone() };
        let evaluated = evaluator.evaluate(&entry, size, Limits::default());
        run.show(&evaluated);
        // Where what it does depends on what nobody knows, there is no one way to be compared.
        if let [(actual, _)] = evaluated.worlds.as_slice() {
            run.sizes.insert(size);
            judge.compare(&Conformance { expected, actual, role: played.role, declared });
        }
    }
    run.findings = judge.finish().findings;
    run
}

/// What came of one entry.
#[derive(Debug, Default)]
pub struct Run {
    findings: Vec<Finding>,
    shown: Shown,
    sizes: BTreeSet<u32>,
    refused: BTreeSet<u32>,
    incomplete: BTreeSet<u32>,
    failed: bool,
}

impl Run {
    fn show(&mut self, evaluated: &Evaluated) {
        self.shown.calls.extend_from_slice(&evaluated.calls);
        self.shown.lost.extend_from_slice(&evaluated.lost);
        self.shown.spared.extend_from_slice(&evaluated.spared);
    }
}

impl Examined {
    /// What came of these programs: for each of them, of each entry. `name`: what a file is called in
    /// reports; `place`: what a place is.
    pub fn of(
        programs: &[TargetProgram],
        runs: Vec<Vec<Run>>,
        name: impl Fn(FileId) -> String,
        place: impl Fn(&Location) -> String,
    ) -> Examined {
        let mut examined = Examined::default();
        let mut calls = Calls::default();
        let mut found = Found::default();
        for (target, runs) in programs.iter().zip(runs) {
            let program = &target.program;
            let places: Arc<[Location]> =
                std::iter::once(Location { file: target.root, bytes: 0..0 })
                    .chain(program.places.iter().cloned())
                    .collect();
            let shown: Vec<(&Entry, &Shown)> =
                program.entries.iter().zip(runs.iter().map(|run| &run.shown)).collect();
            calls.add(program, &shown);
            let (mut communicates, mut makes) = (false, false);
            for (run, entry) in runs.into_iter().zip(&program.entries) {
                communicates |= !run.shown.calls.is_empty();
                makes |= !run.sizes.is_empty();
                let title = format!("`{}` in {}", entry.name, name(target.root));
                examined.add_run(&run, title, target.root);
                run.findings.into_iter().for_each(|finding| found.add(finding, &places));
            }
            examined.programs += usize::from(communicates || makes);
            if makes && !communicates {
                examined.without_calls.insert(target.root);
            }
        }
        examined.findings = found.list;
        examined.calls = calls.list(place);
        examined
    }

    fn add_run(&mut self, run: &Run, title: String, root: FileId) {
        if run.failed {
            let message = format!("{title} could not be judged: p2p-check failed");
            let help = Some("this is a defect of p2p-check, not of the program: please report it");
            self.failures.push((root, Failure::new(message).help(help)));
        }
        self.sizes_differ |=
            !self.sizes.is_empty() && !run.sizes.is_empty() && self.sizes != run.sizes;
        self.sizes.extend(&run.sizes);
        if !run.incomplete.is_empty() {
            self.incomplete.insert(title.clone(), run.incomplete.clone());
        }
        if !run.refused.is_empty() {
            self.refused.insert(title, run.refused.clone());
        }
    }
}

/// Findings, each once.
#[derive(Default)]
struct Found {
    list: Vec<(Finding, Arc<[Location]>)>,
    known: FxHashMap<(&'static str, FileId, usize, usize), usize>,
}

impl Found {
    fn add(&mut self, finding: Finding, places: &Arc<[Location]>) {
        let at = places.get(finding.primary.place.0 as usize + 1).unwrap_or(&places[0]);
        let key = (finding.rule, at.file, at.bytes.start, at.bytes.end);
        let Some(&known) = self.known.get(&key) else {
            self.known.insert(key, self.list.len());
            self.list.push((finding, Arc::clone(places)));
            return;
        };
        let (kept, kept_places) = &mut self.list[known];
        let mut sizes = std::mem::take(&mut kept.sizes);
        sizes.extend(&finding.sizes);
        sizes.sort_unstable();
        sizes.dedup();
        // What happens in any case says more than what happens under an assumption.
        if kept.certainty != Certainty::Certain && finding.certainty == Certainty::Certain {
            *kept = finding;
            *kept_places = Arc::clone(places);
        }
        kept.sizes = sizes;
    }
}
