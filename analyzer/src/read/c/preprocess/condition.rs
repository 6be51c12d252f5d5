//! The conditions of `#if`.

use super::expansion::Input;
use super::lexer::Kind;
use super::macros::{Macros, Token};
use super::sources::Sources;
use super::{Preprocessor, Stop};

/// How deep a condition may be nested.
const DEPTH: usize = 200;

impl Preprocessor<'_> {
    /// Whether a condition holds. One that is none does not.
    pub(super) fn holds(&mut self, tokens: Vec<Token>) -> Result<bool, Stop> {
        let tokens = self.answered(tokens);
        let tokens = self.replace(tokens, &mut Input::Nothing)?;
        let (sources, macros) = (&self.sources, &self.macros);
        let mut reader = Reader { tokens: &tokens, at: 0, depth: 0, sources, macros };
        let value = reader.conditional().filter(|_| reader.at >= tokens.len());
        Ok(value.is_some_and(Value::is_true))
    }

    /// Puts numbers where it is asked what is defined, before any macro is replaced.
    fn answered(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let mut answered = Vec::with_capacity(tokens.len());
        let mut rest = tokens.as_slice();
        while let Some((token, behind)) = rest.split_first() {
            let (named, behind) = match self.sources.word(token) {
                "defined" if token.kind == Kind::Name => match behind {
                    [open, name, close, others @ ..]
                        if open.kind == Kind::Open && close.kind == Kind::Close =>
                    {
                        (Some(name), others)
                    }
                    [name, others @ ..] => (Some(name), others),
                    [] => (None, behind),
                },
                _ => (None, behind),
            };
            match named {
                Some(name) => {
                    let is_defined = self.macros.find(self.sources.word(name)).is_some();
                    let word = if is_defined { "1" } else { "0" };
                    answered.push(self.sources.make(Kind::Number, token.space, word));
                }
                None => answered.push(*token),
            }
            rest = behind;
        }
        answered
    }
}

/// A number, and whether it is one without a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn signed(bits: i64) -> Value {
        Value { bits, unsigned: false }
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    sources: &'a Sources<'a>,
    macros: &'a Macros,
}

/// How tightly an operator binds.
fn strength(operator: &str) -> Option<u32> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

impl<'a> Reader<'a> {
    fn word(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |token| self.sources.word(token))
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        self.at += usize::from(found);
        found
    }

    fn conditional(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let condition = self.operation(1)?;
        let value = if self.takes("?") {
            let yes = self.conditional()?;
            if !self.takes(":") {
                return None;
            }
            let no = self.conditional()?;
            if condition.is_true() { yes } else { no }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    /// Operators that bind at least so tightly.
    fn operation(&mut self, least: u32) -> Option<Value> {
        let mut left = self.operand()?;
        loop {
            let operator = self.word();
            let Some(strength) = strength(operator).filter(|it| *it >= least) else {
                return Some(left);
            };
            self.at += 1;
            let right = self.operation(strength + 1)?;
            left = apply(operator, left, right);
        }
    }

    fn operand(&mut self) -> Option<Value> {
        let token = *self.tokens.get(self.at)?;
        let word = self.word();
        self.at += 1;
        match token.kind {
            Kind::Number => number(word),
            Kind::Literal => Some(Value::signed(character(word))),
            Kind::Name => Some(self.name(word)),
            Kind::Open => {
                let value = self.conditional()?;
                self.takes(")").then_some(value)
            }
            _ => {
                self.depth += 1;
                if self.depth > DEPTH {
                    return None;
                }
                let value = self.operand()?;
                self.depth -= 1;
                Some(match word {
                    "!" => Value::signed(i64::from(!value.is_true())),
                    "~" => Value { bits: !value.bits, ..value },
                    "-" => Value { bits: value.bits.wrapping_neg(), ..value },
                    "+" => value,
                    _ => return None,
                })
            }
        }
    }

    /// A name that no macro has, which is 0, also where it is used like a function.
    fn name(&mut self, word: &str) -> Value {
        let is_open = |at: usize| self.tokens.get(at).is_some_and(|it| it.kind == Kind::Open);
        if word == "defined" {
            // What a macro asks: its name was replaced already if it has one.
            let asked = self.at + usize::from(is_open(self.at));
            let is_defined = self.tokens.get(asked).is_some_and(|asked| {
                asked.kind != Kind::Name || self.macros.find(self.sources.word(asked)).is_some()
            });
            self.at = asked + 1 + usize::from(is_open(self.at));
            return Value::signed(i64::from(is_defined));
        }
        if is_open(self.at) {
            let mut depth = 0_usize;
            while let Some(token) = self.tokens.get(self.at) {
                self.at += 1;
                match token.kind {
                    Kind::Open => depth += 1,
                    Kind::Close => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
        Value::signed(i64::from(word == "true"))
    }
}

fn apply(operator: &str, left: Value, right: Value) -> Value {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (ua, ub) = (a as u64, b as u64);
    let truth = |it: bool| Value::signed(i64::from(it));
    let whole = |bits: i64| Value { bits, unsigned };
    let less = if unsigned { ua < ub } else { a < b };
    match operator {
        "||" => truth(left.is_true() || right.is_true()),
        "&&" => truth(left.is_true() && right.is_true()),
        "|" => whole(a | b),
        "^" => whole(a ^ b),
        "&" => whole(a & b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<" => truth(less),
        ">=" => truth(!less),
        ">" => truth(!less && a != b),
        "<=" => truth(less || a == b),
        "<<" => Value { bits: a.checked_shl(b as u32).unwrap_or(0), ..left },
        ">>" if left.unsigned => {
            Value { bits: ua.checked_shr(b as u32).unwrap_or(0) as i64, ..left }
        }
        ">>" => {
            Value { bits: a.checked_shr(b as u32).unwrap_or(if a < 0 { -1 } else { 0 }), ..left }
        }
        "+" => whole(a.wrapping_add(b)),
        "-" => whole(a.wrapping_sub(b)),
        "*" => whole(a.wrapping_mul(b)),
        "/" if unsigned => whole(ua.checked_div(ub).unwrap_or(0) as i64),
        "/" => whole(a.checked_div(b).unwrap_or(0)),
        "%" if unsigned => whole(ua.checked_rem(ub).unwrap_or(0) as i64),
        _ => whole(a.checked_rem(b).unwrap_or(0)),
    }
}

/// A number as C writes it.
fn number(word: &str) -> Option<Value> {
    let plain: String = word.chars().filter(|letter| *letter != '\'').collect();
    let lower = plain.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    let end = digits.find(|letter: char| !letter.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    if !suffix.chars().all(|letter| matches!(letter, 'u' | 'l' | 'z')) {
        return None;
    }
    // "0" and "0u" have no digits left, nor need they.
    let value = if digits.is_empty() { 0 } else { u64::from_str_radix(digits, radix).ok()? };
    let unsigned = suffix.contains('u') || value > i64::MAX as u64;
    Some(Value { bits: value as i64, unsigned })
}

/// The number of a character.
fn character(word: &str) -> i64 {
    let inside = word.trim_start_matches(|letter: char| letter != '\'').trim_matches('\'');
    let mut letters = inside.chars();
    match (letters.next(), letters.next()) {
        (Some('\\'), Some(escaped)) => match escaped {
            'n' => 10,
            't' => 9,
            'r' => 13,
            '0'..='7' => i64::from_str_radix(&inside[1..], 8).unwrap_or(0),
            'x' => i64::from_str_radix(&inside[2..], 16).unwrap_or(0),
            other => i64::from(u32::from(other)),
        },
        (Some(letter), _) => i64::from(u32::from(letter)),
        (None, _) => 0,
    }
}
