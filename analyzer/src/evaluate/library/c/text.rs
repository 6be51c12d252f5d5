//! Text: what is printed, and what is known of strings.

use std::rc::Rc;

use super::memory::touch;
use super::{argument, int};
use crate::evaluate::machine::{Call, Machine};
use crate::evaluate::value::{Constant, Content, Items, Path, Sequence, Value};
use crate::program::{Place, Scalar, Type};

/// Whether a function only prints.
pub(super) fn prints_only(name: &str) -> bool {
    matches!(
        name,
        "printf"
            | "fprintf"
            | "puts"
            | "fputs"
            | "putchar"
            | "putc"
            | "fputc"
            | "perror"
            | "fwrite"
            | "dprintf"
            | "wprintf"
            | "fflush"
    )
}

/// Calls one of these functions.
pub(super) fn function(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Option<Value> {
    let place = call.place;
    Some(match name {
        "printf" | "fprintf" | "puts" | "fputs" | "putchar" | "putc" | "fputc" | "perror"
        | "vprintf" | "vfprintf" | "fwrite" | "write" | "dprintf" | "wprintf" => {
            printed(machine, call)
        }
        "sprintf" | "snprintf" | "vsprintf" | "vsnprintf" | "strftime" | "asprintf" => {
            for argument in call.arguments.iter().skip(1) {
                touch(machine, argument, false, place);
            }
            touch(machine, &argument(call, 0), true, place);
            machine.forget_behind(&argument(call, 0));
            machine.fresh(Type::Scalar(Scalar::I32))
        }
        "strlen" | "strnlen" => {
            touch(machine, &argument(call, 0), false, place);
            match known_text(machine, &argument(call, 0)) {
                Some(text) => Value::integer(text.len() as i128, Scalar::U64),
                None => of_text(machine, call, Type::Scalar(Scalar::U64)),
            }
        }
        "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" => compared(machine, name, call),
        "memcmp" | "strstr" | "strchr" | "strrchr" | "strspn" | "strcspn" | "strpbrk"
        | "memchr" => {
            (0..2).for_each(|number| touch(machine, &argument(call, number), false, place));
            of_text(machine, call, call.result())
        }
        "strcpy" | "stpcpy" | "strncpy" | "strcat" | "strncat" | "strlcpy" | "strlcat" => {
            touch(machine, &argument(call, 1), false, place);
            copied(machine, name, call);
            argument(call, 0)
        }
        "strdup" | "strndup" => match known_text(machine, &argument(call, 0)) {
            Some(text) if name == "strdup" => {
                let value = Value::Sequence(string(&text, text.len() + 1));
                Value::Reference(machine.allocate(value))
            }
            _ => machine.fresh(call.result()),
        },
        "strtok" | "strtok_r" | "strsep" => {
            machine.forget_behind(&argument(call, 0));
            machine.fresh(call.result())
        }
        "sscanf" => scanned(machine, call),
        "getenv" | "secure_getenv" => machine.fresh(call.result()),
        "isdigit" | "isalpha" | "isalnum" | "isspace" | "isupper" | "islower" | "ispunct"
        | "isxdigit" | "isprint" => {
            let is = argument(call, 0).as_integer().and_then(|it| u8::try_from(it).ok());
            match is {
                Some(letter) => int(i128::from(is_kind(name, letter))),
                None => super::computed(machine, call),
            }
        }
        "toupper" | "tolower" => {
            let letter = argument(call, 0).as_integer().and_then(|it| u8::try_from(it).ok());
            match letter {
                Some(letter) if name == "toupper" => int(letter.to_ascii_uppercase().into()),
                Some(letter) => int(letter.to_ascii_lowercase().into()),
                None => super::computed(machine, call),
            }
        }
        _ => return None,
    })
}

fn is_kind(name: &str, letter: u8) -> bool {
    match name {
        "isdigit" => letter.is_ascii_digit(),
        "isalpha" => letter.is_ascii_alphabetic(),
        "isalnum" => letter.is_ascii_alphanumeric(),
        "isspace" => letter.is_ascii_whitespace() || letter == 0x0b,
        "isupper" => letter.is_ascii_uppercase(),
        "islower" => letter.is_ascii_lowercase(),
        "ispunct" => letter.is_ascii_punctuation(),
        "isxdigit" => letter.is_ascii_hexdigit(),
        _ => letter.is_ascii_graphic() || letter == b' ',
    }
}

/// What is printed is read; strings up to their ends.
fn printed(machine: &mut Machine<'_>, call: &Call<'_>) -> Value {
    for argument in &call.arguments {
        touch(machine, argument, false, call.place);
    }
    machine.fresh(Type::Scalar(Scalar::I32))
}

/// What is computed of the text behind pointers: the same wherever the text is the same.
pub(super) fn of_text(machine: &mut Machine<'_>, call: &Call<'_>, ty: Type) -> Value {
    if let Type::Reference(_) = ty {
        return machine.fresh(ty);
    }
    let inputs: Vec<&Value> = call.arguments.iter().collect();
    machine.computed(call.name, &inputs, ty)
}

/// The bytes of a string up to its end, where all of them are known.
pub(super) fn known_text(machine: &mut Machine<'_>, pointer: &Value) -> Option<Vec<u8>> {
    let path = machine.pointer(pointer)?;
    let Value::Sequence(Sequence { items: Items::Each(items), .. }) = machine.peek(&path) else {
        return None;
    };
    let mut text = Vec::new();
    for item in items.iter() {
        let Value::Scalar(_, Content::Known(Constant::Integer(number))) = item else { return None };
        match number.get() {
            0 => return Some(text),
            byte => text.push((byte & 0xff) as u8),
        }
    }
    None
}

/// An array of so many bytes that begins with a text.
fn string(text: &[u8], length: usize) -> Sequence {
    let mut items: Vec<Value> = text
        .iter()
        .map(|byte| Value::integer(i128::from(byte.cast_signed()), Scalar::I8))
        .collect();
    items.resize(length, Value::integer(0, Scalar::I8));
    Sequence { element: Type::Scalar(Scalar::I8), items: Items::Each(Rc::new(items)) }
}

fn compared(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) -> Value {
    let [one, other] = [argument(call, 0), argument(call, 1)];
    let texts = (known_text(machine, &one), known_text(machine, &other));
    let (Some(mut one), Some(mut other)) = texts else {
        return of_text(machine, call, Type::Scalar(Scalar::I32));
    };
    if name.contains("case") {
        one.make_ascii_lowercase();
        other.make_ascii_lowercase();
    }
    if name.starts_with("strn") {
        let Some(length) = argument(call, 2).as_integer() else {
            return of_text(machine, call, Type::Scalar(Scalar::I32));
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        one.truncate(length);
        other.truncate(length);
    }
    int(one.cmp(&other) as i128)
}

/// A string is written over another one.
fn copied(machine: &mut Machine<'_>, name: &str, call: &Call<'_>) {
    let (to, from) = (argument(call, 0), argument(call, 1));
    let known = match name {
        "strcpy" | "stpcpy" => known_text(machine, &from),
        "strcat" => {
            let before = known_text(machine, &to);
            before.zip(known_text(machine, &from)).map(|(before, text)| [before, text].concat())
        }
        _ => None,
    };
    if let (Some(text), Some(path)) = (known, machine.pointer(&to))
        && put_text(machine, &path, &text, call.place)
    {
        return;
    }
    touch(machine, &to, true, call.place);
    machine.forget_behind(&to);
}

/// Writes a text with its end; whether all of it is there.
fn put_text(machine: &mut Machine<'_>, path: &Path, text: &[u8], place: Place) -> bool {
    let length = text.len() as u64 + 1;
    let Some(region) = machine.region(path, 0, length) else { return false };
    match machine.peek(&region) {
        Value::Sequence(Sequence { items: Items::Each(items), element })
            if items.len() as u64 == length && element == Type::Scalar(Scalar::I8) =>
        {
            machine.write(&region, Value::Sequence(string(text, text.len() + 1)), place);
            true
        }
        _ => false,
    }
}

/// `sscanf(text, format, ..)`: what is read from a text that is the same on every rank is, too.
fn scanned(machine: &mut Machine<'_>, call: &Call<'_>) -> Value {
    let text = argument(call, 0);
    for (number, target) in call.arguments.iter().enumerate().skip(2) {
        match machine.pointer(target) {
            Some(path) => {
                let old = machine.peek(&path);
                let ty = machine.type_of(&old);
                let value = match &old {
                    Value::Scalar(..) => {
                        let number = int(number as i128);
                        machine.computed("sscanf", &[&text, &number], ty)
                    }
                    other => machine.forgotten_in_c(other),
                };
                machine.write(&path, value, call.place);
            }
            None => machine.forget_behind(target),
        }
    }
    machine.computed("sscanf", &[&text], Type::Scalar(Scalar::I32))
}
