//! Where a value goes to a place of a given type: there Rust may turn one type into another, and
//! here nothing is concluded from what it turns.

use super::Inference;
use super::term::{Kind, Shape, TermId, View};

/// How many references and boxes are looked through.
pub(super) const DEREFERENCES: usize = 16;

/// What else can be used as a reference to what is inside.
const POINTERS: [&str; 12] = [
    "Box",
    "Rc",
    "Arc",
    "Ref",
    "RefMut",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Cow",
    "ManuallyDrop",
    "Pin",
    "LazyLock",
];

impl Inference<'_> {
    /// A value of the first type goes where the second one is expected.
    pub(super) fn coerce(&mut self, actual: TermId, expected: TermId) {
        match (self.terms.view(actual), self.terms.view(expected)) {
            (View::Known(Shape::Never, _), _) => {}
            (View::Conflict, _) => self.terms.doubt(expected),
            (_, View::Conflict) => self.terms.doubt(actual),
            (View::Open(Kind::Any), View::Known(shape, _))
                if changes(&shape) && self.terms.is_doubtful(actual) =>
            {
                self.terms.doubt(expected);
            }
            (_, View::Open(_)) => self.terms.unify(actual, expected),
            (View::Known(Shape::Trait(_), _), _) => self.terms.doubt(expected),
            // `impl Trait` and `dyn Trait` take many types, and decide none.
            (_, View::Known(Shape::Trait(_), _)) => {}
            (View::Known(Shape::Reference, from), View::Known(Shape::Reference, to)) => {
                self.coerce_referent(from[0], to[0]);
            }
            (View::Known(one, from), View::Known(other, to))
                if one == other && is_pointer(&one) && from.len() == 1 && to.len() == 1 =>
            {
                self.coerce_referent(from[0], to[0]);
            }
            (View::Known(one, _), View::Known(Shape::Function, _)) if one != Shape::Function => {
                self.terms.doubt(expected);
            }
            _ => self.terms.unify(actual, expected),
        }
    }

    /// A reference to the first type goes where a reference to the second one is expected.
    fn coerce_referent(&mut self, actual: TermId, expected: TermId) {
        let View::Known(wanted, _) = self.terms.view(expected) else {
            return self.terms.unify(actual, expected);
        };
        if matches!(wanted, Shape::Trait(_)) {
            return;
        }
        let mut at = actual;
        for _ in 0..DEREFERENCES {
            match self.terms.view(at) {
                View::Open(Kind::Any) if self.terms.is_doubtful(at) => break,
                View::Open(_) => return self.terms.unify(at, expected),
                View::Conflict => break,
                View::Known(shape, _) if is_alike(&shape, &wanted) => {
                    return self.terms.unify(at, expected);
                }
                View::Known(..) => match self.dereferenced(at) {
                    Some(inner) => at = inner,
                    None => break,
                },
            }
        }
        self.terms.doubt(expected);
        self.terms.doubt(actual);
    }

    /// What `*` gives, also where Rust only does it for a method call: the slice in a `Vec`.
    pub(super) fn dereferenced(&mut self, of: TermId) -> Option<TermId> {
        let (shape, parts) = self.terms.shape(of)?;
        match &shape {
            Shape::Reference => parts.first().copied(),
            _ if is_pointer(&shape) => parts.first().copied(),
            Shape::Array(_) => Some(self.terms.known(Shape::Slice, &parts[..1])),
            Shape::External(name) if super::library::library().is_a(name, "Sequence") => {
                let element = match parts.first() {
                    Some(element) => *element,
                    None => self.terms.doubtful(),
                };
                Some(self.terms.known(Shape::Slice, &[element]))
            }
            Shape::Defined(definition) => {
                let id = self.only_method(*definition, "deref")?;
                let instance = self.method_instance(id, of, &[]);
                self.terms.referent(instance.result)
            }
            _ => None,
        }
    }
}

/// Whether values of other types may go where one of this type is expected.
fn changes(shape: &Shape) -> bool {
    matches!(shape, Shape::Reference | Shape::Function | Shape::Trait(_)) || is_pointer(shape)
}

pub(super) fn is_pointer(shape: &Shape) -> bool {
    matches!(shape, Shape::External(name) if POINTERS.contains(&name.as_ref()))
}

/// Whether the heads are the same but for the length of an array.
fn is_alike(one: &Shape, other: &Shape) -> bool {
    one == other || matches!((one, other), (Shape::Array(_), Shape::Array(_)))
}
