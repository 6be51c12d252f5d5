//! Which worlds of a protocol are judged, and what comes of it.

use std::sync::Arc;

use super::evaluate::{
    Begun, Complaint, Failure, Setting, Tables, allows, constants, grids, keep_first, unfulfilled,
    world,
};
use super::samples::{self, Sample};
use super::syntax::{Name, Protocol};
use super::{LanguageError, beginning};
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

/// How much of it goes into one large value of a parameter, or twice what a small one takes.
const STATEMENTS_OF_LARGE_SAMPLE: u64 = 20_000;

/// How many rounds of a loop are looked at where all of them are too many: as many of these as
/// can be.
const ROUNDS: [u64; 3] = [64, 8, 1];

/// What to check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// These sizes, those of them that the protocol allows; otherwise chosen by a fixed budget.
    pub sizes: Option<Vec<u32>>,
    /// Standard sends of at most this many bytes are taken to be buffered.
    pub eager_limit: u64,
    /// How many statements are executed for one size at most.
    pub statements: u64,
}

impl Default for CheckOptions {
    /// As much as a compiler has time for.
    fn default() -> Self {
        CheckOptions { sizes: None, eager_limit: 0, statements: 200_000 }
    }
}

/// How much of a size was looked at, from all to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// Everything that can happen.
    Complete,
    /// Not every choice, since there are too many: the findings hold, but there may be more.
    Choices,
    /// Only the first rounds of loops that are too long.
    Beginning,
    /// Not even that.
    Nothing,
}

/// What was checked of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedSize {
    /// The size.
    pub size: u32,
    /// How much of it.
    pub coverage: Coverage,
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
    /// What is too long to be looked at to its end, where something of it was.
    pub unfinished: Option<LanguageError>,
}

impl CheckedSize {
    /// Whether everything that can happen was looked at.
    pub fn is_complete(&self) -> bool {
        self.coverage == Coverage::Complete
    }
}

impl Report {
    /// What was checked, in a sentence: "Checked for 2 to 24 ranks with steps in 0, 1, 2, 3."
    pub fn summary(&self) -> String {
        let complete: Vec<&CheckedSize> =
            self.sizes.iter().filter(|size| size.is_complete()).collect();
        let Some(first) = complete.first() else {
            return format!("Not checked completely for any size.{}", self.in_part());
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
        text + "." + &self.in_part()
    }

    /// The sizes that were not looked at completely, in sentences.
    fn in_part(&self) -> String {
        let mut text = String::new();
        for (coverage, what) in [
            (Coverage::Choices, "too much can happen to look at all of it"),
            (Coverage::Beginning, "only the first rounds of long loops were looked at"),
            (Coverage::Nothing, "nothing was looked at, since the roles are too long"),
        ] {
            let sizes = self.sizes.iter().filter(|checked| checked.coverage == coverage);
            let sizes: Vec<u32> = sizes.map(|checked| checked.size).collect();
            if !sizes.is_empty() {
                text += &format!(" With {} {what}.", sizes_in_words(&sizes));
            }
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
        options,
        branching: options.sizes.is_none().then_some(BRANCHING),
        samples: samples::of(protocol).into(),
        complaints: Vec::new(),
        sizes: Vec::new(),
        too_large: Vec::new(),
        longest: None,
        beginnings: Vec::new(),
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
    options: &'p CheckOptions,
    tables: Tables,
    /// The constants' values, by id.
    shared: Vec<i64>,
    judge: Judge,
    /// How much may still go into states; without a limit for sizes that the user has named.
    branching: Option<u64>,
    /// The values to be tried, one list for each combination.
    samples: Arc<[Sample]>,
    complaints: Vec<Complaint>,
    sizes: Vec<CheckedSize>,
    /// The samples, by their index, with large values that are too much.
    too_large: Vec<usize>,
    /// The loop because of which some world could not be made.
    longest: Option<Place>,
    /// What is certain of worlds of which only the beginning was run.
    beginnings: Vec<Finding>,
}

impl Run<'_> {
    fn named_sizes(&mut self, sizes: &[u32]) {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            if self.allows(size) {
                self.size(size, &mut self.options.statements.clone(), false);
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
            let enough = self.sizes.iter().any(|checked| !checked.is_complete());
            let left = self.branching.unwrap_or(u64::MAX);
            if enough || left < 3 * last_branching {
                break;
            }
            if !self.allows(size) {
                continue;
            }
            if size <= ALWAYS || first {
                let mut most = self.options.statements;
                self.size(size, &mut most, false);
                statements = statements.saturating_sub(self.options.statements - most);
                // Nobody has asked for a larger one than can be looked at.
                let unfinished = |last: &mut CheckedSize| last.coverage >= Coverage::Beginning;
                if self.sizes.len() > 1 && self.sizes.pop_if(unfinished).is_some() {
                    break;
                }
            } else if !self.complaints.is_empty() || !self.size(size, &mut statements, true) {
                break;
            }
            last_branching = left - self.branching.unwrap_or(u64::MAX);
        }
        if self.sizes.is_empty() && self.complaints.is_empty() {
            let error = self.no_size();
            self.complaints.push(Complaint { place: Place(u32::MAX), error });
        }
    }

    /// Says why no size was looked at.
    fn no_size(&mut self) -> LanguageError {
        if let [first, ..] = &self.protocol.requirements[..]
            && (1..=HIGHEST).any(|size| self.allows(size))
        {
            let message = "no values of the parameters that were tried fulfil this";
            return LanguageError::new(first.condition.region(), message)
                .help("small values are tried, and those around the constants compared with");
        }
        let message = format!("no number of ranks up to {HIGHEST} fits this");
        LanguageError::new(self.protocol.sizes.region(), message)
            .help("write `ranks = 2..`, or another pattern that fits some number of ranks")
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
    /// One that the protocol does not allow is passed over, and so is a size for which it allows none.
    fn size(&mut self, size: u32, work: &mut u64, entirely: bool) -> bool {
        let samples = Arc::clone(&self.samples);
        let mut coverage = Coverage::Complete;
        let mut begun = false;
        let mut large_most = STATEMENTS_OF_LARGE_SAMPLE;
        let mut used: Vec<&[(String, i64)]> = Vec::new();
        let mut pending: Vec<World> = Vec::new();
        for grid in grids(self.protocol, size) {
            let mut failed = Vec::new();
            let mut some = false;
            for (index, sample) in samples.iter().enumerate() {
                if self.too_large.contains(&index) {
                    continue;
                }
                let setting = Setting { size, parameters: &sample.values, grid, rounds: None };
                if unfulfilled(self.protocol, &setting).is_some() {
                    continue;
                }
                begun = true;
                let before = *work;
                let most = if sample.large { large_most } else { u64::MAX };
                match self.made(&setting, work, most) {
                    Ok(Begun { world, .. }) => {
                        some = true;
                        used.push(&sample.values);
                        large_most = large_most.max(2 * (before - *work));
                        if entirely {
                            pending.push(world);
                        } else if !self.judge(&world) {
                            coverage = coverage.max(Coverage::Choices);
                        }
                    }
                    Err(Failure::Errors(complaints)) => failed.extend(complaints),
                    Err(Failure::TooLarge(_)) if sample.large && coverage < Coverage::Beginning => {
                        self.too_large.push(index);
                    }
                    Err(Failure::TooLarge(_)) if entirely => return false,
                    Err(Failure::TooLarge(longest)) => {
                        some = true;
                        self.longest = self.longest.or(longest);
                        coverage = coverage.max(self.beginning(setting));
                    }
                }
            }
            if !some {
                failed
                    .into_iter()
                    .for_each(|complaint| keep_first(&mut self.complaints, complaint));
            }
        }
        for world in pending {
            if !self.judge(&world) {
                coverage = coverage.max(Coverage::Choices);
            }
        }
        let parameters = values_of(&used);
        if begun {
            self.sizes.push(CheckedSize { size, coverage, parameters });
        }
        true
    }

    /// Makes a world with at most so much of the work. A large value of a parameter gets only a
    /// part: it is tried where it costs little, and loops up to it say nothing that smaller values
    /// do not.
    fn made(&self, setting: &Setting<'_>, work: &mut u64, most: u64) -> Result<Begun, Failure> {
        let given = most.min(*work);
        let mut left = given;
        let made = world(self.protocol, &self.tables, setting, &mut left);
        if made.is_ok() || given == *work {
            *work -= given - left;
        }
        made
    }

    /// Runs the first rounds of loops that are too long, and keeps what is certain all the same.
    fn beginning(&mut self, setting: Setting<'_>) -> Coverage {
        for rounds in ROUNDS {
            let setting = Setting { rounds: Some(rounds), ..setting };
            let mut work = self.options.statements;
            match world(self.protocol, &self.tables, &setting, &mut work) {
                Ok(Begun { world, cut }) => {
                    let eager_limit = self.options.eager_limit;
                    let options = Options { eager_limit, ..Options::default() };
                    let mut judge = Judge::new(options);
                    follow(&mut judge, &world, &mut self.branching);
                    self.beginnings.extend(beginning::certain(judge.finish().findings, &cut));
                    return Coverage::Beginning;
                }
                Err(Failure::Errors(complaints)) => {
                    let complaints = complaints.into_iter();
                    complaints.for_each(|complaint| keep_first(&mut self.complaints, complaint));
                    return Coverage::Nothing;
                }
                Err(Failure::TooLarge(_)) => {}
            }
        }
        Coverage::Nothing
    }

    /// Judges a world. Gives back whether everything that can happen in it was followed.
    fn judge(&mut self, world: &World) -> bool {
        follow(&mut self.judge, world, &mut self.branching)
    }

    fn finish(mut self) -> Report {
        let nothing = self.sizes.iter().all(|checked| checked.coverage == Coverage::Nothing);
        let mut unfinished = self.unfinished();
        if let Some(error) = unfinished.take_if(|_| nothing) {
            self.complaints.push(Complaint { place: Place(u32::MAX), error });
        }
        let mut findings = self.judge.finish().findings;
        if self.longest.is_some() {
            // A role that nobody plays in what was looked at may be played in the rest.
            findings.retain(|finding| finding.rule != "protocol-unused-role");
        }
        for finding in self.beginnings {
            add(&mut findings, finding);
        }
        for finding in findings.iter_mut().filter(|it| it.rule == "peer-out-of-range") {
            if let Some(parameter) = parameter_at(self.protocol, finding.primary.place) {
                finding.help = vec![format!(
                    "say what the parameter must be: `#[p2p_protocol(.., require({parameter} < size))]`"
                )];
            }
        }
        let allows = |rule: &str| self.protocol.allowed.iter().any(|(allowed, _)| allowed == rule);
        for finding in findings.iter_mut().filter(|finding| allows(finding.rule)) {
            finding.level = Level::Allow;
        }
        Report {
            errors: self.complaints.into_iter().map(|complaint| complaint.error).collect(),
            findings,
            sizes: self.sizes,
            unfinished,
        }
    }

    /// Says which sizes were not looked at to the end, and because of which loop.
    fn unfinished(&self) -> Option<LanguageError> {
        let worst = self.sizes.iter().map(|checked| checked.coverage).max()?;
        let what = match worst {
            Coverage::Beginning => "only the first rounds of long loops were checked",
            Coverage::Nothing => "nothing was checked",
            _ => return None,
        };
        let long = self.sizes.iter().filter(|checked| checked.coverage == worst);
        let long: Vec<u32> = long.map(|checked| checked.size).collect();
        let region = match self.longest {
            Some(place) => self.protocol.region(place),
            None => self.protocol.name.span().into(),
        };
        let message = format!(
            "{what} with {}: the roles take more than {} steps{}",
            sizes_in_words(&long),
            self.options.statements,
            if self.samples.len() > 1 { ", for all values of the parameters together" } else { "" }
        );
        let help = "make the number of rounds a parameter of the role, as in \
                    `fn worker(rounds: usize)`: it is checked with small values then";
        Some(LanguageError::new(region, message).help(help))
    }
}

/// A parameter that the statement at this place says a rank with.
fn parameter_at(protocol: &Protocol, place: Place) -> Option<&Name> {
    let statement = protocol.roles.iter().find_map(|role| role.body.statement_at(place))?;
    let is = |name: &Name| protocol.parameters.iter().any(|other| other.name.id == name.id);
    let mut found = None;
    for expression in statement.kind.expressions() {
        expression.visit(&mut |name| found = found.or(Some(name).filter(|name| is(name))));
    }
    found
}

/// Adds a finding, or its sizes to the same one.
fn add(findings: &mut Vec<Finding>, finding: Finding) {
    let ends = |finding: &Finding| {
        (finding.rule, finding.primary.place, finding.secondary.first().map(|label| label.place))
    };
    match findings.iter_mut().find(|known| ends(known) == ends(&finding)) {
        Some(known) => {
            known.sizes.extend(finding.sizes);
            known.sizes.sort_unstable();
            known.sizes.dedup();
        }
        None => findings.push(finding),
    }
}

/// Judges a world, following as many states as the branching left is enough for.
fn follow(judge: &mut Judge, world: &World, branching: &mut Option<u64>) -> bool {
    let Some(left) = branching else { return judge.judge(world) };
    let cost = cost_of_state(world);
    let before = judge.states();
    judge.limit_states(usize::try_from(*left / cost).unwrap_or(usize::MAX).max(4));
    let complete = judge.judge(world);
    // A world without choices has one state, or two where it hangs.
    let states = (judge.states() - before).saturating_sub(2);
    *left = left.saturating_sub(cost.saturating_mul(states as u64));
    complete
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
