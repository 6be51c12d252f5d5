//! Conditions: `if`, `match`, and who decides what nobody knows.

use std::cell::RefCell;

use p2p_protocol::model::SourceId;

use super::alike::Elsewhere;
use super::branches::Arm;
use super::effects::{Effect, only_fails};
use super::facts::Comparison;
use super::graph::Next;
use super::machine::{Machine, Outcome};
use super::oracle::{Arm as ArmNumber, Manner};
use super::patterns::{Matched, Subject};
use super::places::Target;
use super::value::{Content, Unknown, Value};
use crate::program::{Arm as MatchArm, Binary, Condition, Expression, Pattern, Place};

/// So often the same is answered at one place.
const PATIENCE: u32 = 64;

/// What is known of the two ways on from a condition.
#[derive(Clone, Debug)]
pub(super) struct Choice<'e> {
    pub(super) place: Place,
    /// What can be done if it holds.
    pub(super) then: Effect,
    /// What can be done if it does not.
    pub(super) otherwise: Effect,
    /// If it holds, the rank only fails.
    pub(super) then_fails: bool,
    /// If it does not, the rank only fails.
    pub(super) otherwise_fails: bool,
    /// Whether it decides if a loop has another turn.
    pub(super) at_head: bool,
    /// The arm of a match that is taken if it holds.
    pub(super) arm: Option<ArmNumber>,
    /// What is asked.
    pub(super) asked: Asked<'e>,
}

/// What is asked, to be told in words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'e> {
    /// Something that has no words.
    Nothing,
    /// A condition.
    Condition(&'e Condition),
    /// Whether a value matches.
    Matches(&'e Expression, &'e Pattern),
    /// Whether there is another element.
    More(&'e Expression),
}

impl<'e> Choice<'e> {
    /// One way does something, the other one nothing.
    pub(super) fn between(place: Place, effect: Effect) -> Self {
        Choice {
            place,
            then: effect,
            otherwise: effect,
            then_fails: false,
            otherwise_fails: false,
            at_head: false,
            arm: None,
            asked: Asked::Nothing,
        }
    }

    /// `let .. else`
    pub(super) fn or_else(place: Place, effect: Effect, otherwise: &'e Expression) -> Self {
        let fails = only_fails(otherwise);
        Choice { then: Effect::default(), otherwise_fails: fails, ..Choice::between(place, effect) }
    }
}

/// What is done on one of two ways.
pub(super) type Then<'a, 'p> = &'a dyn Fn(&mut Machine<'p>) -> Outcome;

impl<'p> Machine<'p> {
    /// Goes on by a condition that nobody knows.
    pub(super) fn choose(
        &mut self,
        condition: Unknown,
        choice: &Choice<'_>,
        then: Then<'_, 'p>,
        otherwise: Then<'_, 'p>,
    ) -> Outcome {
        let matters = |effect: Effect| effect.communicates || effect.leaves;
        let asks = condition.uniform && !self.quiet;
        let leads_on = choice.at_head || choice.then.leaves || choice.otherwise.leaves;
        if asks && leads_on {
            self.turn_is_guess();
        }
        let is_own = asks && self.shared.oracle.is_own(condition, choice.place, self.rank());
        if let Some(holds) = self.fact(condition) {
            if holds && asks {
                self.take_without_asking(choice);
            }
            return if holds { then(self) } else { otherwise(self) };
        }
        if choice.then_fails != choice.otherwise_fails {
            // Errors in the data are not what is looked for.
            self.assume(condition, choice.otherwise_fails);
            if asks && choice.otherwise_fails {
                self.take_without_asking(choice);
            }
            return if choice.then_fails { otherwise(self) } else { then(self) };
        }
        if asks && (matters(choice.then) || matters(choice.otherwise)) && !is_own {
            let holds = self.decide_alike(condition, choice)?;
            return if holds { then(self) } else { otherwise(self) };
        }
        if (matters(choice.then) || matters(choice.otherwise)) && !self.quiet {
            super::library::mpi::ask_for_carried(self, &Content::Unknown(condition));
        }
        let meaning = self.tag_condition(condition);
        let [one, other] = [const { RefCell::new(None) }; 2];
        let arms: Vec<Arm<'_, 'p>> = vec![
            Box::new(|machine: &mut Self| {
                machine.know(condition, true);
                then(machine).inspect(|value| _ = one.replace(Some(value.clone())))
            }),
            Box::new(|machine: &mut Self| {
                machine.know(condition, false);
                otherwise(machine).inspect(|value| _ = other.replace(Some(value.clone())))
            }),
        ];
        let place = choice.place;
        let merged = match meaning {
            Some((slot, tag, equal)) => self.fork_as(condition, arms, place, |heads| {
                let (is, is_not) = if equal { (heads[0], heads[1]) } else { (heads[1], heads[0]) };
                Next::BranchOnTag(place, slot, vec![(tag, is)], is_not)
            }),
            None => self.fork(condition, arms, place),
        }?;
        if let (Some(one), Some(other)) = (one.take(), other.take()) {
            self.keep_union(&merged, condition, &one, &other);
        }
        Ok(merged)
    }

    /// The message's slot and the tag that a condition compares with, and whether it holds where
    /// they are equal.
    fn tag_condition(&self, condition: Unknown) -> Option<(SourceId, i32, bool)> {
        let is = Unknown { identity: condition.identity & !1, ..condition };
        let Comparison { operand, operation, with } = *self.comparisons.get(&is.identity)?;
        let slot = self.state.mpi.tag_slot(operand)?;
        let tag = i32::try_from(with.get()).ok()?;
        (operation == Binary::Equal).then_some((slot, tag, is == condition))
    }

    /// What a condition is known to be.
    pub(super) fn fact(&self, condition: Unknown) -> Option<bool> {
        self.note_question();
        let is = Unknown { identity: condition.identity & !1, ..condition };
        let meaning = self.comparisons.get(&is.identity).copied();
        let known = self.state.facts.get(is, meaning);
        let known = known.or_else(|| {
            let asked = condition.uniform.then(|| self.shared.oracle.facts.get(is, meaning));
            asked.flatten()
        });
        known.map(|holds| holds == (is == condition))
    }

    /// On this way a condition is so.
    pub(super) fn know(&mut self, condition: Unknown, holds: bool) {
        self.note_question();
        let is = Unknown { identity: condition.identity & !1, ..condition };
        let meaning = self.comparisons.get(&is.identity).copied();
        self.state.facts.set(is, meaning, holds == (is == condition));
    }

    /// A condition is taken to be so from here on, by all ranks if it is the same for all.
    pub(super) fn assume(&mut self, condition: Unknown, holds: bool) {
        self.note_question();
        let is = Unknown { identity: condition.identity & !1, ..condition };
        let holds = holds == (is == condition);
        if holds && let Some(both) = self.shared.oracle.formulas.both(is.identity) {
            for identity in both {
                let elsewhere = Elsewhere::default();
                self.assume(Unknown { identity, elsewhere, ..condition }, true);
            }
        }
        if condition.uniform {
            let meaning = self.comparisons.get(&is.identity).copied();
            self.shared.oracle.require(is, meaning, holds);
        } else {
            self.know(is, holds);
        }
    }

    /// A condition, the same on all ranks, holds before the program does anything.
    pub(super) fn hold_from_start(&mut self, condition: Unknown) {
        let is = Unknown { identity: condition.identity & !1, ..condition };
        let meaning = self.comparisons.get(&is.identity).copied();
        self.shared.oracle.require_from_start(is, meaning, is == condition);
    }

    /// Whether a condition that is not known holds. A uniform one is decided alike on all ranks
    /// (and the other way in another world); `None` for any other: whoever asks must follow both.
    pub(super) fn decide(&mut self, condition: Unknown, place: Place) -> Outcome<Option<bool>> {
        if let Some(known) = self.fact(condition) {
            return Ok(Some(known));
        }
        if !condition.uniform || self.quiet {
            return Ok(None);
        }
        if self.shared.oracle.is_own(condition, place, self.rank()) {
            return Ok(None);
        }
        let effect = Effect { communicates: true, leaves: false };
        self.decide_alike(condition, &Choice::between(place, effect)).map(Some)
    }

    fn decide_alike(&mut self, condition: Unknown, choice: &Choice<'_>) -> Outcome<bool> {
        // Loops have two turns; what leaves anything else is the unlikely one.
        let wanted = self.shared.oracle.turns;
        let turns = self.turns.last().map_or(0, |turning| turning.done);
        let is_last = turns + 1 >= wanted.max(2);
        // What a loop does may be what keeps it going, even if nothing leaves it.
        let is_counted = self.turns.last().is_none_or(|turning| turning.is_counted);
        let goes_on = !is_counted && turns >= wanted
            || self.shared.oracle.times_asked(choice.place) >= PATIENCE;
        let (likely, is_guess) = match (choice.then.leaves, choice.otherwise.leaves) {
            _ if choice.at_head => (turns < wanted, true),
            (true, false) => (is_last, !self.turns.is_empty()),
            (false, true) => (!is_last, !self.turns.is_empty()),
            _ => (!goes_on, goes_on),
        };
        self.shared.oracle.has_guessed |= is_guess;
        let (program, function) = (self.program, self.function());
        let is = Unknown { identity: condition.identity & !1, ..condition };
        let says_so = is == condition;
        let words = |holds| super::words::of(program, function, &choice.asked, holds == says_so);
        let meaning = self.comparisons.get(&is.identity).copied();
        let asked = (is, meaning);
        let manner = Manner {
            likely: likely == says_so,
            turn: is_guess.then_some(turns),
            at_head: choice.at_head,
            arm: choice.arm.map(|arm| (arm, says_so)),
        };
        match self.shared.oracle.ask(asked, choice.place, manner, words) {
            Some(holds) => Ok(holds == says_so),
            None => {
                let why = "it depends in several ways on a value that is only given when the \
                           program runs";
                Err(self.lost(choice.place, why))
            }
        }
    }

    /// An arm is taken that is the only one left.
    fn take_without_asking(&mut self, choice: &Choice<'_>) {
        let Some(arm) = choice.arm else { return };
        let words = super::words::of(self.program, self.function(), &choice.asked, true);
        self.shared.oracle.take_last(choice.place, arm, words);
    }

    /// `if condition { then } else { otherwise }`
    pub(super) fn evaluate_if(
        &mut self,
        condition: &Condition,
        then: &Expression,
        otherwise: Option<&Expression>,
        place: Place,
    ) -> Outcome {
        let choice = Choice {
            place,
            then: self.effects.get(then),
            otherwise: otherwise.map(|it| self.effects.get(it)).unwrap_or_default(),
            then_fails: only_fails(then),
            otherwise_fails: otherwise.is_some_and(only_fails),
            at_head: false,
            arm: None,
            asked: Asked::Condition(condition),
        };
        self.spare(then);
        otherwise.into_iter().for_each(|otherwise| self.spare(otherwise));
        let scope = self.open_scope();
        let yes = |machine: &mut Self| machine.evaluate(then);
        let no = |machine: &mut Self| match otherwise {
            Some(otherwise) => machine.evaluate(otherwise),
            None => Ok(Value::unit()),
        };
        let outcome = self.when(condition, &choice, &yes, &no);
        self.close_scope(scope, outcome, place)
    }

    /// Goes on by a condition.
    pub(super) fn when(
        &mut self,
        condition: &Condition,
        choice: &Choice<'_>,
        then: Then<'_, 'p>,
        otherwise: Then<'_, 'p>,
    ) -> Outcome {
        match condition {
            Condition::And(one, other) => {
                let both = |machine: &mut Self| machine.when(other, choice, then, otherwise);
                // The second one may be followed by either.
                let inner = Choice {
                    then: either(choice.then, choice.otherwise),
                    then_fails: choice.then_fails && choice.otherwise_fails,
                    ..choice.clone()
                };
                self.when(one, &inner, &both, otherwise)
            }
            Condition::Holds(expression) => {
                let value = self.operand(expression)?;
                let value = self.behind(&value, choice.place);
                match value.as_bool() {
                    Some(true) => then(self),
                    Some(false) => otherwise(self),
                    None => self.choose(self.identity(&value), choice, then, otherwise),
                }
            }
            Condition::Let(pattern, expression) => {
                let target = self.locate(expression)?;
                let subject = self.subject(target);
                match self.test(pattern, &subject, expression.place)? {
                    Matched::No => otherwise(self),
                    Matched::Yes => {
                        self.bind(pattern, &subject, expression.place)?;
                        then(self)
                    }
                    Matched::If(holds) => {
                        let bound = |machine: &mut Self| {
                            machine.bind(pattern, &subject, expression.place)?;
                            then(machine)
                        };
                        self.choose(holds, choice, &bound, otherwise)
                    }
                }
            }
        }
    }

    /// What a pattern takes apart. A value in passing that must be dropped is given a place first.
    fn subject(&mut self, target: Target) -> Subject {
        match target {
            Target::Value(value) if self.is_owned(&value) => {
                Target::Path(self.drop_at_end_of_scope(value)).into()
            }
            target => target.into(),
        }
    }

    /// `match value { arms }`
    pub(super) fn evaluate_match(
        &mut self,
        value: &Expression,
        arms: &[MatchArm],
        place: Place,
    ) -> Outcome {
        arms.iter().for_each(|arm| self.spare(&arm.body));
        let scope = self.open_scope();
        let outcome = self.locate(value).and_then(|target| {
            let subject = self.subject(target);
            self.match_arms(&subject, (arms, arms), value, place)
        });
        self.close_scope(scope, outcome, place)
    }

    fn match_arms(
        &mut self,
        subject: &Subject,
        (arms, left): (&[MatchArm], &[MatchArm]),
        what: &Expression,
        place: Place,
    ) -> Outcome {
        let Some((arm, rest)) = left.split_first() else {
            // No arm is known to match: nobody knows what happens.
            return Err(self.lost(place, "no arm of the match is known to be taken"));
        };
        let pattern_place = arm.body.place;
        let matched = self.test(&arm.pattern, subject, pattern_place)?;
        let taken = |machine: &mut Self| machine.take_arm(subject, (arms, left), what, place);
        match matched {
            Matched::Yes => taken(self),
            Matched::No => self.match_arms(subject, (arms, rest), what, place),
            Matched::If(condition) => {
                let otherwise = rest.iter().map(|arm| self.effects.get(&arm.body));
                let choice = Choice {
                    place,
                    then: self.effects.get(&arm.body),
                    otherwise: otherwise.fold(Effect::default(), either),
                    then_fails: only_fails(&arm.body),
                    otherwise_fails: rest.iter().all(|arm| only_fails(&arm.body)),
                    at_head: false,
                    arm: Some(number(arms, rest)),
                    asked: Asked::Matches(what, &arm.pattern),
                };
                let is_last = rest.is_empty() && arm.guard.is_none();
                if is_last {
                    // One of the arms matches: the last one if no other does.
                    if condition.uniform && !self.quiet {
                        self.take_without_asking(&choice);
                    }
                    return taken(self);
                }
                let other =
                    |machine: &mut Self| machine.match_arms(subject, (arms, rest), what, place);
                self.choose(condition, &choice, &taken, &other)
            }
        }
    }

    fn take_arm(
        &mut self,
        subject: &Subject,
        (all, left): (&[MatchArm], &[MatchArm]),
        what: &Expression,
        place: Place,
    ) -> Outcome {
        let (arm, rest) = left.split_first().expect("an arm is taken");
        let scope = self.open_scope();
        let outcome = match &arm.guard {
            None => {
                let bound = self.bind(&arm.pattern, subject, arm.body.place);
                bound.and_then(|()| self.evaluate(&arm.body))
            }
            Some(guard) => {
                // A guard only borrows what the pattern binds.
                let borrowed = subject.clone().borrowed();
                let bound = self.bind(&arm.pattern, &borrowed, arm.body.place);
                let effects = rest.iter().map(|arm| self.effects.get(&arm.body));
                let choice = Choice {
                    place,
                    then: self.effects.get(&arm.body),
                    otherwise: effects.fold(Effect::default(), either),
                    then_fails: only_fails(&arm.body),
                    otherwise_fails: rest.iter().all(|arm| only_fails(&arm.body)),
                    at_head: false,
                    arm: Some(number(all, rest)),
                    asked: Asked::Condition(guard),
                };
                let yes = |machine: &mut Self| {
                    machine.bind(&arm.pattern, subject, arm.body.place)?;
                    machine.evaluate(&arm.body)
                };
                let no = |machine: &mut Self| machine.match_arms(subject, (all, rest), what, place);
                bound.and_then(|()| self.when(guard, &choice, &yes, &no))
            }
        };
        self.close_scope(scope, outcome, arm.body.place)
    }
}

/// Which arm of a match comes before the rest, among those that do not only fail.
fn number(arms: &[MatchArm], rest: &[MatchArm]) -> ArmNumber {
    let count = |arms: &[MatchArm]| {
        let counted = arms.iter().filter(|arm| !only_fails(&arm.body)).count();
        u32::try_from(counted).unwrap_or(u32::MAX)
    };
    let before = &arms[..arms.len() - rest.len() - 1];
    ArmNumber { number: count(before), of: count(arms) }
}

/// What either of two can do.
pub(super) fn either(one: Effect, other: Effect) -> Effect {
    Effect {
        communicates: one.communicates || other.communicates,
        leaves: one.leaves || other.leaves,
    }
}
