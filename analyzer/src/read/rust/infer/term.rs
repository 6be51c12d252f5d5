//! Terms: types with parts that are not known yet, and what happens when two of them turn out to be
//! the same.
//!
//! Here is no syntax and no library, only equality. Two terms that cannot be the same are both in
//! conflict, and a term in conflict is of unknown type for good. A term that anything unknown had a
//! part in is *doubtful*: it may still become known, but no default is chosen for it.

use std::sync::Arc;

use crate::program::{DefinitionId, Scalar, Type};

/// A term: an index into [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TermId(pub(super) u32);

/// What a term may become that is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any type.
    Any,
    /// Some whole number: a literal without a suffix.
    Integer,
    /// Some number with a fraction.
    Float,
}

/// What a term is at its head; what it is made of are its parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A number, a truth value, a character.
    Scalar(Scalar),
    /// `str`, `String`.
    Text,
    /// Never returns.
    Never,
    /// Parts: the elements.
    Tuple,
    /// Part: the element.
    Array(Option<u64>),
    /// Part: the element.
    Slice,
    /// Part: what it refers to.
    Reference,
    /// Parts: the generic arguments.
    Defined(DefinitionId),
    /// Parts: the generic arguments, as far as they are known.
    External(Arc<str>),
    /// A generic parameter of the function that is looked at.
    Parameter(Arc<str>),
    /// A number that a generic parameter stands for.
    Number(i128),
    /// `impl Trait`, `dyn Trait`.
    Trait(Arc<[String]>),
    /// Parts: the parameters, and the result as the last one.
    Function,
}

/// The parts of a term.
pub(super) type Parts = Arc<[TermId]>;

#[derive(Debug)]
enum Slot {
    /// The same as another one.
    Same(TermId),
    /// Not known yet, and which questions wait for it.
    Open(Kind, Vec<u32>),
    /// Known at its head.
    Known(Shape, Parts),
    /// Was two types at once.
    Conflict,
}

#[derive(Debug)]
struct Entry {
    slot: Slot,
    doubtful: bool,
}

/// What a term is at the moment.
#[derive(Clone, Debug)]
pub(super) enum View {
    /// Not known yet.
    Open(Kind),
    /// Known at its head.
    Known(Shape, Parts),
    /// Unknown for good.
    Conflict,
}

/// All terms of one body.
#[derive(Debug, Default)]
pub(super) struct Terms {
    entries: Vec<Entry>,
    /// The questions whose terms have become known.
    woken: Vec<u32>,
}

/// How deep and how large a type may be; of larger ones the rest is unknown.
const DEPTH: u32 = 24;
const SIZE: u32 = 256;

impl Terms {
    fn add(&mut self, slot: Slot, doubtful: bool) -> TermId {
        let id = TermId(u32::try_from(self.entries.len()).expect("fewer terms than bytes of text"));
        self.entries.push(Entry { slot, doubtful });
        id
    }

    /// A term that may become anything of its kind.
    pub(super) fn open(&mut self, kind: Kind) -> TermId {
        self.add(Slot::Open(kind, Vec::new()), false)
    }

    /// A term of which nothing is known.
    pub(super) fn doubtful(&mut self) -> TermId {
        self.add(Slot::Open(Kind::Any, Vec::new()), true)
    }

    /// A term that is known at its head.
    pub(super) fn known(&mut self, shape: Shape, parts: &[TermId]) -> TermId {
        self.add(Slot::Known(shape, parts.into()), false)
    }

    /// A reference to it.
    pub(super) fn reference(&mut self, to: TermId) -> TermId {
        self.known(Shape::Reference, &[to])
    }

    /// A number, a truth value, a character.
    pub(super) fn scalar(&mut self, scalar: Scalar) -> TermId {
        self.known(Shape::Scalar(scalar), &[])
    }

    /// The unit.
    pub(super) fn unit(&mut self) -> TermId {
        self.known(Shape::Tuple, &[])
    }

    /// A library's type.
    pub(super) fn external(&mut self, name: &str, parts: &[TermId]) -> TermId {
        self.known(Shape::External(name.into()), parts)
    }

    /// The term that stands for it and for all that are the same.
    pub(super) fn find(&mut self, mut id: TermId) -> TermId {
        while let Slot::Same(next) = self.entries[id.0 as usize].slot {
            if let Slot::Same(after) = self.entries[next.0 as usize].slot {
                self.entries[id.0 as usize].slot = Slot::Same(after);
            }
            id = next;
        }
        id
    }

    fn entry(&mut self, id: TermId) -> &mut Entry {
        let root = self.find(id);
        &mut self.entries[root.0 as usize]
    }

    /// What it is at the moment.
    pub(super) fn view(&mut self, id: TermId) -> View {
        match &self.entry(id).slot {
            Slot::Open(kind, _) => View::Open(*kind),
            Slot::Known(shape, parts) => View::Known(shape.clone(), parts.clone()),
            Slot::Conflict | Slot::Same(_) => View::Conflict,
        }
    }

    /// Its head and its parts, if they are known.
    pub(super) fn shape(&mut self, id: TermId) -> Option<(Shape, Parts)> {
        match self.view(id) {
            View::Known(shape, parts) => Some((shape, parts)),
            View::Open(_) | View::Conflict => None,
        }
    }

    /// What it refers to, if it is known to be a reference.
    pub(super) fn referent(&mut self, id: TermId) -> Option<TermId> {
        match self.shape(id)? {
            (Shape::Reference, parts) => parts.first().copied(),
            _ => None,
        }
    }

    /// What is behind all references, as far as they are known.
    pub(super) fn behind_references(&mut self, mut id: TermId) -> TermId {
        for _ in 0..DEPTH {
            match self.referent(id) {
                Some(inner) => id = inner,
                None => break,
            }
        }
        id
    }

    /// Whether it never returns.
    pub(super) fn is_never(&mut self, id: TermId) -> bool {
        matches!(self.entry(id).slot, Slot::Known(Shape::Never, _))
    }

    /// Whether it is not known yet.
    pub(super) fn is_open(&mut self, id: TermId) -> bool {
        matches!(self.entry(id).slot, Slot::Open(..))
    }

    /// Whether anything unknown had a part in it.
    pub(super) fn is_doubtful(&mut self, id: TermId) -> bool {
        let entry = self.entry(id);
        entry.doubtful || matches!(entry.slot, Slot::Conflict)
    }

    /// Something unknown has a part in it.
    pub(super) fn doubt(&mut self, id: TermId) {
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            let entry = self.entry(id);
            if std::mem::replace(&mut entry.doubtful, true) {
                continue;
            }
            if let Slot::Known(_, parts) = &entry.slot {
                work.extend(parts.iter());
            }
        }
    }

    /// Has the question woken when the term becomes known.
    pub(super) fn wait(&mut self, id: TermId, question: u32) {
        if let Slot::Open(_, waiting) = &mut self.entry(id).slot {
            waiting.push(question);
        }
    }

    /// A question that something has become known for.
    pub(super) fn next_woken(&mut self) -> Option<u32> {
        self.woken.pop()
    }

    /// Nothing ever comes of it.
    pub(super) fn never(&mut self, id: TermId) {
        let entry = self.entry(id);
        if matches!(entry.slot, Slot::Open(..)) {
            entry.slot = Slot::Known(Shape::Never, [].into());
        }
    }

    /// Both are the same type.
    pub(super) fn unify(&mut self, a: TermId, b: TermId) {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            match (self.view(a), self.view(b)) {
                (View::Conflict, _) => self.doubt(b),
                (_, View::Conflict) => self.doubt(a),
                (View::Open(one), View::Open(other)) => self.join(a, one, b, other),
                (View::Open(kind), View::Known(shape, _)) => self.bind(a, kind, b, &shape),
                (View::Known(shape, _), View::Open(kind)) => self.bind(b, kind, a, &shape),
                (View::Known(one, left), View::Known(other, right)) => {
                    let fixed = matches!(one, Shape::Tuple | Shape::Function);
                    if fixed && one == other && left.len() != right.len() {
                        self.conflict(a, b);
                        continue;
                    }
                    match meet(&one, &other) {
                        Meeting::Same(shape) => {
                            work.extend(left.iter().copied().zip(right.iter().copied()));
                            let parts = if left.len() > right.len() { left } else { right };
                            self.link(a, b);
                            self.entries[b.0 as usize].slot = Slot::Known(shape, parts);
                        }
                        Meeting::Apart => {
                            self.doubt(a);
                            self.doubt(b);
                        }
                        Meeting::Never => {}
                        Meeting::Conflict => self.conflict(a, b),
                    }
                }
            }
        }
    }

    fn join(&mut self, a: TermId, one: Kind, b: TermId, other: Kind) {
        let kind = match (one, other) {
            (Kind::Any, kind) | (kind, Kind::Any) => kind,
            _ if one == other => one,
            _ => return self.conflict(a, b),
        };
        let Slot::Open(_, mut waiting) = self.link(a, b) else { return };
        if let Slot::Open(of, others) = &mut self.entries[b.0 as usize].slot {
            waiting.append(others);
            if kind == Kind::Any {
                *others = waiting;
            } else {
                // Who waits for any of the two may now go on: it is a number.
                self.woken.append(&mut waiting);
            }
            *of = kind;
        }
    }

    fn bind(&mut self, open: TermId, kind: Kind, known: TermId, shape: &Shape) {
        let fits = match (kind, shape) {
            // What never returns says nothing about the type.
            (_, Shape::Never) => return,
            (Kind::Any, _) => true,
            (Kind::Integer, Shape::Scalar(scalar)) => scalar.is_integer(),
            (Kind::Float, Shape::Scalar(scalar)) => scalar.is_float(),
            _ => false,
        };
        if !fits {
            return self.conflict(open, known);
        }
        if let Slot::Open(_, mut waiting) = self.link(open, known) {
            self.woken.append(&mut waiting);
        }
    }

    /// Makes one the same as the other, which keeps what it is; gives what the one was.
    fn link(&mut self, one: TermId, other: TermId) -> Slot {
        if self.entries[one.0 as usize].doubtful {
            self.doubt(other);
        } else if self.entries[other.0 as usize].doubtful {
            self.doubt(one);
        }
        std::mem::replace(&mut self.entries[one.0 as usize].slot, Slot::Same(other))
    }

    /// They cannot be the same: one of them has been misread, and nobody knows which.
    fn conflict(&mut self, a: TermId, b: TermId) {
        for id in [a, b] {
            self.doubt(id);
            let entry = self.entry(id);
            if let Slot::Open(_, mut waiting) = std::mem::replace(&mut entry.slot, Slot::Conflict) {
                self.woken.append(&mut waiting);
            }
        }
    }

    /// Gives every number that nothing else is said about the type that Rust gives it.
    pub(super) fn choose_defaults(&mut self) {
        for entry in &mut self.entries {
            let scalar = match entry.slot {
                Slot::Open(Kind::Integer, _) if !entry.doubtful => Scalar::I32,
                Slot::Open(Kind::Float, _) if !entry.doubtful => Scalar::F64,
                _ => continue,
            };
            let known = Slot::Known(Shape::Scalar(scalar), [].into());
            if let Slot::Open(_, mut waiting) = std::mem::replace(&mut entry.slot, known) {
                self.woken.append(&mut waiting);
            }
        }
    }

    /// The type that a term has become.
    pub(super) fn resolve(&mut self, id: TermId) -> Type {
        self.resolve_within(id, DEPTH, &mut SIZE.clone())
    }

    fn resolve_within(&mut self, id: TermId, depth: u32, left: &mut u32) -> Type {
        if depth == 0 || *left == 0 {
            return Type::Unknown;
        }
        *left -= 1;
        let Some((shape, parts)) = self.shape(id) else { return Type::Unknown };
        let mut parts: Vec<Type> =
            parts.iter().map(|part| self.resolve_within(*part, depth - 1, left)).collect();
        let mut only = || Box::new(parts.pop().unwrap_or_default());
        match shape {
            Shape::Scalar(scalar) => Type::Scalar(scalar),
            Shape::Text => Type::Text,
            Shape::Never => Type::Never,
            Shape::Array(length) => Type::Array(only(), length),
            Shape::Slice => Type::Slice(only()),
            Shape::Reference => Type::Reference(only()),
            Shape::Function => {
                let result = only();
                Type::Function(parts, result)
            }
            Shape::Tuple => Type::Tuple(parts),
            Shape::Defined(definition) => Type::Defined(definition, parts),
            Shape::External(name) => Type::External(name.to_string(), parts),
            Shape::Parameter(name) => Type::Parameter(name.to_string()),
            Shape::Number(number) => Type::Number(number),
            Shape::Trait(names) => Type::Trait(names.to_vec()),
        }
    }
}

/// What comes of two heads that should be the same.
enum Meeting {
    /// They are, and so are their parts.
    Same(Shape),
    /// They may be, but nothing follows for their parts.
    Apart,
    /// One of them never comes to be.
    Never,
    /// They cannot be.
    Conflict,
}

fn meet(one: &Shape, other: &Shape) -> Meeting {
    match (one, other) {
        (Shape::Never, _) | (_, Shape::Never) => Meeting::Never,
        (Shape::Array(a), Shape::Array(b)) if a != b => {
            let length = if a.is_some() && b.is_some() { None } else { a.or(*b) };
            Meeting::Same(Shape::Array(length))
        }
        _ if one == other => Meeting::Same(one.clone()),
        (Shape::Trait(_), _) | (_, Shape::Trait(_)) => Meeting::Apart,
        (Shape::External(a), Shape::External(b)) if is_family(a) && is_family(b) => Meeting::Apart,
        _ => Meeting::Conflict,
    }
}

/// Whether it is one of the types for which one name stands here, whatever it is called.
fn is_family(name: &str) -> bool {
    name == "Iterator" || name.ends_with("Communicator")
}
