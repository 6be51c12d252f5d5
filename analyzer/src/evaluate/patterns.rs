//! Patterns: whether a value matches, and what is bound where it does.

use super::identity::{Identity, negation};
use super::machine::{Machine, Outcome};
use super::operators::truth;
use super::places::Target;
use super::value::{Items, Path, Sequence, Step, Unknown, Value};
use crate::program::{Binary, DefinitionId, Expression, FieldPattern, Pattern, Place, Type};

/// Whether a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Matched {
    Yes,
    No,
    /// If this holds.
    If(Unknown),
}

/// What is taken apart.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    target: Target,
    /// Reached through a reference: what is bound refers to it.
    borrowed: bool,
}

impl From<Target> for Subject {
    fn from(target: Target) -> Self {
        Subject { target, borrowed: false }
    }
}

impl Subject {
    /// The same, only borrowed.
    pub(super) fn borrowed(self) -> Self {
        Subject { borrowed: true, ..self }
    }
}

impl Machine<'_> {
    /// Whether a pattern matches. Nothing is bound or moved.
    pub(super) fn test(
        &mut self,
        pattern: &Pattern,
        subject: &Subject,
        place: Place,
    ) -> Outcome<Matched> {
        match pattern {
            Pattern::Wildcard | Pattern::Rest | Pattern::Variable(_, None) => Ok(Matched::Yes),
            Pattern::Variable(_, Some(inner)) => self.test(inner, subject, place),
            Pattern::Reference(inner) => self.test(inner, &self.behind_subject(subject), place),
            Pattern::Or(parts) => {
                let mut none = Value::bool(true);
                for part in parts {
                    let matched = self.test(part, subject, place)?;
                    if matched == Matched::Yes {
                        return Ok(Matched::Yes);
                    }
                    let not = self.not(&value_of(matched));
                    none = self.binary(Binary::And, &none, &not, &Type::Unknown, place)?;
                }
                Ok(self.matched(&self.not(&none)))
            }
            Pattern::Unknown => Ok(Matched::If(self.fresh_unknown())),
            Pattern::Value(expression) => {
                let expected = self.evaluate(expression)?;
                let value = self.value_at(subject);
                let equal = self.equal(&value, &expected);
                Ok(self.matched(&equal))
            }
            Pattern::Range(start, end, inclusive) => {
                let ends = (start.as_deref(), end.as_deref(), *inclusive);
                self.test_range(ends, subject, place)
            }
            Pattern::Tuple(parts) => {
                let subject = self.behind_subject(subject);
                let length = match self.value_at(&subject) {
                    Value::Tuple(values) => values.len(),
                    Value::Unknown(_, Type::Tuple(types)) => types.len(),
                    _ => parts.len(),
                };
                self.test_row(
                    parts,
                    &subject,
                    length as u64,
                    |index| Step::Field(index as u32),
                    place,
                )
            }
            Pattern::Slice(parts) => self.test_slice(parts, subject, place),
            Pattern::Defined { definition, variant, fields } => {
                self.test_defined(*definition, *variant, fields, subject, place)
            }
            Pattern::External(name, parts) => self.test_external(name, parts, subject, place),
        }
    }

    fn test_range(
        &mut self,
        (start, end, inclusive): (Option<&Expression>, Option<&Expression>, bool),
        subject: &Subject,
        place: Place,
    ) -> Outcome<Matched> {
        let value = self.value_at(subject);
        let mut holds = Value::bool(true);
        for (bound, operation) in [
            (start, Binary::GreaterOrEqual),
            (end, if inclusive { Binary::LessOrEqual } else { Binary::Less }),
        ] {
            let Some(bound) = bound else { continue };
            let bound = self.evaluate(bound)?;
            let within = self.binary(operation, &value, &bound, &Type::Unknown, place)?;
            holds = self.binary(Binary::And, &holds, &within, &Type::Unknown, place)?;
        }
        Ok(self.matched(&holds))
    }

    /// Patterns side by side, of which one may be `..`.
    fn test_row(
        &mut self,
        parts: &[Pattern],
        subject: &Subject,
        length: u64,
        step: impl Fn(u64) -> Step,
        place: Place,
    ) -> Outcome<Matched> {
        let mut all = Matched::Yes;
        for (part, index) in positions(parts, length) {
            let Some(index) = index else { continue };
            let part_subject = self.part_of(subject, &step(index));
            let matched = self.test(part, &part_subject, place)?;
            all = self.and(all, matched);
            if all == Matched::No {
                break;
            }
        }
        Ok(all)
    }

    fn test_slice(
        &mut self,
        parts: &[Pattern],
        subject: &Subject,
        place: Place,
    ) -> Outcome<Matched> {
        let subject = self.behind_subject(subject);
        let value = self.value_at(&subject);
        let Value::Sequence(Sequence { items: Items::Each(items), .. }) = &value else {
            let mut identity = Identity::of("has this length");
            identity.number(parts.len() as u64);
            identity.unknown(self.identity(&value));
            return Ok(Matched::If(identity.finish()));
        };
        let (length, wanted) = (items.len(), parts.len());
        let has_rest = parts.iter().any(is_rest);
        if if has_rest { length + 1 < wanted } else { length != wanted } {
            return Ok(Matched::No);
        }
        self.test_row(parts, &subject, length as u64, Step::Element, place)
    }

    fn test_defined(
        &mut self,
        definition: DefinitionId,
        variant: u32,
        fields: &[FieldPattern],
        subject: &Subject,
        place: Place,
    ) -> Outcome<Matched> {
        let subject = self.behind_subject(subject);
        let mut all = match self.value_at(&subject) {
            Value::Defined { definition: found, variant: other, .. } if found == definition => {
                if other != variant {
                    return Ok(Matched::No);
                }
                Matched::Yes
            }
            value if self.program.definition(definition).is_enum => {
                let is = |value: &Value| match value {
                    Value::Defined { definition: found, variant: other, .. } => {
                        (*found == definition).then_some(*other == variant)
                    }
                    _ => None,
                };
                if let Some(decided) = self.decided(&value, &is)
                    && (fields.is_empty() || decided == Matched::No)
                {
                    return Ok(decided);
                }
                let mut identity = Identity::of("is variant");
                identity.number(u64::from(variant));
                identity.unknown(self.identity(&value));
                Matched::If(identity.finish())
            }
            _ => Matched::Yes,
        };
        for field in fields {
            let part = self.defined_part(&subject, definition, variant, &field.name);
            let matched = self.test(&field.pattern, &part, place)?;
            all = self.and(all, matched);
        }
        Ok(all)
    }

    fn test_external(
        &mut self,
        name: &str,
        parts: &[Pattern],
        subject: &Subject,
        place: Place,
    ) -> Outcome<Matched> {
        let subject = self.behind_subject(subject);
        let value = self.value_at(&subject);
        let mut all = match &value {
            Value::Variant(found, values) => {
                if *found != name {
                    return Ok(Matched::No);
                }
                let count = values.len() as u64;
                return self.test_row(parts, &subject, count, |it| Step::Field(it as u32), place);
            }
            value => {
                let is = |value: &Value| match value {
                    Value::Variant(found, _) => Some(*found == name),
                    _ => None,
                };
                let decided = self.decided(value, &is);
                decided.unwrap_or_else(|| Matched::If(self.is_variant(name, value)))
            }
        };
        if all == Matched::No {
            return Ok(Matched::No);
        }
        for (number, part) in parts.iter().enumerate() {
            let payload = self.payload(&value, name, number);
            let matched = self.test(part, &Target::Value(payload).into(), place)?;
            all = self.and(all, matched);
        }
        Ok(all)
    }

    /// The condition that a value is this variant of a library's enum. `Some` and `None`, `Ok` and
    /// `Err` are each other's negation.
    pub(super) fn is_variant(&self, name: &str, value: &Value) -> Unknown {
        let is = |name: &str| {
            let mut identity = Identity::of("is");
            identity.text(name);
            identity.unknown(self.identity(value));
            identity.finish()
        };
        match name {
            "None" => negation(is("Some")),
            "Err" => negation(is("Ok")),
            name => is(name),
        }
    }

    /// What a variant holds of which only this is known that it is the one.
    pub(super) fn payload(&mut self, value: &Value, name: &str, number: usize) -> Value {
        if let Some(Some(held)) = self.held(value, name, number) {
            return held;
        }
        let ty = match self.type_of(value).behind_references() {
            Type::External(outer, arguments) => match (&**outer, name) {
                ("Option" | "Poll" | "Result", "Some" | "Ready" | "Ok") => {
                    arguments.first().cloned()
                }
                ("Result", "Err") => arguments.get(1).cloned(),
                _ => None,
            },
            _ => None,
        };
        let ty = ty.unwrap_or_default();
        self.computed(&format!("{name}.{number}"), &[value], ty)
    }

    /// Binds a pattern that matches.
    pub(super) fn bind(
        &mut self,
        pattern: &Pattern,
        subject: &Subject,
        place: Place,
    ) -> Outcome<()> {
        match pattern {
            Pattern::Variable(variable, inner) => {
                if let Some(inner) = inner {
                    let borrowed = Subject { borrowed: true, ..subject.clone() };
                    self.bind(inner, &borrowed, place)?;
                }
                let value = self.bound_value(subject, place);
                let object = self.state.variable(*variable);
                self.note_access(&Path::whole(object), true, place);
                self.put(&Path::whole(object), value);
                if !self.state.declared.contains(&object) {
                    self.state.declared.push(object);
                }
                Ok(())
            }
            Pattern::Reference(inner) => self.bind(inner, &self.unborrowed(subject), place),
            Pattern::Or(parts) => {
                // The one that matches, or the first that may.
                for part in parts {
                    if self.test(part, subject, place)? != Matched::No {
                        return self.bind(part, subject, place);
                    }
                }
                Ok(())
            }
            Pattern::Tuple(parts) => {
                let subject = self.behind_subject(subject);
                let length = match self.value_at(&subject) {
                    Value::Tuple(values) => values.len(),
                    _ => parts.len(),
                };
                self.bind_row(parts, &subject, length as u64, |it| Step::Field(it as u32), place)
            }
            Pattern::Slice(parts) => {
                let subject = self.behind_subject(subject);
                let length = match self.value_at(&subject) {
                    Value::Sequence(Sequence { items: Items::Each(items), .. }) => items.len(),
                    _ => parts.len(),
                };
                self.bind_row(parts, &subject, length as u64, Step::Element, place)
            }
            Pattern::Defined { definition, variant, fields } => {
                let subject = self.behind_subject(subject);
                for field in fields {
                    let part = self.defined_part(&subject, *definition, *variant, &field.name);
                    self.bind(&field.pattern, &part, place)?;
                }
                Ok(())
            }
            Pattern::External(name, parts) => {
                let subject = self.behind_subject(subject);
                let value = self.value_at(&subject);
                if let Value::Variant(..) | Value::Tuple(_) = value {
                    let count = parts.len() as u64;
                    return self.bind_row(
                        parts,
                        &subject,
                        count,
                        |it| Step::Field(it as u32),
                        place,
                    );
                }
                for (number, part) in parts.iter().enumerate() {
                    let payload = self.payload(&value, name, number);
                    self.bind(part, &Target::Value(payload).into(), place)?;
                }
                Ok(())
            }
            Pattern::Wildcard
            | Pattern::Value(_)
            | Pattern::Range(..)
            | Pattern::Rest
            | Pattern::Unknown => Ok(()),
        }
    }

    fn bind_row(
        &mut self,
        parts: &[Pattern],
        subject: &Subject,
        length: u64,
        step: impl Fn(u64) -> Step,
        place: Place,
    ) -> Outcome<()> {
        let rest = length.saturating_sub(parts.len().saturating_sub(1) as u64);
        for (number, (part, index)) in positions(parts, length).into_iter().enumerate() {
            let step = match index {
                Some(index) => step(index),
                None => Step::Slice(number as u64, number as u64 + rest),
            };
            let part_subject = self.part_of(subject, &step);
            match part {
                Pattern::Variable(variable, Some(inner)) if is_rest(inner) => {
                    let plain = Pattern::Variable(*variable, None);
                    self.bind(&plain, &part_subject, place)?;
                }
                part if is_rest(part) => {}
                part => self.bind(part, &part_subject, place)?,
            }
        }
        Ok(())
    }

    /// Binds a pattern that always matches to a value; what is left of the value is dropped.
    pub(super) fn bind_always(
        &mut self,
        pattern: &Pattern,
        value: Value,
        place: Place,
    ) -> Outcome<()> {
        if matches!(pattern, Pattern::Wildcard) {
            return self.drop_value(value, place);
        }
        if !matches!(pattern, Pattern::Variable(_, None)) && self.is_owned(&value) {
            // Parts are moved out of it one by one.
            let path = self.drop_at_end_of_scope(value);
            return self.bind(pattern, &Target::Path(path).into(), place);
        }
        self.bind(pattern, &Target::Value(value).into(), place)
    }

    /// The value that a variable gets.
    fn bound_value(&mut self, subject: &Subject, place: Place) -> Value {
        match (&subject.target, subject.borrowed) {
            (Target::Path(path), true) => match self.peek(path) {
                reference @ Value::Reference(_) => reference,
                _ => Value::Reference(path.clone()),
            },
            (Target::Path(path), false) => self.take(path, place),
            (Target::Value(value), _) => value.clone(),
        }
    }

    /// The value that is tested.
    pub(super) fn value_at(&mut self, subject: &Subject) -> Value {
        match &subject.target {
            Target::Path(path) => self.peek(path),
            Target::Value(value) => value.clone(),
        }
    }

    /// Past references: what is bound from there on is borrowed.
    fn behind_subject(&self, subject: &Subject) -> Subject {
        let path = match &subject.target {
            Target::Path(path) => match self.peek_at(path) {
                Value::Reference(path) => path,
                _ => return subject.clone(),
            },
            Target::Value(Value::Reference(path)) => path.clone(),
            Target::Value(_) => return subject.clone(),
        };
        Subject { target: Target::Path(self.end_of(path)), borrowed: true }
    }

    /// Past one `&` of a pattern: what is bound from there on is copied.
    fn unborrowed(&self, subject: &Subject) -> Subject {
        let behind = self.behind_subject(subject);
        Subject { borrowed: false, ..behind }
    }

    fn part_of(&mut self, subject: &Subject, step: &Step) -> Subject {
        let target = match &subject.target {
            Target::Path(path) => Target::Path(path.child(step.clone())),
            Target::Value(value) => Target::Value(self.part(value, step)),
        };
        Subject { target, borrowed: subject.borrowed }
    }

    fn defined_part(
        &mut self,
        subject: &Subject,
        definition: DefinitionId,
        variant: u32,
        name: &str,
    ) -> Subject {
        let value = self.value_at(subject);
        let index = self.field_number(definition, variant, name).unwrap_or(0);
        if matches!(value, Value::Defined { .. }) {
            return self.part_of(subject, &Step::Field(index));
        }
        let fields = self.program.definition(definition).variants.get(variant as usize);
        let field = fields.and_then(|variant| variant.fields.get(index as usize));
        let ty = field.map(|(_, ty)| ty.clone()).unwrap_or_default();
        let part = self.computed(&format!("{variant}.{index}"), &[&value], ty);
        Target::Value(part).into()
    }

    /// What a truth value says of a match.
    pub(super) fn matched(&self, value: &Value) -> Matched {
        match value.as_bool() {
            Some(true) => Matched::Yes,
            Some(false) => Matched::No,
            None => Matched::If(self.identity(value)),
        }
    }

    /// Both must match.
    pub(super) fn and(&mut self, one: Matched, other: Matched) -> Matched {
        match (one, other) {
            (Matched::Yes, other) | (other, Matched::Yes) => other,
            (Matched::No, _) | (_, Matched::No) => Matched::No,
            (Matched::If(one), Matched::If(other)) => {
                let mut identity = Identity::of("and");
                identity.unknown(one);
                identity.unknown(other);
                Matched::If(identity.finish())
            }
        }
    }
}

fn value_of(matched: Matched) -> Value {
    match matched {
        Matched::Yes => Value::bool(true),
        Matched::No => Value::bool(false),
        Matched::If(condition) => truth(condition),
    }
}

fn is_rest(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Rest => true,
        Pattern::Variable(_, Some(inner)) => is_rest(inner),
        _ => false,
    }
}

/// Which element each pattern is for; `None` for `..`.
fn positions(parts: &[Pattern], length: u64) -> Vec<(&Pattern, Option<u64>)> {
    let rest = parts.iter().position(is_rest);
    let after = |index: usize| length.saturating_sub((parts.len() - index) as u64);
    let positions = parts.iter().enumerate().map(|(index, part)| match rest {
        Some(rest) if index == rest => (part, None),
        Some(rest) if index > rest => (part, Some(after(index))),
        _ => (part, Some(index as u64)),
    });
    positions.collect()
}
