//! The methods of `Option` and `Result`, whose variant is known.
//!
//! Both are treated alike: what they hold on the good side, `Some` or `Ok`, and on the other one,
//! `None` or `Err`. Those of which not even the variant is known are in [`super::perhaps`].

use std::rc::Rc;

use super::subject::{Subject, argument, behind, panic, run};
use crate::evaluate::iterator::Lazy;
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Step, Unknown, Value};

/// Calls a method on an `Option` or a `Result`. `None`: they have no such method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    variant: &'static str,
    call: &Call<'_>,
) -> Option<Outcome> {
    let good = matches!(variant, "Some" | "Ok");
    let is_option = matches!(variant, "Some" | "None");
    looked_at(machine, subject, variant, call)
        .or_else(|| changed(machine, subject, variant, call))
        .or_else(|| unwrapped(machine, subject, good, call))
        .or_else(|| combined(machine, subject, variant, call))
        .or_else(|| if is_option { None } else { of_result(machine, subject, good, call) })
}

/// What it holds, moved out.
fn held(machine: &mut Machine<'_>, subject: &Subject) -> Value {
    match subject.take(machine) {
        Value::Variant(_, held) => held.first().cloned().unwrap_or_else(Value::unit),
        other => other,
    }
}

/// The whole, moved out.
fn whole(machine: &mut Machine<'_>, subject: &Subject) -> Value {
    subject.take(machine)
}

/// A variant with what it holds.
fn variant_of(name: &'static str, held: Value) -> Value {
    Value::Variant(name, Rc::new(vec![held]))
}

/// Methods that only look.
fn looked_at(
    machine: &mut Machine<'_>,
    subject: &Subject,
    variant: &'static str,
    call: &Call<'_>,
) -> Option<Outcome> {
    let good = matches!(variant, "Some" | "Ok");
    Some(Ok(match call.name {
        "is_some" | "is_ok" => Value::bool(good),
        "is_none" | "is_err" => Value::bool(!good),
        "is_some_and" | "is_ok_and" | "is_none_or" if !good => {
            Value::bool(call.name == "is_none_or")
        }
        "is_some_and" | "is_ok_and" | "is_none_or" => {
            let held = held(machine, subject);
            return Some(run(machine, &argument(call, 0), vec![held], call.place));
        }
        "as_ref" | "as_mut" | "as_deref" | "as_deref_mut" | "as_slice" | "as_pin_mut" => {
            match subject.value {
                Value::Variant("None", _) => Value::none(),
                _ => variant_of(variant, subject.part(machine, Step::Field(0))),
            }
        }
        "iter" | "iter_mut" => {
            let items: Vec<Value> =
                good.then(|| subject.part(machine, Step::Field(0))).into_iter().collect();
            iterator(items)
        }
        "into_iter" => {
            let items: Vec<Value> = match good {
                true => vec![held(machine, subject)],
                false => Vec::new(),
            };
            iterator(items)
        }
        _ => return None,
    }))
}

fn iterator(items: Vec<Value>) -> Value {
    let count = items.len();
    Value::Iterator(Rc::new(Lazy::Items(Rc::new(items), 0, count)))
}

/// Methods of `Option` that change it.
fn changed(
    machine: &mut Machine<'_>,
    subject: &Subject,
    variant: &'static str,
    call: &Call<'_>,
) -> Option<Outcome> {
    let place = call.place;
    let inner = |machine: &mut Machine<'_>| subject.part(machine, Step::Field(0));
    Some(Ok(match call.name {
        "take" => {
            let whole = whole(machine, subject);
            subject.write(machine, Value::none(), place);
            whole
        }
        "take_if" if variant == "None" => Value::none(),
        "take_if" => {
            let shown = inner(machine);
            let verdict = match run(machine, &argument(call, 0), vec![shown], place) {
                Ok(verdict) => verdict,
                Err(flow) => return Some(Err(flow)),
            };
            match verdict.as_bool() {
                Some(false) => Value::none(),
                Some(true) => {
                    let whole = whole(machine, subject);
                    subject.write(machine, Value::none(), place);
                    whole
                }
                None => return Some(super::perhaps::forgotten(machine, subject, call)),
            }
        }
        "replace" => {
            let whole = whole(machine, subject);
            subject.write(machine, Value::some(argument(call, 0)), place);
            whole
        }
        "insert" => {
            subject.write(machine, Value::some(argument(call, 0)), place);
            inner(machine)
        }
        "get_or_insert" | "get_or_insert_with" | "get_or_insert_default" => {
            if variant == "None" {
                let value = match call.name {
                    "get_or_insert" => argument(call, 0),
                    "get_or_insert_with" => {
                        match run(machine, &argument(call, 0), Vec::new(), place) {
                            Ok(value) => value,
                            Err(flow) => return Some(Err(flow)),
                        }
                    }
                    _ => super::defaults::default_of(machine, call.ty.behind_references(), place),
                };
                subject.write(machine, Value::some(value), place);
            }
            inner(machine)
        }
        _ => return None,
    }))
}

/// Methods that give what it holds, or something instead.
fn unwrapped(
    machine: &mut Machine<'_>,
    subject: &Subject,
    good: bool,
    call: &Call<'_>,
) -> Option<Outcome> {
    Some(match call.name {
        "unwrap" | "expect" | "unwrap_unchecked" => match good {
            true => Ok(held(machine, subject)),
            false => Err(panic(machine, call.place)),
        },
        "unwrap_err" | "expect_err" => match good {
            true => Err(panic(machine, call.place)),
            false => Ok(held(machine, subject)),
        },
        "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" if good => Ok(held(machine, subject)),
        "unwrap_or" => Ok(argument(call, 0)),
        "unwrap_or_else" => {
            let arguments = error(machine, subject);
            run(machine, &argument(call, 0), arguments, call.place)
        }
        "unwrap_or_default" => Ok(super::defaults::default_of(machine, &call.ty, call.place)),
        "map_or" | "map_or_else" if good => {
            let held = held(machine, subject);
            run(machine, &argument(call, 1), vec![held], call.place)
        }
        "map_or" => Ok(argument(call, 0)),
        "map_or_else" => {
            let arguments = error(machine, subject);
            run(machine, &argument(call, 0), arguments, call.place)
        }
        _ => return None,
    })
}

/// What a closure for the other side is called with: the error, where there is one.
fn error(machine: &mut Machine<'_>, subject: &Subject) -> Vec<Value> {
    match subject.value {
        Value::Variant("Err", _) => vec![held(machine, subject)],
        _ => Vec::new(),
    }
}

/// Methods that make another one of it.
fn combined(
    machine: &mut Machine<'_>,
    subject: &Subject,
    variant: &'static str,
    call: &Call<'_>,
) -> Option<Outcome> {
    let good = matches!(variant, "Some" | "Ok");
    let place = call.place;
    Some(match call.name {
        "map" | "and_then" | "filter" | "inspect" | "copied" | "cloned" | "flatten" | "and"
        | "zip"
            if !good =>
        {
            Ok(whole(machine, subject))
        }
        "or" | "or_else" if good => Ok(whole(machine, subject)),
        "and" | "or" => Ok(argument(call, 0)),
        "or_else" => {
            let arguments = error(machine, subject);
            run(machine, &argument(call, 0), arguments, place)
        }
        "map" => {
            let held = held(machine, subject);
            run(machine, &argument(call, 0), vec![held], place)
                .map(|result| variant_of(variant, result))
        }
        "and_then" => {
            let held = held(machine, subject);
            run(machine, &argument(call, 0), vec![held], place)
        }
        "inspect" => {
            let shown = subject.part(machine, Step::Field(0));
            run(machine, &argument(call, 0), vec![shown], place).map(|_| whole(machine, subject))
        }
        "filter" => {
            let shown = subject.part(machine, Step::Field(0));
            match run(machine, &argument(call, 0), vec![shown], place) {
                Ok(verdict) => match verdict.as_bool() {
                    Some(true) => Ok(whole(machine, subject)),
                    Some(false) => Ok(Value::none()),
                    None => return Some(super::perhaps::forgotten(machine, subject, call)),
                },
                Err(flow) => Err(flow),
            }
        }
        "copied" | "cloned" => {
            let held = held(machine, subject);
            let value = machine.behind(&held, place);
            Ok(variant_of(variant, super::copies::copy(machine, &value)))
        }
        "flatten" => Ok(held(machine, subject)),
        "xor" => match (good, behind(machine, call, 0)) {
            (true, Value::Variant("None", _)) => Ok(whole(machine, subject)),
            (false, other) => Ok(other),
            (true, Value::Variant("Some", _)) => Ok(Value::none()),
            _ => return None,
        },
        "zip" => match argument(call, 0) {
            Value::Variant("Some", other) => {
                let first = held(machine, subject);
                let second = other.first().cloned().unwrap_or(Value::Moved);
                Ok(Value::some(super::subject::pair(first, second)))
            }
            Value::Variant("None", _) => Ok(Value::none()),
            _ => return None,
        },
        "ok_or" | "ok_or_else" if good => Ok(Value::ok(held(machine, subject))),
        "ok_or" => Ok(variant_of("Err", argument(call, 0))),
        "ok_or_else" => run(machine, &argument(call, 0), Vec::new(), place)
            .map(|error| variant_of("Err", error)),
        "transpose" => transposed(machine, subject, variant)?,
        _ => return None,
    })
}

/// `Some(Ok(x))` to `Ok(Some(x))`, and back.
fn transposed(
    machine: &mut Machine<'_>,
    subject: &Subject,
    variant: &'static str,
) -> Option<Outcome> {
    let inner = match &subject.value {
        Value::Variant(_, held) => held.first().cloned(),
        _ => None,
    };
    Some(Ok(match (variant, inner) {
        ("None", _) => Value::ok(Value::none()),
        ("Err", _) => Value::some(whole(machine, subject)),
        (outer, Some(Value::Variant(inner, held))) => match inner {
            "Err" => Value::Variant("Err", held),
            "None" => Value::none(),
            _ => {
                let held = held.first().cloned().unwrap_or(Value::Moved);
                variant_of(inner, variant_of(outer, held))
            }
        },
        _ => return None,
    }))
}

/// Methods that only `Result` has.
fn of_result(
    machine: &mut Machine<'_>,
    subject: &Subject,
    good: bool,
    call: &Call<'_>,
) -> Option<Outcome> {
    Some(match call.name {
        "ok" if good => Ok(Value::some(held(machine, subject))),
        "err" if !good => Ok(Value::some(held(machine, subject))),
        "ok" | "err" => Ok(Value::none()),
        "map_err" | "inspect_err" if good => Ok(whole(machine, subject)),
        "map_err" => {
            let held = held(machine, subject);
            run(machine, &argument(call, 0), vec![held], call.place)
                .map(|error| variant_of("Err", error))
        }
        "inspect_err" => {
            let shown = subject.part(machine, Step::Field(0));
            run(machine, &argument(call, 0), vec![shown], call.place)
                .map(|_| whole(machine, subject))
        }
        _ => return None,
    })
}

/// An `Option` that may hold what a closure gives: a condition that is not known decides whether it
/// is called.
pub(super) fn either_way(
    machine: &mut Machine<'_>,
    condition: &Value,
    closure: &Value,
    arguments: &[Value],
    call: &Call<'_>,
) -> Outcome {
    if machine.communicates(closure) {
        let unknown = crate::evaluate::iterator::unknown_of(condition);
        return match machine.decide(unknown, call.place)? {
            Some(true) => run(machine, closure, arguments.to_vec(), call.place).map(Value::some),
            Some(false) => Ok(Value::none()),
            None => Err(machine.lost(call.place, "whether this is called is not known")),
        };
    }
    let Some(held) = run_perhaps(machine, condition, closure, arguments.to_vec(), call)? else {
        return Ok(Value::none());
    };
    let ty = super::subject::option_of(machine.type_of(&held));
    Ok(machine.computed(call.name, &[condition, &held], ty))
}

/// Runs a closure that is perhaps not run: what it changes is not known afterwards. `None`: it does
/// not return, and so is taken not to be run.
pub(super) fn run_perhaps(
    machine: &mut Machine<'_>,
    condition: &Value,
    closure: &Value,
    arguments: Vec<Value>,
    call: &Call<'_>,
) -> Outcome<Option<Value>> {
    if machine.communicates(closure) {
        return Err(machine.lost(call.place, "whether this is called is not known"));
    }
    // Nothing communicates, so that nobody needs to decide.
    let condition = Unknown { uniform: false, ..machine.identity(condition) };
    let mut result = None;
    machine.repeat(condition, call.place, &mut |machine| {
        result = Some(run(machine, closure, arguments.clone(), call.place)?);
        Ok(())
    })?;
    Ok(result)
}
