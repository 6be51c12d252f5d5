//! All ranks of one size: evaluated in rounds until they have nothing new to tell each other, and
//! once more for each condition that may come out otherwise.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use p2p_protocol::model::{Action, Behaviour, Departure, Place, World};
use rustc_hash::{FxHashMap, FxHashSet};

use super::alike::Number;
use super::effects::Effects;
use super::handle::Handle;
use super::library::mpi::settle_tags;
use super::machine::{Flow, Machine};
use super::oracle::{Deviation, Oracle, TURNS};
use super::ranks::{Ran, Ranks};
use super::recall::Computations;
use super::shared::Shared;
use super::state::{Frame, State};
use super::steady::PATIENT;
use super::value::Value;
use super::{Evaluated, Limits, Understood};
use crate::program::{Dialect, Entry, EntryKind, Program, Type};

/// Rounds, at most.
const ROUNDS: u32 = 24;

/// Conditions that are taken the other way as well, and arms of matches that are, at most.
const DEVIATIONS: usize = 16;

/// In worlds of so many ranks or fewer loops also turn as often as something takes that is done every
/// so many turns.
const SMALL: u32 = 4;

/// After so many steps of evaluation for one size, no further condition is taken the other way.
const STEPS: u64 = 100_000;

/// Evaluates an entry for one world size. Also what comes out for others of these sizes, where that
/// is known by that.
pub(super) fn evaluate<'p>(
    program: &'p Program,
    (effects, computations): (Rc<Effects<'p>>, Rc<Computations>),
    entry: &Entry,
    (size, others): (u32, &[u32]),
    limits: Limits,
) -> (Evaluated, BTreeMap<u32, Evaluated>) {
    let mut setting = Setting { program, entry, size, others, limits, effects, computations };
    if program.dialect == Dialect::C {
        setting.limits.turns = PATIENT.min(limits.turns);
    }
    let mut report = Report::default();
    let (mut first, mut elsewhere) = setting.worlds(Oracle::default(), &mut report);
    if first.cuts_differ && setting.limits.proves && program.dialect == Dialect::C {
        // Not all ranks leave out the same turns so early.
        setting.limits.proves = false;
        report = Report::default();
        (first, elsewhere) = setting.worlds(Oracle::default(), &mut report);
    }
    if first.cuts_differ && setting.limits.turns < limits.turns {
        // Which turn is one too many only shows turn by turn.
        setting.limits.turns = limits.turns;
        report = Report::default();
        (first, elsewhere) = setting.worlds(Oracle::default(), &mut report);
    }
    let Made { world, answers, deviations, refused, has_guessed, .. } = first;
    let mut worlds = vec![(world, answers)];
    // What is asked in another world only is not told: nobody has asked it otherwise.
    let is_asked = |asked: &Place| deviations.iter().any(|one| one.place == *asked);
    let told = |made: Made| {
        // That a program refuses an answer is no condition worth telling.
        let told = made.answers.into_iter().filter(|(asked, _)| !made.refused && is_asked(asked));
        (made.world, told.collect())
    };
    let guesses = if has_guessed { other_turns(size) } else { Vec::new() };
    for &turns in &guesses {
        worlds.push(told(setting.world(Oracle::turning(turns), &mut report)));
    }
    if has_guessed && size <= SMALL {
        worlds.extend(setting.long_world(&mut report).map(told));
    }
    for &deviation in &deviations {
        if report.steps > STEPS {
            break;
        }
        for turns in [TURNS].into_iter().chain(guesses.iter().copied()) {
            let oracle = Oracle::turning(turns).deviating(deviation);
            let made = setting.world(oracle, &mut report);
            let is_last = !made.has_guessed;
            worlds.push(told(made));
            if is_last {
                break;
            }
        }
    }
    (report.evaluated(worlds, refused), elsewhere)
}

/// How often else loops may turn: what the program was made for may be one turn for each other
/// rank, or for each rank.
fn other_turns(size: u32) -> Vec<u32> {
    let mut others = vec![1, size - 1, size];
    others.retain(|turns| *turns > 0 && *turns != TURNS);
    others.dedup();
    others
}

/// What is evaluated.
pub(super) struct Setting<'p, 'e> {
    pub(super) program: &'p Program,
    pub(super) entry: &'e Entry,
    pub(super) size: u32,
    /// What sizes else are asked for.
    pub(super) others: &'e [u32],
    pub(super) limits: Limits,
    pub(super) effects: Rc<Effects<'p>>,
    pub(super) computations: Rc<Computations>,
}

/// What was found out besides.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Report {
    pub(super) calls: BTreeMap<Place, Understood>,
    pub(super) spared: BTreeSet<Place>,
    pub(super) lost: BTreeMap<Place, String>,
    pub(super) gaps: BTreeMap<Place, String>,
    /// How many steps of evaluation it took.
    pub(super) steps: u64,
}

/// One world, and what conditions were taken to be in it.
struct Made {
    world: World,
    answers: Vec<(Place, String)>,
    /// What could be answered otherwise.
    deviations: Vec<Deviation>,
    refused: bool,
    /// How often some loop turns was a guess.
    has_guessed: bool,
    /// The ranks have cut different loops short: nothing is known of those that have.
    cuts_differ: bool,
}

impl Setting<'_, '_> {
    /// A world whose loops turn so often that what is done every so many turns is done, if that takes
    /// more turns than usual and the world is small enough to be followed to its end.
    fn long_world(&self, report: &mut Report) -> Option<Made> {
        // One turn more shows what the others do meanwhile.
        let turns = super::periods::longest(self.program, &self.effects)? + 1;
        let limits = Limits { steps: STEPS / u64::from(self.size), ..self.limits };
        let (effects, computations) = (self.effects.clone(), self.computations.clone());
        let setting = Setting { limits, effects, computations, others: &[], ..*self };
        let mut found = Report::default();
        let made = setting.world(Oracle::turning(turns), &mut found);
        if !found.lost.is_empty() {
            return None;
        }
        report.add(found);
        Some(made)
    }

    /// Evaluates all ranks, in rounds.
    fn world(&self, oracle: Oracle, report: &mut Report) -> Made {
        self.worlds(oracle, report).0
    }

    /// The same, and what is known of other sizes by that.
    fn worlds(&self, oracle: Oracle, report: &mut Report) -> (Made, BTreeMap<u32, Evaluated>) {
        let mut shared = Shared::of(oracle);
        let mut round = 0;
        let (runs, elsewhere) = loop {
            let mut found = Report::default();
            // What is told may answer what was asked before.
            let required = shared.oracle.requirements();
            shared.oracle = shared.oracle.begin_again();
            let Ranks { runs, elsewhere } = self.run_ranks(&mut shared, &mut found);
            report.steps += std::mem::take(&mut found.steps);
            let is_news = shared.end_round(runs.iter().map(|run| &run.behaviour))
                || shared.oracle.requirements() != required;
            round += 1;
            if !is_news || round == ROUNDS {
                report.add(found);
                let is_first = round == 1;
                break (runs, if is_first { elsewhere } else { BTreeMap::new() });
            }
        };
        let kind = (self.program.dialect, self.limits.shows_work);
        let elsewhere = elsewhere.into_iter().map(|(size, runs)| {
            let mut report = report.clone();
            let made = made(kind, runs, shared.clone(), &mut report);
            (size, report.evaluated(vec![(made.world, made.answers)], made.refused))
        });
        let elsewhere = elsewhere.collect();
        (made(kind, runs, shared, report), elsewhere)
    }
}

/// The world of ranks that have done this, in such a program; whether it shows their work.
fn made(
    (dialect, shows_work): (Dialect, bool),
    runs: Vec<Ran>,
    shared: Shared,
    report: &mut Report,
) -> Made {
    let leaves_at_once = |run: &&Ran| run.returned_early && is_silent(&run.behaviour);
    let mut leaving = runs.iter().filter(leaves_at_once);
    let refused =
        leaving.clone().count() == runs.len() || leaving.any(|run| only_aborts(&run.behaviour));
    let (mut behaviours, cuts_differ) = same_cuts(runs);
    for place in settle_tags(&mut behaviours) {
        let why = "its tag is only given when the program runs, and may be that of other messages";
        report.calls.insert(place, Understood::Not(why.to_owned()));
    }
    let (world, oracle) = shared.world(behaviours, dialect);
    let world = World { shows_work, ..world };
    // What shows only there is not told: nothing is said to be assumed.
    let answers = if oracle.leaves_loop_out() { Vec::new() } else { oracle.answers() };
    let mut deviations = oracle.deviations();
    deviations.truncate(DEVIATIONS);
    Made { world, answers, deviations, refused, has_guessed: oracle.has_guessed, cuts_differ }
}

impl Report {
    fn evaluated(self, worlds: Vec<(World, Vec<(Place, String)>)>, refused: bool) -> Evaluated {
        Evaluated {
            worlds,
            calls: self.calls.into_iter().collect(),
            spared: self.spared.into_iter().collect(),
            lost: self.lost.into_iter().collect(),
            gaps: self.gaps.into_iter().collect(),
            refused,
        }
    }

    /// What was seen worse anywhere counts.
    pub(super) fn add(&mut self, other: Report) {
        self.steps += other.steps;
        for (place, how) in other.calls {
            let seen = self.calls.entry(place).or_insert(Understood::Fully);
            if how > *seen {
                *seen = how;
            }
        }
        self.spared.extend(other.spared);
        for (place, why) in other.lost {
            self.lost.entry(place).or_insert(why);
        }
        for (place, why) in other.gaps {
            self.gaps.entry(place).or_insert(why);
        }
    }
}

/// Where not all ranks have cut loops of as many turns short, in the same order, what they do in
/// them does not fit together: nothing is known of those that have. Also whether that is so.
fn same_cuts(runs: Vec<Ran>) -> (Vec<Behaviour>, bool) {
    let turns = |run: &Ran| run.cuts.iter().map(|(_, turns)| *turns).collect::<Vec<_>>();
    let same = runs.windows(2).all(|pair| turns(&pair[0]) == turns(&pair[1]));
    let opaque = |place| {
        let events = vec![p2p_protocol::model::Event { action: Action::Opaque, place }];
        Behaviour { events, ..Behaviour::default() }
    };
    let behaviours = runs.into_iter().map(|run| match run.last_cut {
        Some(place) if !same => opaque(place),
        _ => run.behaviour,
    });
    (behaviours.collect(), !same)
}

/// Whether a rank ends the job for all, whichever way it goes.
fn only_aborts(behaviour: &Behaviour) -> bool {
    let mut leaves = behaviour.events.iter().filter_map(|event| match event.action {
        Action::Leave { departure } => Some(departure),
        _ => None,
    });
    leaves.clone().count() > 0 && leaves.all(|departure| departure == Departure::Aborted)
}

/// Whether a rank does nothing that another one could see but leave.
fn is_silent(behaviour: &Behaviour) -> bool {
    behaviour.events.iter().all(|event| {
        matches!(
            event.action,
            Action::Leave { .. }
                | Action::Jump { .. }
                | Action::Branch { .. }
                | Action::Initialize
                | Action::Finalize
                | Action::Compute { .. }
        )
    })
}

impl<'p> Machine<'p> {
    /// A rank that has not begun.
    pub(super) fn new(
        program: &'p Program,
        effects: Rc<Effects<'p>>,
        (rank, size): (Number, Number),
        limits: Limits,
    ) -> Self {
        Machine {
            program,
            rank,
            size,
            state: State { frames: vec![Rc::new(Frame::default())], ..State::default() },
            graph: super::graph::Graph::default(),
            detached: Vec::new(),
            turns: Vec::new(),
            begun: Vec::new(),
            watch: super::guesses::Watch::default(),
            guesses: FxHashMap::default(),
            quiet: false,
            effects,
            shared: Shared::default(),
            comparisons: FxHashMap::default(),
            unions: FxHashMap::default(),
            limits,
            steps: 0,
            budget: limits.steps,
            made: 0,
            asked: Cell::new(0),
            any_elements: RefCell::default(),
            pointees: RefCell::default(),
            truths: FxHashSet::default(),
            products: FxHashMap::default(),
            costs: FxHashMap::default(),
            index: None,
            ranges: FxHashMap::default(),
            quiet_since: None,
            computations: Rc::default(),
            calls: BTreeMap::new(),
            spared: BTreeSet::new(),
            lost: BTreeMap::new(),
            gaps: BTreeMap::new(),
            cuts: Vec::new(),
            joined_badly: false,
        }
    }

    /// Runs an entry from start to end; whether the rank left before the end.
    pub(super) fn run_entry(&mut self, entry: &Entry) -> bool {
        let program = self.program;
        let function = program.function(entry.function);
        let Some(body) = &function.body else { return false };
        self.state.mpi.in_main = entry.kind == EntryKind::Main;
        if self.is_c() && self.initialize_globals().is_err() {
            return true;
        }
        let arguments = match self.is_c() {
            true => self.handed_over(entry),
            false => self.entry_arguments(entry),
        };
        let bindings = self.bindings(function, &[], &arguments, &Type::Unknown);
        self.enter(Frame { function: Some(entry.function), bindings, ..Frame::default() });
        let scope = self.open_scope();
        let patterns = function.parameters.iter().map(|parameter| &parameter.pattern);
        let bound = self.bind_parameters(patterns, arguments, function.place);
        let outcome = bound.and_then(|()| self.evaluate(body));
        if !matches!(outcome, Err(Flow::Gone)) && !self.state.threads.is_empty() {
            self.lost(body.place, "another thread communicates");
        }
        let outcome = self.close_scope(scope, outcome, body.place);
        if self.limits.shows_work && outcome.is_ok() {
            self.tell_work(None);
        }
        let returned_early = outcome.is_err();
        if let Err(Flow::Panic(place)) = outcome {
            self.graph.push(Action::Leave { departure: Departure::Panicked }, place);
        }
        for way in std::mem::take(&mut self.detached) {
            if !way.state.threads.is_empty() {
                self.graph.cursor = way.cursor;
                self.lost(body.place, "another thread communicates");
            } else if let Flow::Panic(place) = way.flow {
                self.graph.cursor = way.cursor;
                self.graph.push(Action::Leave { departure: Departure::Panicked }, place);
            }
        }
        returned_early
    }

    /// What a function is called with where a run starts at it: the world for a communicator, and
    /// what is the same on every rank for numbers.
    fn entry_arguments(&mut self, entry: &Entry) -> Vec<Value> {
        let program = self.program;
        let function = program.function(entry.function);
        let has_communicator = function.parameters.iter().any(|it| is_communicator(&it.ty));
        let mut arguments = Vec::new();
        for (number, parameter) in function.parameters.iter().enumerate() {
            let is_world = is_communicator(&parameter.ty)
                || !has_communicator
                    && matches!(parameter.ty.behind_references(), Type::Parameter(_));
            let value = if is_world {
                Value::Handle(Handle::Communicator(self.world()))
            } else {
                let ty = parameter.ty.behind_references();
                let name = function.name_of(parameter);
                let given = entry.given.iter().find(|(known, _)| name == Some(known));
                match (ty, given) {
                    (Type::Scalar(scalar), Some((_, number))) => {
                        Value::integer(i128::from(*number), *scalar)
                    }
                    (Type::Scalar(_), None) => {
                        self.uniform(&format!("argument {number}"), ty.clone())
                    }
                    _ => self.fresh(ty.clone()),
                }
            };
            arguments.push(match parameter.ty {
                Type::Reference(_) => Value::Reference(self.allocate(value)),
                _ => value,
            });
        }
        arguments
    }
}

/// Whether a parameter's type is that of a communicator.
fn is_communicator(ty: &Type) -> bool {
    const TYPES: [&str; 4] =
        ["SimpleCommunicator", "SystemCommunicator", "UserCommunicator", "Communicator"];
    match ty.behind_references() {
        Type::External(name, _) => TYPES.contains(&&**name),
        Type::Trait(names) => names.iter().any(|name| name.starts_with("Communicator")),
        _ => false,
    }
}
