//! Text and characters. Text is mostly not known, and then neither is how long it is; what is
//! computed of text that is the same on every rank is the same on every rank.

use std::rc::Rc;

use super::subject::{BOOL, Subject, USIZE, all_behind, computed_of_all, option_of, pair, size};
use crate::evaluate::iterator::{Lazy, unknown_of};
use crate::evaluate::machine::{Call, Machine, Outcome};
use crate::evaluate::value::{Constant, Content, Items, Length, Sequence, Value};
use crate::program::{Scalar, Type};

/// Calls a method on text. `None`: text has no such method.
pub(super) fn method(
    machine: &mut Machine<'_>,
    subject: &Subject,
    call: &Call<'_>,
) -> Option<Outcome> {
    let text = match &subject.value {
        Value::Text(Some(text)) => Some(text.clone()),
        _ => None,
    };
    if let Some(text) = &text
        && let Some(value) = of_known(machine, text, call)
    {
        return Some(Ok(value));
    }
    changed(machine, subject, call)
        .or_else(|| same(machine, subject, call))
        .or_else(|| of_unknown(machine, &subject.value, call))
        .map(Ok)
}

/// What a method gives for known text. `None`: it is not computed, or there is no such method.
fn of_known(machine: &mut Machine<'_>, text: &Rc<str>, call: &Call<'_>) -> Option<Value> {
    let new = |text: &str| Value::Text(Some(text.into()));
    let pattern = all_behind(machine, call).into_iter().next().map(|first| match first {
        Value::Text(Some(text)) => Some(text.to_string()),
        Value::Scalar(_, Content::Known(Constant::Char(letter))) => Some(letter.to_string()),
        _ => None,
    });
    Some(match (call.name, pattern.flatten()) {
        ("len", _) => size(text.len() as u64),
        ("is_empty", _) => Value::bool(text.is_empty()),
        ("trim", _) => new(text.trim()),
        ("trim_start", _) => new(text.trim_start()),
        ("trim_end", _) => new(text.trim_end()),
        ("to_lowercase" | "to_ascii_lowercase", _) => new(&text.to_lowercase()),
        ("to_uppercase" | "to_ascii_uppercase", _) => new(&text.to_uppercase()),
        ("contains", Some(pattern)) => Value::bool(text.contains(&pattern)),
        ("starts_with", Some(pattern)) => Value::bool(text.starts_with(&pattern)),
        ("ends_with", Some(pattern)) => Value::bool(text.ends_with(&pattern)),
        ("strip_prefix", Some(pattern)) => {
            text.strip_prefix(&pattern).map_or_else(Value::none, |rest| Value::some(new(rest)))
        }
        ("split_once", Some(pattern)) => match text.split_once(&pattern) {
            Some((first, second)) => Value::some(pair(new(first), new(second))),
            None => Value::none(),
        },
        ("split", Some(pattern)) => texts(text.split(&pattern)),
        ("split_whitespace", _) => texts(text.split_whitespace()),
        ("lines", _) => texts(text.lines()),
        ("chars", _) => {
            let letters = text
                .chars()
                .map(|letter| Value::Scalar(Scalar::Char, Content::Known(Constant::Char(letter))));
            iterator(letters.collect())
        }
        ("bytes", _) => iterator(bytes_of(text.as_bytes())),
        ("as_bytes" | "into_bytes" | "as_bytes_mut" | "to_vec", _) => bytes(text.as_bytes()),
        ("parse", _) => parsed(text, call)?,
        _ => return None,
    })
}

fn iterator(items: Vec<Value>) -> Value {
    let count = items.len();
    Value::Iterator(Rc::new(Lazy::Items(Rc::new(items), 0, count)))
}

fn texts<'t>(parts: impl Iterator<Item = &'t str>) -> Value {
    iterator(parts.map(|part| Value::Text(Some(part.into()))).collect())
}

fn bytes_of(bytes: &[u8]) -> Vec<Value> {
    bytes.iter().map(|byte| Value::integer(i128::from(*byte), Scalar::U8)).collect()
}

/// Known bytes as a sequence.
pub(super) fn bytes(bytes: &[u8]) -> Value {
    let items = Items::Each(Rc::new(bytes_of(bytes)));
    Value::Sequence(Sequence { element: Type::Scalar(Scalar::U8), items })
}

/// The bytes of something that is not known: how many is not known either, but computed of it.
pub(super) fn unknown_bytes(machine: &mut Machine<'_>, what: &str, inputs: &[&Value]) -> Value {
    let each = machine.computed(what, inputs, Type::Scalar(Scalar::U8));
    let length = machine.computed(&format!("length of {what}"), inputs, USIZE);
    let items = Items::Alike(Rc::new(each), Length::Unknown(unknown_of(&length)));
    Value::Sequence(Sequence { element: Type::Scalar(Scalar::U8), items })
}

/// `parse` of known text.
fn parsed(text: &str, call: &Call<'_>) -> Option<Value> {
    let ty = match call.generics.first() {
        Some(ty) if *ty != Type::Unknown => ty.clone(),
        _ => super::subject::type_argument(&call.ty, 0),
    };
    let Type::Scalar(scalar) = ty else { return None };
    let constant = match scalar {
        Scalar::Bool => text.parse().ok().map(Constant::Bool),
        Scalar::Char => text.parse().ok().map(Constant::Char),
        Scalar::F32 | Scalar::F64 => text.parse().ok().map(|it: f64| Constant::Float(it.into())),
        _ => text
            .parse()
            .ok()
            .filter(|number| super::integers::fits(scalar, *number))
            .map(|number: i128| Constant::Integer(number.into())),
    };
    Some(match constant {
        Some(constant) => Value::ok(Value::Scalar(scalar, Content::Known(constant))),
        None => Value::Variant("Err", Rc::new(vec![Value::Text(None)])),
    })
}

/// Methods that change text: what it is then is not followed.
fn changed(machine: &mut Machine<'_>, subject: &Subject, call: &Call<'_>) -> Option<Value> {
    let appended = match call.name {
        "push_str"
        | "push"
        | "write_str"
        | "write_fmt"
        | "insert"
        | "insert_str"
        | "extend"
        | "truncate"
        | "pop"
        | "clear"
        | "remove"
        | "retain"
        | "replace_range"
        | "make_ascii_lowercase"
        | "make_ascii_uppercase"
        | "drain"
        | "reserve"
        | "add_assign" => all_behind(machine, call),
        _ => return None,
    };
    let before = subject.value.clone();
    let inputs: Vec<&Value> = std::iter::once(&before).chain(&appended).collect();
    let after = match (call.name, &before, appended.first()) {
        ("push_str", Value::Text(Some(before)), Some(Value::Text(Some(more)))) => {
            Value::Text(Some(format!("{before}{more}").into()))
        }
        ("clear", ..) => Value::Text(Some("".into())),
        ("reserve", ..) => before.clone(),
        _ => machine.computed(call.name, &inputs, Type::Text),
    };
    let result = match call.name {
        "pop" => machine.computed(call.name, &inputs, option_of(Type::Scalar(Scalar::Char))),
        "remove" => machine.computed(call.name, &inputs, Type::Scalar(Scalar::Char)),
        "drain" => machine.computed(call.name, &inputs, call.result()),
        "write_str" | "write_fmt" => Value::ok(Value::unit()),
        _ => Value::unit(),
    };
    subject.write(machine, after, call.place);
    Some(result)
}

/// Methods that give the same text.
fn same(machine: &mut Machine<'_>, subject: &Subject, call: &Call<'_>) -> Option<Value> {
    Some(match call.name {
        "to_string" | "to_owned" | "clone" | "into_string" | "into_boxed_str" | "to_str_lossy"
        | "to_string_lossy" | "into_owned" => subject.value.clone(),
        "as_str" | "as_mut_str" | "as_ref" | "borrow" | "deref" | "as_mut" | "as_os_str"
        | "as_path" => subject.reference(machine),
        "to_str" | "into_os_string_string" => Value::some(subject.value.clone()),
        _ => return None,
    })
}

/// What a method gives for text that is not known. `None`: text has no such method.
fn of_unknown(machine: &mut Machine<'_>, text: &Value, call: &Call<'_>) -> Option<Value> {
    let letter = Type::Scalar(Scalar::Char);
    let ty = match call.name {
        "len" | "capacity" => USIZE,
        "is_empty"
        | "contains"
        | "starts_with"
        | "ends_with"
        | "eq_ignore_ascii_case"
        | "eq"
        | "ne"
        | "is_ascii"
        | "is_char_boundary" => BOOL,
        // Files are not the same for all ranks.
        "exists" | "is_file" | "is_dir" => return Some(machine.fresh(BOOL)),
        "index" | "trim" | "trim_start" | "trim_end" | "trim_matches" | "trim_start_matches"
        | "trim_end_matches" | "to_lowercase" | "to_uppercase" | "to_ascii_lowercase"
        | "to_ascii_uppercase" | "replace" | "replacen" | "repeat" | "join" | "display"
        | "with_extension" => Type::Text,
        "find" | "rfind" => option_of(USIZE),
        "strip_prefix" | "strip_suffix" | "get" | "file_name" | "extension" | "parent"
        | "file_stem" => option_of(Type::Text),
        "split_once" | "rsplit_once" => option_of(Type::Tuple(vec![Type::Text, Type::Text])),
        "split_at" => Type::Tuple(vec![Type::Text, Type::Text]),
        "parse" => parse_type(call),
        "as_bytes" | "into_bytes" | "to_vec" | "as_bytes_mut" => {
            return Some(unknown_bytes(machine, "bytes", &[text]));
        }
        "chars" => return Some(unknown_parts(machine, text, letter, call)),
        "bytes" => return Some(unknown_parts(machine, text, Type::Scalar(Scalar::U8), call)),
        "char_indices" => {
            let element = Type::Tuple(vec![USIZE, letter]);
            return Some(unknown_parts(machine, text, element, call));
        }
        "split"
        | "split_whitespace"
        | "lines"
        | "splitn"
        | "rsplit"
        | "rsplitn"
        | "split_terminator"
        | "split_ascii_whitespace"
        | "split_inclusive"
        | "matches"
        | "components" => return Some(unknown_parts(machine, text, Type::Text, call)),
        _ => return None,
    };
    Some(computed_of_all(machine, call, text, ty))
}

/// The type of what `parse` gives.
fn parse_type(call: &Call<'_>) -> Type {
    match (&*call.ty, call.generics.first()) {
        (_, Some(target)) if *target != Type::Unknown => {
            let error = super::subject::type_argument(&call.ty, 1);
            Type::External("Result".to_owned(), vec![target.clone(), error])
        }
        (Type::Unknown, _) => {
            Type::External("Result".to_owned(), vec![Type::Unknown, Type::Unknown])
        }
        (inferred, _) => inferred.clone(),
    }
}

/// The parts of text that is not known.
fn unknown_parts(machine: &mut Machine<'_>, text: &Value, element: Type, call: &Call<'_>) -> Value {
    let arguments = all_behind(machine, call);
    let inputs: Vec<&Value> = std::iter::once(text).chain(&arguments).collect();
    let each = machine.computed(call.name, &inputs, element);
    let count = machine.computed(&format!("number of {}", call.name), &inputs, USIZE);
    let lazy = Lazy::Unknown { count: unknown_of(&count), each, taken: 0 };
    Value::Iterator(Rc::new(lazy))
}

/// The methods of characters. `None`: they have no such method.
pub(super) fn char_method(
    machine: &mut Machine<'_>,
    subject: &Value,
    call: &Call<'_>,
) -> Option<Outcome> {
    let letter = match subject {
        Value::Scalar(_, Content::Known(Constant::Char(letter))) => Some(*letter),
        _ => None,
    };
    let test: fn(&char) -> bool = match call.name {
        "is_ascii_digit" => char::is_ascii_digit,
        "is_alphabetic" => |letter| letter.is_alphabetic(),
        "is_numeric" => |letter| letter.is_numeric(),
        "is_alphanumeric" => |letter| letter.is_alphanumeric(),
        "is_whitespace" => |letter| letter.is_whitespace(),
        "is_uppercase" => |letter| letter.is_uppercase(),
        "is_lowercase" => |letter| letter.is_lowercase(),
        "to_digit" => {
            let ty = option_of(Type::Scalar(Scalar::U32));
            return Some(Ok(computed_of_all(machine, call, subject, ty)));
        }
        "len_utf8" => return Some(Ok(computed_of_all(machine, call, subject, USIZE))),
        "to_ascii_uppercase" | "to_ascii_lowercase" => {
            let ty = Type::Scalar(Scalar::Char);
            return Some(Ok(computed_of_all(machine, call, subject, ty)));
        }
        _ => return None,
    };
    Some(Ok(match letter {
        Some(letter) => Value::bool(test(&letter)),
        None => computed_of_all(machine, call, subject, BOOL),
    }))
}

/// A value as text, where it is known: what `to_string` and `{}` give.
pub(super) fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Text(Some(text)) => Some(text.to_string()),
        Value::Scalar(_, Content::Known(constant)) => Some(match constant {
            Constant::Integer(number) => number.get().to_string(),
            Constant::Bool(value) => value.to_string(),
            Constant::Char(letter) => letter.to_string(),
            // Shortest digits depend on the precision, which is not kept.
            Constant::Float(_) => return None,
        }),
        _ => None,
    }
}

/// `format!(..)`: the format and its arguments. Known where it has plain holes and all is known.
pub(in crate::evaluate) fn formatted(machine: &mut Machine<'_>, arguments: &[Value]) -> Value {
    let arguments: Vec<Value> = arguments
        .iter()
        .map(|argument| machine.behind(argument, crate::program::Place::default()))
        .collect();
    let known = match arguments.split_first() {
        Some((Value::Text(Some(format)), rest)) => filled_in(format, rest),
        _ => None,
    };
    match known {
        Some(text) => Value::Text(Some(text.into())),
        None => {
            let inputs: Vec<&Value> = arguments.iter().collect();
            machine.computed("format", &inputs, Type::Text)
        }
    }
}

/// A format with its holes filled in order. Formats with anything but plain holes are not followed.
fn filled_in(format: &str, arguments: &[Value]) -> Option<String> {
    let mut text = String::new();
    let mut rest = format;
    let mut arguments = arguments.iter();
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let hole = &rest[at..];
        if let Some(after) = hole.strip_prefix("{{") {
            text.push('{');
            rest = after;
        } else if let Some(after) = hole.strip_prefix("}}") {
            text.push('}');
            rest = after;
        } else {
            rest = hole.strip_prefix("{}")?;
            text.push_str(&shown(arguments.next()?)?);
        }
    }
    text.push_str(rest);
    arguments.next().is_none().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_holes_are_filled_in() {
        let one = [Value::integer(7, Scalar::I32)];
        let two = [one[0].clone(), one[0].clone()];
        assert_eq!(filled_in("a {} {{b}}", &one).as_deref(), Some("a 7 {b}"));
        assert_eq!(filled_in("{:03}", &one), None);
        assert_eq!(filled_in("{}", &two), None);
    }
}
