//! Numbers, characters and text.

use tree_sitter::Node;

use super::{Lowering, convert};
use crate::program::{Expression, Kind, Literal, Scalar, Type};

impl<'u> Lowering<'u> {
    pub(super) fn integer(&mut self, number: i128, scalar: Scalar, node: Node<'u>) -> Expression {
        let place = self.place(node);
        convert::integer(number, scalar, place)
    }

    /// `0x1fUL`, `1.5e3f`
    pub(super) fn number(&mut self, node: Node<'u>) -> Expression {
        let (literal, ty) = match number(self.text(node)) {
            Some((literal, scalar)) => (literal, Type::Scalar(scalar)),
            None => return self.unknown("this number cannot be read", node),
        };
        self.make(Kind::Literal(literal), ty, node)
    }

    /// `'a'`
    pub(super) fn character(&mut self, node: Node<'u>) -> Expression {
        let text = self.text(node);
        let inner = text.split_once('\'').map_or("", |(_, rest)| rest);
        let mut bytes = Vec::new();
        unescape(inner.strip_suffix('\'').unwrap_or(inner), &mut bytes);
        let number = match bytes[..] {
            // A `char` is signed.
            [one] => i128::from(one as i8),
            _ => bytes.iter().fold(0, |number, byte| number << 8 | i128::from(*byte)),
        };
        self.integer(convert::wrapped(number, Scalar::I32), Scalar::I32, node)
    }

    /// `"text"`, also in several pieces: an array.
    pub(super) fn string(&mut self, node: Node<'u>) -> Expression {
        let mut bytes = Vec::new();
        if node.kind() == "concatenated_string" {
            for part in super::super::parse::children(node, &mut node.walk()) {
                self.add_text(part, &mut bytes);
            }
        } else {
            self.add_text(node, &mut bytes);
        }
        bytes.push(0);
        let element = Type::Scalar(Scalar::I8);
        let ty = Type::Array(Box::new(element), Some(bytes.len() as u64));
        self.make(Kind::Literal(Literal::Bytes(bytes.into())), ty, node)
    }

    fn add_text(&self, node: Node<'u>, bytes: &mut Vec<u8>) {
        let text = self.text(node);
        if let Some((prefix, rest)) = text.split_once('"') {
            if prefix.ends_with('R') {
                let raw = rest.split_once('(').map_or("", |(_, raw)| raw);
                let raw = raw.rsplit_once(')').map_or(raw, |(raw, _)| raw);
                bytes.extend_from_slice(raw.as_bytes());
                return;
            }
            unescape(rest.strip_suffix('"').unwrap_or(rest), bytes);
        }
    }
}

/// The number that a text says, and its type.
fn number(text: &str) -> Option<(Literal, Scalar)> {
    let text: String = text.chars().filter(|letter| *letter != '\'').collect();
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.strip_prefix("0x");
    let is_float = match hexadecimal {
        Some(digits) => digits.contains(['.', 'p']),
        None => lower.contains(['.', 'e']),
    };
    if is_float {
        return float(&lower, hexadecimal);
    }
    let body = lower.trim_end_matches(['u', 'l', 'z']);
    let suffix = &lower[body.len()..];
    let (digits, radix) = if let Some(digits) = body.strip_prefix("0x") {
        (digits, 16)
    } else if let Some(digits) = body.strip_prefix("0b") {
        (digits, 2)
    } else if body.len() > 1 && body.starts_with('0') {
        (&body[1..], 8)
    } else {
        (body, 10)
    };
    let number = i128::from_str_radix(digits, radix).ok()?;
    let unsigned = suffix.contains('u');
    let long = suffix.contains(['l', 'z']);
    let fits = |scalar| convert::wrapped(number, scalar) == number;
    let candidates = [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64];
    let scalar = candidates.into_iter().find(|scalar| {
        let is_unsigned = matches!(scalar, Scalar::U32 | Scalar::U64);
        let is_long = matches!(scalar, Scalar::I64 | Scalar::U64);
        // Decimal numbers become unsigned only where they say so.
        let allowed = if unsigned { is_unsigned } else { !is_unsigned || radix != 10 };
        allowed && (is_long || !long) && fits(*scalar)
    })?;
    Some((Literal::Integer(number), scalar))
}

fn float(lower: &str, hexadecimal: Option<&str>) -> Option<(Literal, Scalar)> {
    if let Some(digits) = hexadecimal {
        let (digits, power) = digits.split_once('p').unwrap_or((digits, "0"));
        let power: i32 = power.trim_end_matches(['f', 'l']).parse().ok()?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = u128::from_str_radix(&format!("0{whole}{fraction}"), 16).ok()?;
        let power = power.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
        return Some((Literal::Float(all as f64 * f64::from(power).exp2()), Scalar::F64));
    }
    let body = lower.trim_end_matches(['f', 'l']);
    let scalar = if lower.ends_with('f') { Scalar::F32 } else { Scalar::F64 };
    Some((Literal::Float(body.parse().ok()?), scalar))
}

/// The bytes that a text in quotes stands for.
fn unescape(text: &str, bytes: &mut Vec<u8>) {
    let source = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = source.get(at) {
        at += 1;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let Some(&escape) = source.get(at) else { return };
        at += 1;
        let digits = |from: usize, most: usize, radix: u32| {
            let rest = source.get(from..).unwrap_or_default();
            let count = rest.iter().take(most).take_while(|it| (**it as char).is_digit(radix));
            from + count.count()
        };
        match escape {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'a' => bytes.push(7),
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b'v' => bytes.push(11),
            b'e' => bytes.push(27),
            b'\n' => {}
            b'x' => {
                let end = digits(at, 2, 16);
                bytes.push(u8::from_str_radix(text.get(at..end).unwrap_or("0"), 16).unwrap_or(0));
                at = end;
            }
            b'0'..=b'7' => {
                let end = digits(at - 1, 3, 8);
                let number = u32::from_str_radix(text.get(at - 1..end).unwrap_or("0"), 8);
                bytes.push(number.unwrap_or(0) as u8);
                at = end;
            }
            b'u' | b'U' => {
                let end = digits(at, if escape == b'u' { 4 } else { 8 }, 16);
                let number = u32::from_str_radix(text.get(at..end).unwrap_or(""), 16);
                let letter = number.ok().and_then(char::from_u32).unwrap_or('?');
                bytes.extend_from_slice(letter.to_string().as_bytes());
                at = end;
            }
            other => bytes.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_first_type_that_holds_them() {
        let of = |text| number(text).map(|(_, scalar)| scalar);
        assert_eq!(of("1"), Some(Scalar::I32));
        assert_eq!(of("2147483648"), Some(Scalar::I64));
        assert_eq!(of("0xffffffff"), Some(Scalar::U32));
        assert_eq!(of("1u"), Some(Scalar::U32));
        assert_eq!(of("1UL"), Some(Scalar::U64));
        assert_eq!(of("1ll"), Some(Scalar::I64));
        assert_eq!(of("1.5f"), Some(Scalar::F32));
        assert_eq!(number("0755"), Some((Literal::Integer(0o755), Scalar::I32)));
        assert_eq!(number("1e3"), Some((Literal::Float(1000.0), Scalar::F64)));
        assert_eq!(number("0x1.8p1"), Some((Literal::Float(3.0), Scalar::F64)));
        assert_eq!(number("08"), None);
    }

    #[test]
    fn escapes_are_what_they_stand_for() {
        let mut bytes = Vec::new();
        unescape(r"a\n\0\x41\101\\\u00e9\", &mut bytes);
        assert_eq!(bytes, b"a\n\0AA\\\xc3\xa9");
    }
}
