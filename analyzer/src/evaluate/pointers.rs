//! Pointers of C: where they lead to, as often as it is written and no further.
//!
//! A pointer is a path to what it points to: a whole array stands for its first element, a slice for
//! the one that it begins with. What type it points to is known by its expression. Pointers that may
//! lead to several places are not known, but where they may lead to is.

use std::rc::Rc;

use super::bytes::{leaf, row_of};
use super::identity::Identity;
use super::machine::Machine;
use super::value::{Items, Length, Path, Step, Unknown, Value};
use crate::program::Type;

/// Where pointers may lead to, at most; of others nothing is kept.
const MOST_POINTEES: usize = 8;

/// Where an expression of C leads to.
#[derive(Clone, Debug)]
pub(super) enum Located {
    /// There.
    At(Path),
    /// To bytes there, which are of another type.
    Within(Path),
    /// To one of these.
    OneOf(Rc<[Path]>),
    /// It is no place, or nobody knows which one.
    Passing(Value),
}

/// What elements are counted from.
pub(super) enum Spot {
    /// Elements of a row, from this one on; `each`: so many of them make one of those that are meant,
    /// where that is known.
    Row { row: Path, first: Option<u64>, each: Option<u64> },
    /// A value that is not in a row.
    Single(Path),
    /// Memory of another type.
    Other,
}

impl Machine<'_> {
    /// Where a pointer leads to, if it is one place that is known.
    pub(super) fn pointer(&self, value: &Value) -> Option<Path> {
        match &self.pointees_of(value)[..] {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    /// Where a pointer may lead to; nothing where nobody knows.
    pub(super) fn pointees_of(&self, value: &Value) -> Rc<[Path]> {
        match value {
            Value::Reference(path) => Rc::from([path.clone()]),
            Value::Unknown(unknown, _) => {
                self.pointees.borrow().get(&unknown.identity).cloned().unwrap_or_default()
            }
            _ => Rc::default(),
        }
    }

    /// Whether a pointer is null.
    pub(super) fn is_null(&self, value: &Value) -> Option<bool> {
        match value {
            Value::Variant("None", _) => Some(true),
            Value::Reference(_) | Value::Function(..) | Value::External(..) => Some(false),
            Value::Scalar(..) => value.as_integer().map(|number| number == 0),
            _ => None,
        }
    }

    /// What is known where either of two pointers is meant: two to elements of one row lead to some
    /// element of it.
    pub(super) fn either_pointer(&self, one: &Value, other: &Value, which: Unknown) -> Value {
        let mut identity = Identity::of("either pointer");
        identity.unknown(which);
        for value in [one, other] {
            match value {
                Value::Reference(path) => {
                    identity.number(u64::from(path.object.0));
                    path.steps.iter().for_each(|step| mix_step(&mut identity, step));
                    identity.not_uniform();
                }
                other => identity.unknown(self.identity(other)),
            }
        }
        let either = identity.finish();
        if let (Value::Reference(mine), Value::Reference(theirs)) = (one, other)
            && mine.object == theirs.object
        {
            let (row, same) = (row_of_elements(mine), row_of_elements(theirs));
            if row == same {
                let is_any = matches!(mine.steps.last(), Some(Step::Part(_)));
                let part = Step::Part(Length::Unknown(either));
                return if is_any { one.clone() } else { Value::Reference(row.child(part)) };
            }
        }
        let either = self.unknown(either, &Type::Reference(Box::new(Type::Unknown)));
        self.keep_pointees(&either, [one, other]);
        either
    }

    /// Keeps where a value that is not known leads to if it is one of these.
    pub(super) fn keep_pointees(&self, result: &Value, values: [&Value; 2]) {
        let Value::Unknown(unknown, _) = result else { return };
        let mut all = Vec::new();
        for value in values {
            let paths = self.pointees_of(value);
            if paths.is_empty() && self.is_null(value) != Some(true) {
                return;
            }
            for path in paths.iter() {
                if !all.contains(path) {
                    all.push(path.clone());
                }
            }
        }
        if !all.is_empty() && all.len() <= MOST_POINTEES {
            self.pointees.borrow_mut().insert(unknown.identity, all.into());
        }
    }

    /// A pointer that is not known may lead to where another value leads, too; whether that is new.
    pub(super) fn more_pointees(&self, unknown: Unknown, value: &Value) -> bool {
        let Some(known) = self.pointees.borrow().get(&unknown.identity).cloned() else {
            return false;
        };
        let others = self.pointees_of(value);
        let is_new = |path: &&Path| !known.contains(path);
        let all: Vec<Path> = known.iter().chain(others.iter().filter(is_new)).cloned().collect();
        let is_lost = others.is_empty() && self.is_null(value) != Some(true);
        if is_lost || all.len() > MOST_POINTEES {
            self.pointees.borrow_mut().remove(&unknown.identity);
            return true;
        }
        let has_more = all.len() > known.len();
        if has_more {
            self.pointees.borrow_mut().insert(unknown.identity, all.into());
        }
        has_more
    }

    /// A path to elements in a row that stands for both of two paths in one object; `None`: the first
    /// one does already.
    pub(super) fn any_part(&mut self, one: &Path, other: &Path) -> Option<Path> {
        let (mine, theirs) = (row_of_elements(one), row_of_elements(other));
        let is_part = |path: &Path| matches!(path.steps.last(), Some(Step::Part(_)));
        if mine == theirs {
            return (!is_part(one)).then(|| self.part_from_anywhere(mine));
        }
        if is_part(one) && mine.steps.is_empty() {
            return None;
        }
        let whole = Path::whole(one.object);
        Some(match self.peek_at(&whole) {
            Value::Sequence(_) => self.part_from_anywhere(whole),
            _ => whole,
        })
    }

    fn part_from_anywhere(&mut self, row: Path) -> Path {
        row.child(Step::Part(Length::Unknown(self.fresh_unknown())))
    }

    /// Element `index` of what a pointer leads to. `ty`: the element's type.
    pub(super) fn pointed(&mut self, pointer: &Value, index: &Value, ty: &Type) -> Located {
        if let Value::Reference(path) = pointer {
            return self.element_behind(path, index, ty);
        }
        let paths = self.pointees_of(pointer);
        match &paths[..] {
            [] => Located::Passing(self.behind_unknown(pointer, index, ty)),
            [path] => self.element_behind(path, index, ty),
            several => {
                let located: Vec<_> =
                    several.iter().map(|path| self.element_behind(path, index, ty)).collect();
                let paths = located.into_iter().map(|located| match located {
                    Located::At(path) | Located::Within(path) => Some(path),
                    _ => None,
                });
                match paths.collect::<Option<Vec<Path>>>() {
                    Some(paths) => Located::OneOf(paths.into()),
                    None => Located::OneOf(
                        several.iter().map(|path| Path::whole(path.object)).collect(),
                    ),
                }
            }
        }
    }

    /// What is behind a pointer of which nobody knows where it leads. What is the same on every rank
    /// comes from outside, and stays what it is.
    fn behind_unknown(&mut self, pointer: &Value, index: &Value, ty: &Type) -> Value {
        if self.identity(pointer).uniform && matches!(pointer, Value::Unknown(..)) {
            return self.computed("element behind", &[pointer, index], ty.clone());
        }
        self.fresh(ty.clone())
    }

    /// Element `index` of this type, counted from where a path leads to.
    pub(super) fn element_behind(&mut self, path: &Path, index: &Value, ty: &Type) -> Located {
        let number = index.as_integer();
        match self.spot(path, ty) {
            Spot::Row { row, first, each } => {
                let (Some(first), Some(number), Some(each)) = (first, number, each) else {
                    return Located::At(match (first, each) {
                        (Some(first), Some(1)) => match self.among(&row, first, index) {
                            Some(step) => row.child(step),
                            None => self.somewhere_in(row),
                        },
                        (None, Some(1)) => self.somewhere_in(row),
                        _ => self.part_of_row(&row, index),
                    });
                };
                let index = i128::from(first) + number * i128::from(each);
                let place = match each {
                    1 => self.carried(&row, index),
                    _ => u64::try_from(index)
                        .ok()
                        .map(|index| row.child(Step::Slice(index, index.saturating_add(each)))),
                };
                match place {
                    Some(place) => Located::At(place),
                    // Outside of the object.
                    None => Located::Passing(self.fresh(ty.clone())),
                }
            }
            Spot::Single(path) => match number {
                // Rows of a length that only the run knows lie behind each other there.
                None if matches!(ty, Type::Array(_, None)) => {
                    Located::At(self.part_of_row(&path, index))
                }
                None | Some(0) => Located::At(path),
                Some(_) if path.steps.is_empty() => Located::Passing(self.fresh(ty.clone())),
                Some(_) => Located::Within(Path::whole(path.object)),
            },
            Spot::Other => self.element_of_bytes(path, number, ty),
        }
    }

    /// The step to some element of a row by a number that has bounds, counted from an element; `None`:
    /// it has none, or they lead out of the row.
    pub(super) fn among(&self, row: &Path, first: u64, index: &Value) -> Option<Step> {
        let (lowest, highest) = self.bounds(index)?;
        let Value::Sequence(sequence) = self.peek_at(row) else { return None };
        let lowest = u64::try_from(i128::from(first) + lowest).ok()?;
        let highest = u64::try_from(i128::from(first) + highest).ok()?;
        let fits = match sequence.length() {
            Length::Known(length) => highest < length,
            Length::Unknown(_) => true,
        };
        (fits && lowest <= highest).then(|| Step::Among(lowest, highest + 1))
    }

    /// Some element of a row: nobody knows which.
    fn somewhere_in(&self, row: Path) -> Path {
        // A pointer that is counted on past its row may lead to any row.
        let mut steps = row.steps.to_vec();
        for step in steps.iter_mut().rev() {
            match step {
                Step::Element(_) | Step::Among(..) => *step = Step::Somewhere,
                Step::Somewhere => {}
                _ => break,
            }
        }
        Path { object: row.object, steps: steps.into() }.child(Step::Somewhere)
    }

    /// The same as [`Self::element_behind`] where other types lie there.
    fn element_of_bytes(&mut self, path: &Path, number: Option<i128>, ty: &Type) -> Located {
        let size = self.program.size_of(ty).unwrap_or(1);
        let start = self.span(path).map(|(start, _)| i128::from(start));
        let first = start.zip(number).map(|(start, number)| start + number * i128::from(size));
        let Some(first) = first.and_then(|first| u64::try_from(first).ok()) else {
            return Located::Within(Path::whole(path.object));
        };
        let whole = Path::whole(path.object);
        if let Some(exact) = self.region(&whole, first, first.saturating_add(size)) {
            let value = self.peek_at(&exact);
            if dimensions(&value) == type_dimensions(ty)
                && agree(&self.leaf_type(&value), leaf(ty))
                && self.leaf_type(&value) != Type::Unknown
            {
                return Located::At(exact);
            }
        }
        Located::Within(self.region_around(&whole, first, first.saturating_add(size)))
    }

    /// What elements of a type are counted from, where a path leads to.
    pub(super) fn spot(&self, path: &Path, ty: &Type) -> Spot {
        let wanted = type_dimensions(ty);
        if wanted == 0
            && let Some(spot) = self.spot_in_plain_row(path, ty)
        {
            return spot;
        }
        let value = self.peek_in_row(path);
        let (mut row, mut first, mut inside) = match path.steps.last() {
            Some(Step::Slice(first, _)) => (row_of(path), Some(*first), value),
            Some(Step::Part(_)) => (row_of(path), None, value),
            step => {
                let depth = dimensions(&value);
                match step {
                    Some(Step::Element(index)) if depth == wanted => {
                        (row_of(path), Some(*index), self.peek_at(&row_of(path)))
                    }
                    Some(Step::Somewhere | Step::Among(..)) if depth == wanted => {
                        (row_of(path), None, self.peek_at(&row_of(path)))
                    }
                    _ if depth == 0 || depth == wanted && is_all(&value, ty) => {
                        return match agree(&self.leaf_type(&value), leaf(ty)) {
                            true => Spot::Single(path.clone()),
                            false => Spot::Other,
                        };
                    }
                    _ => (path.clone(), Some(0), value),
                }
            }
        };
        loop {
            let Value::Sequence(sequence) = &inside else { return Spot::Other };
            let depth = dimensions(&inside).saturating_sub(1);
            if depth <= wanted {
                if !agree(&self.leaf_type(&inside), leaf(ty)) {
                    return Spot::Other;
                }
                return Spot::Row { row, first, each: elements_of(ty, wanted - depth) };
            }
            let step = first.map_or(Step::Somewhere, Step::Element);
            let next = self.elements(sequence, &step);
            row = row.child(step);
            first = first.map(|_| 0);
            inside = next;
        }
    }

    /// The same where the path leads to a row of elements that have no rows in them, or into one.
    fn spot_in_plain_row(&self, path: &Path, ty: &Type) -> Option<Spot> {
        let (row, first) = match path.steps.last() {
            Some(Step::Slice(first, _)) => (row_of(path), Some(*first)),
            Some(Step::Part(_)) => return None,
            _ => (path.clone(), Some(0)),
        };
        let inside = self.known_at(&row)?;
        if !matches!(inside, Value::Sequence(_)) || dimensions(inside) != 1 {
            return None;
        }
        Some(match agree(&self.leaf_type(inside), leaf(ty)) {
            true => Spot::Row { row, first, each: Some(1) },
            false => Spot::Other,
        })
    }

    /// What a path leads to; of elements in a row, the row.
    fn peek_in_row(&self, path: &Path) -> Value {
        match path.steps.last() {
            Some(Step::Slice(..) | Step::Part(_)) => self.peek_at(&row_of(path)),
            _ => self.peek_at(path),
        }
    }

    /// Element `index` of a row, or of the rows before and behind it where it lies outside.
    pub(super) fn carried(&self, row: &Path, index: i128) -> Option<Path> {
        let length = match self.known_at(row) {
            Some(Value::Sequence(sequence)) => sequence.length(),
            _ => {
                let Value::Sequence(sequence) = self.peek_at(row) else { return None };
                sequence.length()
            }
        };
        let number = u64::try_from(index).ok();
        let length = match (length, number) {
            (Length::Unknown(_), Some(number)) => return Some(row.child(Step::Element(number))),
            (Length::Known(length), Some(number)) if number < length => {
                return Some(row.child(Step::Element(number)));
            }
            (Length::Known(length), _) if length > 0 => i128::from(length),
            _ => return None,
        };
        let Some(Step::Element(mine)) = row.steps.last() else { return None };
        let other = self.carried(&row_of(row), i128::from(*mine) + index.div_euclid(length))?;
        self.carried(&other, index.rem_euclid(length))
    }
}

/// The row whose elements a pointer leads to, whichever they are.
fn row_of_elements(path: &Path) -> Path {
    match path.steps.last() {
        Some(Step::Slice(..) | Step::Part(_)) => row_of(path),
        _ => path.clone(),
    }
}

fn mix_step(identity: &mut Identity, step: &Step) {
    let numbers = match step {
        Step::Field(field) => [0, u64::from(*field), 0],
        Step::Element(index) => [1, *index, 0],
        Step::Slice(first, last) => [2, *first, *last],
        Step::Among(first, last) => [3, *first, *last],
        Step::Somewhere => [4, 0, 0],
        Step::Part(Length::Known(length)) => [5, *length, 0],
        Step::Part(Length::Unknown(unknown)) => [6, unknown.identity, 0],
    };
    numbers.into_iter().for_each(|number| identity.number(number));
}

/// How many arrays are in each other in a value.
fn dimensions(value: &Value) -> usize {
    let Value::Sequence(sequence) = value else { return 0 };
    if sequence.element != Type::Unknown {
        return 1 + type_dimensions(&sequence.element);
    }
    1 + match &sequence.items {
        Items::Each(items) => items.first().map_or(0, dimensions),
        Items::Alike(item, _) => dimensions(item),
    }
}

/// The same for a type.
fn type_dimensions(ty: &Type) -> usize {
    match ty {
        Type::Array(element, _) => 1 + type_dimensions(element),
        _ => 0,
    }
}

/// Whether an array may be all of what a pointer to an array of a type leads to.
fn is_all(value: &Value, ty: &Type) -> bool {
    match (value, ty) {
        (Value::Sequence(sequence), Type::Array(_, Some(said))) => match sequence.length() {
            Length::Known(length) => length == *said,
            Length::Unknown(_) => false,
        },
        _ => true,
    }
}

/// How many elements the outer dimensions of a type have.
fn elements_of(ty: &Type, dimensions: usize) -> Option<u64> {
    match ty {
        _ if dimensions == 0 => Some(1),
        Type::Array(element, Some(length)) => {
            elements_of(element, dimensions - 1)?.checked_mul(*length)
        }
        _ => None,
    }
}

/// Whether memory of a type is what a pointer to another says.
fn agree(there: &Type, said: &Type) -> bool {
    match (there, said) {
        (Type::Unknown, _) | (_, Type::Unknown) => true,
        (Type::Scalar(there), Type::Scalar(said)) => {
            there == said
                || there.is_integer() && said.is_integer() && there.bytes() == said.bytes()
        }
        (Type::Reference(_) | Type::Function(..), Type::Reference(_) | Type::Function(..)) => true,
        (Type::Defined(there, _), Type::Defined(said, _)) => there == said,
        (Type::External(there, _), Type::External(said, _)) => {
            there == said || there.starts_with("MPI_") || said.starts_with("MPI_")
        }
        // What MPI's own things are called differs, and so does what they are kept as.
        (Type::External(..), _) | (_, Type::External(..)) => true,
        _ => false,
    }
}
