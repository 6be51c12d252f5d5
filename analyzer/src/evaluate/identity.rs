//! Who is who among values that are not known: identities, and the values made of them.
//!
//! An identity is a hash of where a value comes from. It depends on nothing but the program and
//! what is known, so that all ranks, and every run of the checker, come to the same.

use std::rc::Rc;

use super::alike::{Hashes, Number};
use super::handle::{Handle, Status};
use super::iterator::Lazy;
use super::machine::Machine;
use super::value::{Constant, Content, Items, Length, Sequence, Unknown, Value};
use crate::program::{Scalar, Type};

/// References that are followed into each other, at most.
const DEEPEST: u32 = 8;

/// An identity in the making.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    hash: u64,
    uniform: bool,
    elsewhere: Hashes,
}

impl Identity {
    /// Begins with the name of a computation.
    #[inline]
    pub(super) fn of(what: &str) -> Self {
        let hash = with_text(0xcbf2_9ce4_8422_2325, what);
        Identity { hash, uniform: true, elsewhere: Hashes::default() }
    }

    /// What it has come to.
    pub(super) fn finish(self) -> Unknown {
        // The lowest bit says "not": see `negation`.
        let (identity, uniform) = (self.hash & !1, self.uniform);
        let elsewhere = self.elsewhere.of_unknown(identity, uniform);
        Unknown { identity, uniform, elsewhere }
    }

    /// The same of what is known: it is only taken into other identities.
    fn finish_known(self) -> Unknown {
        let (identity, uniform) = (self.hash & !1, self.uniform);
        Unknown { identity, uniform, elsewhere: self.elsewhere.of_known() }
    }

    /// Takes a number in.
    pub(super) fn number(&mut self, number: u64) {
        self.elsewhere.take_same(|hash| mixed(hash, number));
        self.hash = mixed(self.hash, number);
    }

    /// Takes in a number that may be another one on other ranks.
    fn known(&mut self, number: Number) {
        self.elsewhere.take_number(self.hash, number, mixed);
        self.hash = number.halves().into_iter().fold(self.hash, mixed);
    }

    /// Takes a text in.
    pub(super) fn text(&mut self, text: &str) {
        self.elsewhere.take_same(|hash| with_text(hash, text));
        self.hash = with_text(self.hash, text);
    }

    /// Takes an unknown value in.
    pub(super) fn unknown(&mut self, unknown: Unknown) {
        let Unknown { identity, uniform, elsewhere } = unknown;
        self.elsewhere.take_identity(self.hash, (identity, elsewhere), mixed);
        self.hash = mixed(self.hash, identity);
        self.uniform &= uniform;
    }

    /// From here on it is not the same on every rank.
    pub(super) fn not_uniform(&mut self) {
        self.uniform = false;
    }
}

#[inline]
fn with_text(hash: u64, text: &str) -> u64 {
    let hash = mixed(hash, text.len() as u64);
    text.as_bytes().chunks(8).fold(hash, |hash, part| {
        let mut bytes = [0; 8];
        bytes[..part.len()].copy_from_slice(part);
        mixed(hash, u64::from_le_bytes(bytes))
    })
}

#[inline]
fn mixed(hash: u64, number: u64) -> u64 {
    let mixed = (hash ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 32)).rotate_left(5)
}

/// The identity of `!condition`; the negation of the negation is the condition.
pub(super) fn negation(condition: Unknown) -> Unknown {
    Unknown { identity: condition.identity ^ 1, ..condition }
}

impl Machine<'_> {
    /// Any value's identity, and whether it is uniform. What is known counts as uniform: ranks on
    /// which it differs get another identity.
    pub(super) fn identity(&self, value: &Value) -> Unknown {
        match value {
            Value::Unknown(unknown, _) | Value::Scalar(_, Content::Unknown(unknown)) => {
                self.state.mpi.as_shared(*unknown)
            }
            _ => {
                let mut identity = Identity::of("value");
                self.mix(&mut identity, value, DEEPEST);
                identity.finish_known()
            }
        }
    }

    fn mix(&self, identity: &mut Identity, value: &Value, depth: u32) {
        match value {
            Value::Unknown(unknown, _) => identity.unknown(*unknown),
            Value::Scalar(_, content) => mix_content(identity, *content),
            Value::Text(Some(text)) => identity.text(text),
            Value::Tuple(parts) => self.mix_all(identity, "tuple", parts, depth),
            Value::Defined { definition, variant, fields } => {
                identity.number(u64::from(definition.0) << 32 | u64::from(*variant));
                self.mix_all(identity, "defined", fields, depth);
            }
            Value::Variant(name, parts) => self.mix_all(identity, name, parts, depth),
            Value::Sequence(Sequence { items: Items::Each(items), .. }) => {
                self.mix_all(identity, "items", items, depth);
            }
            Value::Sequence(Sequence { items: Items::Alike(item, length), .. }) => {
                match length {
                    Length::Known(length) => identity.number(*length),
                    Length::Unknown(unknown) => identity.unknown(*unknown),
                }
                self.mix(identity, item, depth);
            }
            Value::Reference(path) if depth > 0 => {
                let behind = self.peek_at(path);
                self.mix(identity, &behind, depth - 1);
            }
            Value::Iterator(lazy) => self.mix_lazy(identity, lazy, depth),
            Value::Map(map) => match &map.entries {
                super::map::Entries::Unknown(unknown) => identity.unknown(*unknown),
                super::map::Entries::Known(entries) => {
                    identity.number(entries.len() as u64);
                    for (key, path) in entries.iter() {
                        self.mix(identity, key, depth);
                        let value = Value::Reference(path.clone());
                        self.mix(identity, &value, depth);
                    }
                }
            },
            Value::Function(function, _) => identity.number(u64::from(function.0)),
            Value::Closure(closure, _) => identity.number(u64::from(closure.body.place.0)),
            Value::External(path, _) => path.iter().for_each(|part| identity.text(part)),
            Value::Handle(handle) => mix_handle(identity, handle),
            Value::Moved => {
                identity.text("moved");
                identity.not_uniform();
            }
            _ => identity.not_uniform(),
        }
    }

    /// Takes in numbers, each by who it is.
    pub(super) fn mix_contents(
        &self,
        identity: &mut Identity,
        contents: impl Iterator<Item = Content>,
    ) {
        for content in contents {
            match content {
                Content::Unknown(unknown) => {
                    identity.unknown(self.state.mpi.as_shared(unknown));
                }
                known => mix_content(identity, known),
            }
        }
    }

    fn mix_all(&self, identity: &mut Identity, name: &str, parts: &[Value], depth: u32) {
        identity.text(name);
        identity.number(parts.len() as u64);
        parts.iter().for_each(|part| self.mix(identity, part, depth));
    }

    fn mix_lazy(&self, identity: &mut Identity, lazy: &Lazy, depth: u32) {
        // Iterators but ranges are seldom asked for: what they are made of is told by how they print.
        if let Lazy::Range { end, .. } = lazy {
            identity.text(if end.is_some() { "range" } else { "endless range" });
        } else {
            let text = format!("{lazy:?}");
            if text.contains("uniform: false") {
                identity.not_uniform();
            }
            identity.text(&text);
        }
        let mut values = Vec::new();
        values_of(lazy, &mut values);
        values.into_iter().for_each(|value| self.mix(identity, value, depth));
    }

    /// A value that is the same wherever the same computation has the same inputs: `what` names the
    /// computation. Uniform if all inputs are.
    pub(super) fn computed(&mut self, what: &str, inputs: &[&Value], ty: Type) -> Value {
        let mut identity = Identity::of(what);
        for input in inputs {
            identity.unknown(self.identity(input));
        }
        let result = identity.finish();
        if result.uniform && matches!(ty, Type::Scalar(_)) {
            self.keep_method(result, what, inputs);
        }
        self.unknown(result, &ty)
    }

    /// A value that nobody knows and that no other is equal to.
    pub(super) fn fresh(&mut self, ty: Type) -> Value {
        let unknown = self.fresh_unknown();
        self.unknown(unknown, &ty)
    }

    /// An identity of its own.
    pub(super) fn fresh_unknown(&mut self) -> Unknown {
        self.made += 1;
        let mut identity = Identity::of("fresh");
        // Whoever does the same has others, which differ in the same way.
        identity.number(self.rank.here() as u64);
        identity.number(self.made);
        identity.not_uniform();
        identity.finish()
    }

    /// A value that nobody knows, but that is the same on every rank that asks with the same words.
    pub(super) fn uniform(&mut self, what: &str, ty: Type) -> Value {
        self.unknown(Identity::of(what).finish(), &ty)
    }

    /// A value of a type that has this identity. What is known of a type's shape is there: a tuple
    /// has its parts, a scalar its type.
    pub(super) fn unknown(&self, unknown: Unknown, ty: &Type) -> Value {
        let part = |name: &str, number: usize| {
            let mut identity = Identity::of(name);
            identity.number(number as u64);
            identity.unknown(unknown);
            identity.finish()
        };
        match ty {
            Type::Scalar(scalar) => Value::Scalar(*scalar, Content::Unknown(unknown)),
            Type::Tuple(parts) => {
                let parts = parts.iter().enumerate();
                let parts = parts.map(|(number, ty)| self.unknown(part("part", number), ty));
                Value::Tuple(Rc::new(parts.collect()))
            }
            Type::Array(element, length) => {
                let length = length.map_or(Length::Unknown(part("length", 0)), Length::Known);
                self.unknown_sequence(part("element", 0), element, length)
            }
            Type::Slice(element) => self.unknown_sequence(
                part("element", 0),
                element,
                Length::Unknown(part("length", 0)),
            ),
            Type::External(name, arguments) if matches!(&**name, "Vec" | "VecDeque") => {
                let element = arguments.first().unwrap_or(&Type::Unknown);
                self.unknown_sequence(
                    part("element", 0),
                    element,
                    Length::Unknown(part("length", 0)),
                )
            }
            Type::Defined(definition, _)
                if self.is_c()
                    && !self.program.definition(*definition).is_enum
                    && self.program.can_be_taken_apart(ty) =>
            {
                let fields = &self.program.definition(*definition).variants[0].fields;
                let fields = fields.iter().enumerate();
                let fields =
                    fields.map(|(number, (_, ty))| self.unknown(part("field", number), ty));
                let fields = Rc::new(fields.collect());
                Value::Defined { definition: *definition, variant: 0, fields }
            }
            Type::External(name, arguments) if matches!(&**name, "Box") && arguments.len() == 1 => {
                self.unknown(unknown, &arguments[0])
            }
            _ => Value::Unknown(unknown, ty.clone()),
        }
    }

    fn unknown_sequence(&self, item: Unknown, element: &Type, length: Length) -> Value {
        let item = Rc::new(self.unknown(item, element));
        Value::Sequence(Sequence { element: element.clone(), items: Items::Alike(item, length) })
    }
}

fn mix_content(identity: &mut Identity, content: Content) {
    match content {
        Content::Unknown(unknown) => identity.unknown(unknown),
        Content::Known(Constant::Integer(number)) => identity.known(number),
        Content::Known(Constant::Float(number)) => identity.known(number.bits()),
        Content::Known(Constant::Bool(value)) => identity.number(2 + u64::from(value)),
        Content::Known(Constant::Char(value)) => identity.number(u64::from(u32::from(value))),
    }
}

fn mix_handle(identity: &mut Identity, handle: &Handle) {
    match handle {
        Handle::Communicator(communicator) => {
            identity.text("communicator");
            match &communicator.known {
                Some(known) => identity.number(u64::from(known.id)),
                None => identity.not_uniform(),
            }
        }
        Handle::Requests(requests) => {
            identity.text("requests");
            [requests.each.len(), requests.complete, requests.told]
                .iter()
                .for_each(|&number| identity.number(number as u64));
            identity.not_uniform();
        }
        Handle::Status(Status { slot, communicator, source, tag }) => {
            identity.text("status");
            let known = communicator.as_ref().and_then(|communicator| communicator.known.as_ref());
            let number = |part: Option<i64>| part.map_or(u64::MAX, i64::cast_unsigned);
            identity.number(number(slot.map(i64::from)));
            identity.number(number(known.map(|known| i64::from(known.id))));
            match source {
                Some(source) => identity.known(*source),
                None => identity.number(u64::MAX),
            }
            identity.number(number(tag.map(i64::from)));
            identity.not_uniform();
        }
        Handle::Request(request) => {
            identity.text("request");
            let pool = request.pool.as_deref().unwrap_or_default();
            for request in request.id.iter().chain(pool) {
                identity.number(u64::from(*request));
            }
            identity.number(u64::from(request.place.0));
            identity.not_uniform();
        }
        other => {
            identity.text(&format!("{other:?}"));
            identity.not_uniform();
        }
    }
}

/// The values that an iterator holds.
pub(super) fn values_of<'v>(lazy: &'v Lazy, found: &mut Vec<&'v Value>) {
    lazy.for_each_value(&mut |value| found.push(value));
}

/// The type of whole numbers whose type is not known: no datatype of MPI is like it.
pub(super) const SOME_INTEGER: Scalar = Scalar::I128;
