//! Periods: what a program does every so many turns of a loop, such as writing a checkpoint. Where
//! nobody knows how often the loop turns, one world has it turn as often as that.

use super::effects::Effects;
use crate::program::{Binary, Expression, Kind, Literal, Program};

/// The longest period that is looked at.
const LONGEST: u32 = 128;

/// The longest period after which something is done that communicates, if it takes more turns than
/// loops have anyway.
pub(super) fn longest(program: &Program, effects: &Effects<'_>) -> Option<u32> {
    let mut found = Vec::new();
    for body in program.functions.iter().filter_map(|function| function.body.as_ref()) {
        look_through(program, effects, body, &mut found);
    }
    found.into_iter().filter(|period| (super::oracle::TURNS + 1..=LONGEST).contains(period)).max()
}

/// Finds the periods of everything that communicates in an expression.
fn look_through(
    program: &Program,
    effects: &Effects<'_>,
    expression: &Expression,
    found: &mut Vec<u32>,
) {
    if !effects.get(expression).communicates {
        return;
    }
    if let Kind::If { condition, .. } = &expression.kind {
        condition.for_each_child(&mut |part| divisors(program, part, found));
    }
    expression.for_each_child(&mut |child| look_through(program, effects, child, found));
}

/// What numbers are divided by to see whether something is left.
fn divisors(program: &Program, expression: &Expression, found: &mut Vec<u32>) {
    let divisor = match &expression.kind {
        Kind::Binary(Binary::Remainder, _, divisor) => number(program, divisor),
        Kind::Method { name, arguments, .. } if name == "is_multiple_of" => {
            arguments.first().and_then(|divisor| number(program, divisor))
        }
        _ => None,
    };
    found.extend(divisor);
    expression.for_each_child(&mut |child| divisors(program, child, found));
}

/// A number that is written down, where it is used or as a constant.
fn number(program: &Program, expression: &Expression) -> Option<u32> {
    match &expression.kind {
        Kind::Literal(Literal::Integer(number)) => u32::try_from(*number).ok(),
        Kind::Cast(inner, _) => number(program, inner),
        Kind::Global(global) => {
            let global = program.globals.get(global.0 as usize).filter(|it| !it.is_mutable)?;
            number(program, global.value.as_ref()?)
        }
        _ => None,
    }
}
