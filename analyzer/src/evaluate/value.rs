//! What a variable can hold while one rank is evaluated.
//!
//! A value is known, or unknown with an identity: two unknowns with one identity are the same
//! value, whatever it is. Values are cheap to clone; what is large is shared until it is changed.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::alike::{Elsewhere, Number};
use super::float::Float;
use super::handle::Handle;
use super::iterator::Lazy;
use super::map::Map;
use crate::program::{Closure, DefinitionId, FunctionId, Scalar, Type};

/// A value that is not known.
#[derive(Clone, Copy)]
pub(super) struct Unknown {
    /// Made of where the value comes from, so that the same computation of the same inputs has the
    /// same identity, on every rank.
    pub identity: u64,
    /// Every rank that computes it has the same value: the program's arguments, what a collective
    /// gives to all, and whatever is computed from these alone.
    pub uniform: bool,
    /// What the identity is on other ranks.
    pub elsewhere: Elsewhere,
}

impl fmt::Debug for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What it is elsewhere is another one's there exactly where it is here.
        let Unknown { identity, uniform, elsewhere: _ } = self;
        let mut shown = formatter.debug_struct("Unknown");
        shown.field("identity", identity).field("uniform", uniform).finish()
    }
}

impl PartialEq for Unknown {
    fn eq(&self, other: &Self) -> bool {
        (self.identity, self.uniform) == (other.identity, other.uniform)
    }
}

impl Eq for Unknown {}

impl Hash for Unknown {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.identity, self.uniform).hash(hasher);
    }
}

/// A number, a truth value, a character that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// A whole number.
    Integer(Number),
    /// A number with a fraction.
    Float(Float),
    /// A truth value.
    Bool(bool),
    /// A character.
    Char(char),
}

/// What a scalar is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content {
    /// This.
    Known(Constant),
    /// Something.
    Unknown(Unknown),
}

/// A value.
#[derive(Clone, Debug, Default)]
pub(super) enum Value {
    /// Not known, not even what it is made of; the type as far as it is known.
    Unknown(Unknown, Type),
    /// A number, a truth value, a character. Each knows its type, so that what is sent has one.
    Scalar(Scalar, Content),
    /// Text, if it is known.
    Text(Option<Rc<str>>),
    /// A tuple; the empty one is the unit.
    Tuple(Rc<Vec<Value>>),
    /// A struct, or a variant of an enum, of the program.
    Defined {
        /// The struct or enum.
        definition: DefinitionId,
        /// Which variant; 0 for a struct.
        variant: u32,
        /// The fields, in the order of their declaration.
        fields: Rc<Vec<Value>>,
    },
    /// A variant of a library's enum: `Some`, `None`, `Ok`, `Err`, with what it holds.
    Variant(&'static str, Rc<Vec<Value>>),
    /// An array, a `Vec`, a `VecDeque`.
    Sequence(Sequence),
    /// A reference, a pointer, a slice that borrows, an `Rc`: where what it refers to is.
    Reference(Path),
    /// A closure, with the frame that its variables are in.
    Closure(Arc<Closure>, FrameId),
    /// A function of the program, with its generic arguments.
    Function(FunctionId, Rc<[Type]>),
    /// A function, constant or type of a library, by its path.
    External(Arc<[String]>, Rc<[Type]>),
    /// An iterator or a range.
    Iterator(Rc<Lazy>),
    /// Something of MPI: a communicator, a process, a request, a status.
    Handle(Handle),
    /// A map or a set.
    Map(Rc<Map>),
    /// Was moved away, or never set.
    #[default]
    Moved,
}

/// How long a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Length {
    /// So many elements.
    Known(u64),
    /// Not known.
    Unknown(Unknown),
}

impl Length {
    /// The length as a number that a program can have.
    pub(super) fn value(self) -> Value {
        match self {
            Self::Known(length) => Value::integer(i128::from(length), Scalar::Usize),
            Self::Unknown(unknown) => Value::Scalar(Scalar::Usize, Content::Unknown(unknown)),
        }
    }
}

/// The elements of an array or a `Vec`.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    /// The type of the elements.
    pub element: Type,
    /// What they are.
    pub items: Items,
}

/// What a sequence's elements are.
#[derive(Clone, Debug)]
pub(super) enum Items {
    /// One by one. At most [`MOST_ITEMS`].
    Each(Rc<Vec<Value>>),
    /// All like this one, which is unknown where they differ.
    Alike(Rc<Value>, Length),
}

/// The most elements that are kept one by one; of longer sequences only what they have in common.
pub(super) const MOST_ITEMS: usize = 4096;

/// A variable's slot or a piece of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ObjectId(pub u32);

/// The variables of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FrameId(pub u32);

/// Where a value is: an object, and the way to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// The object.
    pub object: ObjectId,
    /// The way from the whole object to the part.
    pub steps: Steps,
}

/// A way from a whole object to a part of it. Most objects are meant as a whole: the empty way takes no
/// memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Steps(Option<Rc<[Step]>>);

/// A step to a part of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// A field of a tuple, a struct or a variant.
    Field(u32),
    /// An element.
    Element(u64),
    /// The elements from the first to before the second.
    Slice(u64, u64),
    /// Some element: writing there makes all elements unknown.
    Somewhere,
    /// Some element from the first to before the second.
    Among(u64, u64),
    /// So many elements in a row, of which it is not known where they start.
    Part(Length),
}

impl Path {
    /// A whole object.
    pub(super) fn whole(object: ObjectId) -> Path {
        Path { object, steps: Steps::default() }
    }

    /// A part of what is there. Elements of slices are elements of what they are slices of.
    pub(super) fn child(&self, step: Step) -> Path {
        let is_within = matches!(self.steps.last(), Some(Step::Slice(..) | Step::Part(_)));
        if !is_within || matches!(step, Step::Field(_)) {
            let steps = self.steps.iter().cloned().chain([step]);
            return Path { object: self.object, steps: Steps(Some(steps.collect())) };
        }
        let mut steps = self.steps.to_vec();
        match (steps.last(), &step) {
            (Some(Step::Slice(first, _)), Step::Element(index)) => {
                let element = Step::Element(first + index);
                steps.pop();
                steps.push(element);
            }
            (Some(Step::Slice(first, last)), Step::Slice(from, to)) => {
                let slice = Step::Slice(first + from, (first + to).min(*last));
                steps.pop();
                steps.push(slice);
            }
            (Some(Step::Part(_)), Step::Element(_)) => {
                steps.pop();
                steps.push(Step::Somewhere);
            }
            (Some(Step::Part(_)), Step::Slice(from, to)) => {
                let length = Length::Known(to.saturating_sub(*from));
                steps.pop();
                steps.push(Step::Part(length));
            }
            (Some(Step::Slice(first, _)), Step::Among(from, to)) => {
                let among = Step::Among(first + from, first.saturating_add(*to));
                steps.pop();
                steps.push(among);
            }
            (Some(Step::Part(_)), Step::Among(..)) => {
                steps.pop();
                steps.push(Step::Somewhere);
            }
            (Some(Step::Slice(..) | Step::Part(_)), Step::Somewhere | Step::Part(_)) => {
                steps.pop();
                steps.push(step);
            }
            _ => steps.push(step),
        }
        Path { object: self.object, steps: steps.into() }
    }

    /// Whether two places may have a byte in common, and are known to where both say so.
    pub(super) fn overlaps(&self, other: &Path) -> bool {
        let same = |(mine, theirs): (&Step, &Step)| match (mine, theirs) {
            (Step::Field(mine), Step::Field(theirs)) => mine == theirs,
            (Step::Element(mine), Step::Element(theirs)) => mine == theirs,
            (Step::Element(index), Step::Slice(first, last))
            | (Step::Slice(first, last), Step::Element(index)) => (first..last).contains(&index),
            (Step::Slice(first, last), Step::Slice(from, to)) => first < to && from < last,
            // Nobody knows which one: silence.
            _ => false,
        };
        self.object == other.object && self.steps.iter().zip(&*other.steps).all(same)
    }
}

impl std::ops::Deref for Steps {
    type Target = [Step];

    fn deref(&self) -> &[Step] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<&[Step]> for Steps {
    fn from(steps: &[Step]) -> Self {
        Steps((!steps.is_empty()).then(|| steps.into()))
    }
}

impl From<Vec<Step>> for Steps {
    fn from(steps: Vec<Step>) -> Self {
        Steps((!steps.is_empty()).then(|| steps.into()))
    }
}

impl Value {
    /// The unit.
    pub(super) fn unit() -> Value {
        Value::Tuple(Rc::new(Vec::new()))
    }

    /// A whole number that is known.
    pub(super) fn integer(number: impl Into<Number>, scalar: Scalar) -> Value {
        Value::Scalar(scalar, Content::Known(Constant::Integer(number.into())))
    }

    /// A truth value that is known.
    pub(super) fn bool(value: bool) -> Value {
        Value::Scalar(Scalar::Bool, Content::Known(Constant::Bool(value)))
    }

    /// `Some(value)`
    pub(super) fn some(value: Value) -> Value {
        Value::Variant("Some", Rc::new(vec![value]))
    }

    /// `None`
    pub(super) fn none() -> Value {
        Value::Variant("None", Rc::new(Vec::new()))
    }

    /// `Ok(value)`
    pub(super) fn ok(value: Value) -> Value {
        Value::Variant("Ok", Rc::new(vec![value]))
    }

    /// The number, if it is one that is known.
    pub(super) fn as_integer(&self) -> Option<i128> {
        match self {
            Value::Scalar(_, Content::Known(Constant::Integer(number))) => Some(number.get()),
            _ => None,
        }
    }

    /// The same, without going by it.
    pub(super) fn as_number(&self) -> Option<Number> {
        match self {
            Value::Scalar(_, Content::Known(Constant::Integer(number))) => Some(*number),
            _ => None,
        }
    }

    /// The truth value, if it is known.
    pub(super) fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Scalar(_, Content::Known(Constant::Bool(value))) => Some(*value),
            _ => None,
        }
    }
}
