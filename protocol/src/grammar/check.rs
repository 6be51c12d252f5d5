//! Which worlds of a protocol are judged, and what comes of it.

use std::sync::Arc;

use super::LanguageError;
use super::evaluate::{
    Complaint, Failure, Setting, Tables, allows, constants, grids, keep_first, world,
};
use super::samples;
use super::syntax::Protocol;
use crate::engine::{Judge, Options};
use crate::finding::{Finding, Level, sizes as sizes_in_words};
use crate::model::{Place, World};

/// The largest size that is looked at unless the user names sizes.
const LARGEST: u32 = 64;

/// Where no smaller size is allowed, the smallest one is looked for up to here.
const HIGHEST: u32 = 4096;

/// All sizes up to this one are looked at, whatever that costs within reason.
const ALWAYS: u32 = 8;

/// How many statements are executed for all sizes together before no larger one is begun, and how
/// much goes into states, counted like statements. Both are chosen so that a protocol of five
/// roles and fifty operations takes less than 100 ms in a compiler whose macros are not optimised,
/// and one with many ways to go on less than a second.
const STATEMENTS: u64 = 20_000;
const BRANCHING: u64 = 100_000;

/// How many statements are executed for one size at most.
const STATEMENTS_OF_ONE_SIZE: u64 = 200_000;

/// The same where the user has named the sizes.
const STATEMENTS_OF_NAMED_SIZE: u64 = 4_000_000;

/// What to check.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// These sizes, those of them that the protocol allows; otherwise chosen by a fixed budget.
    pub sizes: Option<Vec<u32>>,
    /// Standard sends of at most this many bytes are taken to be buffered.
    pub eager_limit: u64,
}

/// What was checked of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedSize {
    /// The size.
    pub size: u32,
    /// Whether everything that can happen was looked at. Otherwise it was too much: the findings
    /// hold, but there may be more.
    pub complete: bool,
    /// The values that each parameter had, by name.
    pub parameters: Vec<(String, Vec<i64>)>,
}

/// What a check has found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What the language does not allow.
    pub errors: Vec<LanguageError>,
    /// What is wrong with the protocol. Rules that it allows itself have the level "allow".
    pub findings: Vec<Finding>,
    /// The sizes looked at, ascending.
    pub sizes: Vec<CheckedSize>,
}

impl Report {
    /// What was checked, in a sentence: "Checked for 2 to 24 ranks with steps in 0, 1, 2, 3."
    pub fn summary(&self) -> String {
        let complete: Vec<&CheckedSize> = self.sizes.iter().filter(|size| size.complete).collect();
        let Some(first) = complete.first() else {
            return "Not checked completely for any size.".to_owned();
        };
        let numbers: Vec<u32> = complete.iter().map(|size| size.size).collect();
        let mut text = format!("Checked for {}", sizes_in_words(&numbers));
        for (index, (name, values)) in first.parameters.iter().enumerate() {
            let everywhere = |value: &&i64| {
                complete.iter().all(|size| {
                    size.parameters.get(index).is_some_and(|(_, values)| values.contains(value))
                })
            };
            let values: Vec<String> =
                values.iter().filter(everywhere).map(ToString::to_string).collect();
            text += if index == 0 { " with " } else { " and " };
            text += &format!("{name} in {}", values.join(", "));
        }
        text += ".";
        let part: Vec<u32> =
            self.sizes.iter().filter(|size| !size.complete).map(|size| size.size).collect();
        if !part.is_empty() {
            text += &format!(
                " With {} too much can happen to look at all of it.",
                sizes_in_words(&part)
            );
        }
        text
    }
}

/// Evaluates a protocol size by size and has each world judged. It must come from a parse without
/// errors.
pub fn check(protocol: &Protocol, options: &CheckOptions) -> Report {
    let mut run = Run {
        protocol,
        tables: Tables::new(protocol),
        shared: constants(protocol),
        judge: Judge::new(Options { eager_limit: options.eager_limit, ..Options::default() }),
        branching: options.sizes.is_none().then_some(BRANCHING),
        samples: samples::of(protocol).into(),
        complaints: Vec::new(),
        sizes: Vec::new(),
    };
    match &options.sizes {
        Some(sizes) => run.named_sizes(sizes),
        None => run.chosen_sizes(),
    }
    run.finish()
}

/// A check that is going on.
struct Run<'p> {
    protocol: &'p Protocol,
    tables: Tables,
    /// The constants' values, by id.
    shared: Vec<i64>,
    judge: Judge,
    /// How much may still go into states; without a limit for sizes that the user has named.
    branching: Option<u64>,
    /// The values to be tried, one list for each combination.
    samples: Arc<[Vec<(String, i64)>]>,
    complaints: Vec<Complaint>,
    sizes: Vec<CheckedSize>,
}

impl Run<'_> {
    fn named_sizes(&mut self, sizes: &[u32]) {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            if self.allows(size) {
                self.size(size, &mut STATEMENTS_OF_NAMED_SIZE.clone(), false);
            }
        }
    }

    /// The small sizes, then larger ones as long as each can be looked at completely. Where no
    /// small size is allowed, the smallest that is.
    fn chosen_sizes(&mut self) {
        let mut statements = STATEMENTS;
        let mut last_branching = 0;
        for size in 1..=HIGHEST {
            let first = self.sizes.is_empty() && self.complaints.is_empty();
            if size > LARGEST && !first {
                break;
            }
            // What was too much for one size is too much for every larger one.
            let enough = self.sizes.iter().any(|checked| !checked.complete);
            let left = self.branching.unwrap_or(u64::MAX);
            if enough || left < 3 * last_branching {
                break;
            }
            if !self.allows(size) {
                continue;
            }
            if size <= ALWAYS || first {
                let mut most = STATEMENTS_OF_ONE_SIZE;
                self.size(size, &mut most, false);
                statements = statements.saturating_sub(STATEMENTS_OF_ONE_SIZE - most);
            } else if !self.complaints.is_empty() || !self.size(size, &mut statements, true) {
                break;
            }
            last_branching = left - self.branching.unwrap_or(u64::MAX);
        }
        if self.sizes.is_empty() && self.complaints.is_empty() {
            let message = format!("no number of ranks up to {HIGHEST} fits this");
            let error = LanguageError::new(self.protocol.sizes.region(), message)
                .help("write `ranks = 2..`, or another pattern that fits some number of ranks");
            self.complaints.push(Complaint { place: Place(u32::MAX), error });
        }
    }

    /// Whether the protocol is for worlds of this size. A pattern that cannot be computed is not,
    /// and says so.
    fn allows(&mut self, size: u32) -> bool {
        match allows(self.protocol, &self.shared, size) {
            Ok(allowed) => allowed && !grids(self.protocol, size).is_empty(),
            Err(fault) => {
                let complaint = Complaint { place: Place(u32::MAX), error: fault.error() };
                keep_first(&mut self.complaints, complaint);
                false
            }
        }
    }

    /// Looks at one size: every grid, every combination of parameters. With `entirely` nothing is
    /// judged unless the work left is enough for all of it; gives back whether it was.
    ///
    /// A combination of parameters for which a value cannot be computed, such as a division by a
    /// parameter that is 0, is one that the protocol is not for. If none is left, that is an error.
    fn size(&mut self, size: u32, work: &mut u64, entirely: bool) -> bool {
        let samples = Arc::clone(&self.samples);
        let mut complete = true;
        let mut used: Vec<&[(String, i64)]> = Vec::new();
        let mut pending: Vec<World> = Vec::new();
        for grid in grids(self.protocol, size) {
            let mut failed = Vec::new();
            let mut some = false;
            for parameters in samples.iter() {
                let setting = Setting { size, parameters, grid };
                match world(self.protocol, &self.tables, &setting, work) {
                    Ok(world) => {
                        some = true;
                        used.push(parameters);
                        if entirely {
                            pending.push(world);
                        } else {
                            complete &= self.judge(&world);
                        }
                    }
                    Err(Failure::Errors(complaints)) => failed.extend(complaints),
                    Err(Failure::TooLarge) if entirely => return false,
                    Err(Failure::TooLarge) => (some, complete) = (true, false),
                }
            }
            if !some {
                failed
                    .into_iter()
                    .for_each(|complaint| keep_first(&mut self.complaints, complaint));
            }
        }
        for world in pending {
            complete &= self.judge(&world);
        }
        let parameters = values_of(&used);
        self.sizes.push(CheckedSize { size, complete, parameters });
        true
    }

    /// Judges a world, following as many states as the branching left is enough for.
    fn judge(&mut self, world: &World) -> bool {
        let Some(left) = &mut self.branching else { return self.judge.judge(world) };
        let cost = cost_of_state(world);
        let before = self.judge.states();
        self.judge.limit_states(usize::try_from(*left / cost).unwrap_or(usize::MAX).max(4));
        let complete = self.judge.judge(world);
        // A world without choices has one state, or two where it hangs.
        let states = (self.judge.states() - before).saturating_sub(2);
        *left = left.saturating_sub(cost.saturating_mul(states as u64));
        complete
    }

    fn finish(self) -> Report {
        let verdict = self.judge.finish();
        let allows = |rule: &str| self.protocol.allowed.iter().any(|(allowed, _)| allowed == rule);
        let mut findings = verdict.findings;
        for finding in findings.iter_mut().filter(|finding| allows(finding.rule)) {
            finding.level = Level::Allow;
        }
        Report {
            errors: self.complaints.into_iter().map(|complaint| complaint.error).collect(),
            findings,
            sizes: self.sizes,
        }
    }
}

/// What a state with a choice costs in a world, in statements.
fn cost_of_state(world: &World) -> u64 {
    5 + 2 * u64::from(world.size()) + world.event_count() as u64 / 8
}

/// The values that each parameter had in some combinations.
fn values_of(used: &[&[(String, i64)]]) -> Vec<(String, Vec<i64>)> {
    let Some(first) = used.first() else { return Vec::new() };
    let values = first.iter().enumerate().map(|(index, (name, _))| {
        let mut values: Vec<i64> =
            used.iter().filter_map(|all| all.get(index)).map(|(_, value)| *value).collect();
        values.sort_unstable();
        values.dedup();
        (name.clone(), values)
    });
    values.collect()
}
