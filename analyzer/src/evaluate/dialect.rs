//! Expressions of C where they mean something else than in Rust: what is read and written is exactly
//! what is written there, values are copied, and pointers are followed as often as it says.

use std::rc::Rc;
use std::sync::Arc;

use p2p_protocol::model::Departure;

use super::handle::Handle;
use super::identity::{Identity, negation};
use super::library;
use super::machine::{Machine, Outcome};
use super::operators::truth;
use super::places::Target;
use super::pointers::Located;
use super::value::{Constant, Content, Items, Length, Path, Sequence, Step, Unknown, Value};
use crate::program::{
    Binary, Entry, EntryKind, Expression, FunctionId, GlobalId, Kind, Place, Scalar, Type,
};

/// Numbers of arrays, arrays of arrays included, that are kept one by one, at most.
const MOST_KEPT: u64 = 128;

/// The same of numbers with a fraction, by which programs seldom go.
const MOST_FRACTIONS: u64 = 16;

/// Elements of a row of structs that are kept one by one in any case.
const FEW: u64 = 8;

impl Machine<'_> {
    /// How many elements of a type an array may have of which each is kept: what MPI's handles are
    /// must be known of each.
    pub(super) fn most_kept(&self, element: &Type) -> u64 {
        match element {
            Type::Array(inner, Some(length)) => self.most_kept(inner) / length.max(&1),
            Type::Array(_, None) => 0,
            Type::External(name, _) if name.starts_with("MPI_") => super::value::MOST_ITEMS as u64,
            Type::Scalar(scalar) if scalar.is_float() => MOST_FRACTIONS,
            Type::Defined(definition, _) => {
                let fields = self.program.definition(*definition).variants.first();
                let fields = fields.map_or(&[][..], |variant| &variant.fields);
                let least = fields.iter().map(|(_, ty)| self.most_kept(ty)).min();
                (least.unwrap_or(MOST_KEPT) / (fields.len() as u64).max(1)).max(FEW)
            }
            _ => MOST_KEPT,
        }
    }

    /// Where an expression leads to.
    pub(super) fn locate_exactly(&mut self, expression: &Expression) -> Outcome<Located> {
        match &expression.kind {
            Kind::Variable(variable) => {
                Ok(Located::At(Path::whole(self.state.variable(*variable))))
            }
            Kind::Global(global) => Ok(Located::At(self.global(*global)?)),
            Kind::Field(of, name) => {
                let located = self.locate_exactly(of)?;
                Ok(self.field_exactly(located, name, expression))
            }
            Kind::Index(of, index) => {
                if !matches!(of.ty, Type::Reference(_))
                    && let located @ (Located::At(_) | Located::OneOf(_) | Located::Within(_)) =
                        self.locate_exactly(of)?
                {
                    let before = self.index.take();
                    let index = self.evaluate(index)?;
                    self.index = before;
                    if let Some(element) = self.element_exactly(&located, &index, &expression.ty) {
                        self.note_index(&index);
                        return Ok(element);
                    }
                    let pointer = self.value_there(located, of);
                    return Ok(self.pointed(&pointer, &index, &expression.ty));
                }
                let pointer = self.evaluate(of)?;
                let index = self.evaluate(index)?;
                if let Value::Sequence(_) = pointer {
                    let step = index.as_integer().and_then(|it| u64::try_from(it).ok());
                    let step = step.map_or(Step::Somewhere, Step::Element);
                    return Ok(Located::Passing(self.part(&pointer, &step)));
                }
                if let Value::Function(..) | Value::External(..) = pointer {
                    return Ok(Located::Passing(pointer));
                }
                self.index = None;
                self.note_index(&index);
                Ok(self.pointed(&pointer, &index, &expression.ty))
            }
            Kind::Dereference(of) => {
                let pointer = self.evaluate(of)?;
                if let Value::Function(..) | Value::External(..) = pointer {
                    return Ok(Located::Passing(pointer));
                }
                let first = Value::integer(0, Scalar::I32);
                Ok(self.pointed(&pointer, &first, &expression.ty))
            }
            _ => Ok(Located::Passing(self.evaluate(expression)?)),
        }
    }

    /// Keeps which element is meant where nobody knows: who an element is goes by that as well.
    fn note_index(&mut self, index: &Value) {
        if index.as_number().is_some() {
            return;
        }
        let mut identity = Identity::of("index");
        identity.unknown(self.identity(index));
        if let Some(before) = self.index {
            identity.unknown(before);
        }
        self.index = Some(identity.finish());
    }

    /// An element of an array that is a place; `None`: it is no array, but a pointer.
    fn element_exactly(&mut self, of: &Located, index: &Value, ty: &Type) -> Option<Located> {
        match of {
            Located::At(path) => match self.peek_at(path) {
                Value::Sequence(_) => Some(match index.as_integer() {
                    // No array's elements are those of another row.
                    None => {
                        let step = self.among(path, 0, index).unwrap_or(Step::Somewhere);
                        Located::At(path.child(step))
                    }
                    Some(_) => self.element_behind(path, index, ty),
                }),
                Value::Unknown(_, Type::Array(..)) => {
                    let step = index.as_integer().and_then(|it| u64::try_from(it).ok());
                    Some(Located::At(path.child(step.map_or(Step::Somewhere, Step::Element))))
                }
                _ => None,
            },
            Located::OneOf(paths) => {
                let parts = paths.iter().map(|path| {
                    match self.element_exactly(&Located::At(path.clone()), index, ty) {
                        Some(Located::At(path)) => Some(path),
                        _ => None,
                    }
                });
                Some(Located::OneOf(parts.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    fn field_exactly(&mut self, of: Located, name: &str, whole: &Expression) -> Located {
        match of {
            Located::At(path) => {
                let value = self.peek_at(&path);
                match self.field_of(&value, name) {
                    Some(field) => Located::At(path.child(Step::Field(field))),
                    None => match value {
                        Value::Handle(Handle::Status(_)) => {
                            let target = Target::Path(path.clone());
                            match self.field(&target, name, &whole.ty) {
                                Ok(Target::Value(value)) => Located::Passing(value),
                                Ok(Target::Path(path)) => Located::At(path),
                                Err(_) => Located::Within(path),
                            }
                        }
                        _ => Located::Within(path),
                    },
                }
            }
            Located::OneOf(paths) => {
                let parts = paths.iter().map(|path| {
                    let value = self.peek_at(path);
                    self.field_of(&value, name).map(|field| path.child(Step::Field(field)))
                });
                match parts.collect::<Option<Vec<Path>>>() {
                    Some(parts) => Located::OneOf(parts.into()),
                    None => Located::OneOf(paths),
                }
            }
            Located::Passing(value) => match self.field_of(&value, name) {
                Some(field) => Located::Passing(self.part(&value, &Step::Field(field))),
                None => {
                    let ty = whole.ty.clone();
                    Located::Passing(self.computed(&format!("field {name}"), &[&value], ty))
                }
            },
            within @ Located::Within(_) => within,
        }
    }

    fn field_of(&self, value: &Value, name: &str) -> Option<u32> {
        match value {
            Value::Defined { definition, variant, .. } => {
                self.field_number(*definition, *variant, name)
            }
            Value::Unknown(_, Type::Defined(definition, _)) => {
                self.field_number(*definition, 0, name)
            }
            _ => None,
        }
    }

    /// The value of an expression that names a place.
    pub(super) fn value_exactly(&mut self, expression: &Expression) -> Outcome {
        self.index = None;
        let located = self.locate_exactly(expression)?;
        let index = self.index.take();
        let value = self.value_there(located, expression);
        Ok(match (index, &value) {
            (
                Some(index),
                Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _),
            ) if self.pointees_of(&value).is_empty() => {
                let mut identity = Identity::of("element at");
                identity.unknown(*unknown);
                identity.unknown(index);
                let ty = self.type_of(&value);
                self.unknown(identity.finish(), &ty)
            }
            _ => value,
        })
    }

    /// The value where an expression leads to, of the expression's type.
    fn value_there(&mut self, located: Located, expression: &Expression) -> Value {
        let ty = &expression.ty;
        let value = match located {
            Located::At(path) => match self.read(&path, expression.place) {
                // Never set, as far as is known.
                Value::Moved => self.uninitialized(ty, expression.place),
                value => value,
            },
            Located::Within(path) => {
                let there = self.peek_at(&path);
                // What it is depends on where in it these bytes are.
                let mut identity = Identity::of("bytes of another type");
                identity.unknown(self.identity(&there));
                identity.unknown(self.fresh_unknown());
                self.unknown(identity.finish(), ty)
            }
            Located::OneOf(paths) => {
                let values: Vec<Value> =
                    paths.iter().map(|path| self.read(path, expression.place)).collect();
                let which = self.fresh_unknown();
                let one = values.into_iter().reduce(|one, other| self.merged(&one, &other, which));
                one.unwrap_or_default()
            }
            Located::Passing(value) => value,
        };
        match (&value, ty) {
            (Value::Scalar(kept, _), Type::Scalar(wanted)) if kept != wanted => {
                self.cast_exactly(&value, ty)
            }
            (Value::Unknown(unknown, Type::Unknown), ty) if *ty != Type::Unknown => {
                let unknown = *unknown;
                self.unknown(unknown, ty)
            }
            _ => value,
        }
    }

    /// Where an expression leads to, for whoever only reads.
    pub(super) fn target_exactly(&mut self, expression: &Expression) -> Outcome<Target> {
        Ok(match self.locate_exactly(expression)? {
            Located::At(path) => Target::Path(path),
            Located::Passing(value) => Target::Value(value),
            other => Target::Value(self.value_there(other, expression)),
        })
    }

    /// `&of`, and an array that is used as a pointer.
    pub(super) fn address(&mut self, of: &Expression) -> Outcome {
        if let Kind::Function(..) = of.kind {
            return self.evaluate(of);
        }
        let ty = Type::Reference(Box::new(of.ty.clone()));
        Ok(match self.locate_exactly(of)? {
            Located::At(path) => Value::Reference(path),
            Located::OneOf(paths) => {
                let pointer = self.fresh(ty);
                if let Value::Unknown(unknown, _) = &pointer {
                    self.pointees.borrow_mut().insert(unknown.identity, paths);
                }
                pointer
            }
            Located::Within(path) => {
                let pointer = self.fresh(ty);
                if let Value::Unknown(unknown, _) = &pointer {
                    let whole = Path::whole(path.object);
                    self.pointees.borrow_mut().insert(unknown.identity, Rc::from([path, whole]));
                }
                pointer
            }
            Located::Passing(value @ (Value::Reference(_) | Value::Function(..)))
                if !matches!(of.kind, Kind::Index(..) | Kind::Field(..) | Kind::Dereference(_)) =>
            {
                value
            }
            Located::Passing(_)
                if matches!(of.kind, Kind::Index(..) | Kind::Field(..) | Kind::Dereference(_)) =>
            {
                self.fresh(ty)
            }
            Located::Passing(value) => {
                let address = std::ptr::from_ref(of) as usize;
                let path = Path::whole(self.state.temporary(address));
                self.put(&path, value);
                Value::Reference(path)
            }
        })
    }

    /// `target = value`
    pub(super) fn assign_exactly(&mut self, target: &Expression, value: Value) -> Outcome<()> {
        let located = self.locate_exactly(target)?;
        self.set_located(located, value, target.place);
        Ok(())
    }

    fn set_located(&mut self, located: Located, value: Value, place: Place) {
        match located {
            Located::At(path) => self.write(&path, value, place),
            // Which one it is, nobody knows: each may be what it was.
            Located::OneOf(paths) => {
                for path in paths.iter() {
                    let old = self.peek_at(path);
                    let which = self.fresh_unknown();
                    let either = self.merged(&old, &value, which);
                    self.put(path, either);
                }
            }
            Located::Within(path) => self.forget_there(&path),
            Located::Passing(_) => {}
        }
    }

    /// `target += value`
    pub(super) fn assign_with_exactly(
        &mut self,
        operation: Binary,
        target: &Expression,
        value: &Expression,
        place: Place,
    ) -> Outcome {
        let value = self.evaluate(value)?;
        let located = self.locate_exactly(target)?;
        let old = self.value_there(located.clone(), target);
        let old = self.settled(old);
        let new = match (&target.ty, operation) {
            (Type::Reference(to), Binary::Add) => self.offset(&old, &value, to),
            (Type::Reference(to), Binary::Subtract) => {
                let back = self.unary(crate::program::Unary::Negate, &value, place);
                self.offset(&old, &back, to)
            }
            _ => {
                let new = self.binary_exactly(operation, &old, &value, &target.ty, place)?;
                self.cast_exactly(&new, &target.ty)
            }
        };
        self.set_located(located, new, place);
        Ok(Value::unit())
    }

    /// `left operation right`
    pub(super) fn binary_exactly(
        &mut self,
        operation: Binary,
        left: &Value,
        right: &Value,
        ty: &Type,
        place: Place,
    ) -> Outcome {
        let compares = matches!(
            operation,
            Binary::Equal
                | Binary::NotEqual
                | Binary::Less
                | Binary::LessOrEqual
                | Binary::Greater
                | Binary::GreaterOrEqual
        );
        if compares {
            if let Some(known) = self.compared(operation, left, right) {
                return Ok(known);
            }
        } else if let (Value::Scalar(scalar, Content::Known(Constant::Integer(number))), true) =
            (right, matches!(operation, Binary::Divide | Binary::Remainder))
            && scalar.is_integer()
            && number.get() == 0
        {
            // The process dies, and the job with it.
            return Err(self.leave(Departure::Aborted, place));
        }
        if [left, right].iter().any(|it| matches!(it, Value::Reference(_) | Value::Sequence(_))) {
            let (left, right) = (self.without_memory(left), self.without_memory(right));
            return self.binary(operation, &left, &right, ty, place);
        }
        let result = self.binary(operation, left, right, ty, place)?;
        if !self.ranges.is_empty() {
            self.keep_bounds(operation, &result, left, right);
        }
        if operation == Binary::Multiply {
            self.keep_product(&result, left, right);
        }
        Ok(self.wrapped(operation, left, right, result))
    }

    /// A pointer as a number: what it leads to is none of its business.
    fn without_memory(&mut self, value: &Value) -> Value {
        match value {
            Value::Reference(path) => {
                let text = format!("{path:?}");
                let mut identity = Identity::of("address");
                identity.text(&text);
                identity.not_uniform();
                self.unknown(identity.finish(), &Type::Reference(Box::new(Type::Unknown)))
            }
            other => other.clone(),
        }
    }

    /// How two values compare, where that is known by pointers, handles or conditions in them.
    fn compared(&mut self, operation: Binary, left: &Value, right: &Value) -> Option<Value> {
        if let Some(known) = self.compared_truths(operation, left, right) {
            return Some(known);
        }
        let is_pointer = |it: &Value| {
            matches!(it, Value::Reference(_) | Value::Variant("None", _) | Value::Function(..))
        };
        if !is_pointer(left) && !is_pointer(right) {
            return None;
        }
        let equal = match (left, right) {
            (Value::Reference(one), Value::Reference(other)) if one.object != other.object => {
                Some(false)
            }
            (Value::Function(one, _), Value::Function(other, _)) => Some(one == other),
            _ => None,
        };
        let order = self.order_of_pointers(left, right);
        let holds = match operation {
            Binary::Equal => equal.or(order.map(|order| order == 0)),
            Binary::NotEqual => equal.or(order.map(|order| order == 0)).map(|equal| !equal),
            Binary::Less => order.map(|order| order < 0),
            Binary::LessOrEqual => order.map(|order| order <= 0),
            Binary::Greater => order.map(|order| order > 0),
            _ => order.map(|order| order >= 0),
        };
        holds.map(Value::bool)
    }

    /// How a condition that is kept as a number compares with a number.
    fn compared_truths(&mut self, operation: Binary, left: &Value, right: &Value) -> Option<Value> {
        if self.truths.is_empty() {
            return None;
        }
        let (condition, with, operation) = match (self.as_truth(left), self.as_truth(right)) {
            (Some(condition), None) => (condition, right.as_integer()?, operation),
            (None, Some(condition)) => (condition, left.as_integer()?, turned(operation)),
            _ => return None,
        };
        let holds = |number: i128| match operation {
            Binary::Equal => number == with,
            Binary::NotEqual => number != with,
            Binary::Less => number < with,
            Binary::LessOrEqual => number <= with,
            Binary::Greater => number > with,
            _ => number >= with,
        };
        Some(match (holds(0), holds(1)) {
            (false, true) => truth(condition),
            (true, false) => truth(negation(condition)),
            (same, _) => Value::bool(same),
        })
    }

    /// The condition that a number stands for.
    fn as_truth(&self, value: &Value) -> Option<Unknown> {
        match value {
            Value::Scalar(scalar, Content::Unknown(unknown))
                if *scalar != Scalar::Bool && self.truths.contains(&(unknown.identity & !1)) =>
            {
                Some(*unknown)
            }
            _ => None,
        }
    }

    /// Between which numbers a number is, where that is known.
    pub(super) fn bounds(&self, value: &Value) -> Option<(i128, i128)> {
        match value {
            Value::Scalar(scalar, Content::Unknown(unknown)) if scalar.is_integer() => {
                self.ranges.get(&unknown.identity).copied()
            }
            value => value.as_number().map(|number| (number.get(), number.get())),
        }
    }

    /// Keeps between which numbers a result is.
    fn keep_bounds(&mut self, operation: Binary, result: &Value, left: &Value, right: &Value) {
        let Value::Scalar(scalar, Content::Unknown(unknown)) = result else { return };
        let has_bounds = |value: &Value| match value {
            Value::Scalar(_, Content::Unknown(it)) => self.ranges.contains_key(&it.identity),
            _ => false,
        };
        if !scalar.is_integer() || !has_bounds(left) && !has_bounds(right) {
            return;
        }
        let (Some(left), Some(right)) = (self.bounds(left), self.bounds(right)) else { return };
        let between = |results: [Option<i128>; 4]| {
            let results: Option<Vec<i128>> = results.into_iter().collect();
            let results = results?;
            Some((*results.iter().min()?, *results.iter().max()?))
        };
        let bounds = match operation {
            Binary::Add => left.0.checked_add(right.0).zip(left.1.checked_add(right.1)),
            Binary::Subtract => left.0.checked_sub(right.1).zip(left.1.checked_sub(right.0)),
            Binary::Multiply => between([
                left.0.checked_mul(right.0),
                left.0.checked_mul(right.1),
                left.1.checked_mul(right.0),
                left.1.checked_mul(right.1),
            ]),
            Binary::Divide if right.0 == right.1 && right.0 > 0 => {
                Some((left.0 / right.0, left.1 / right.0))
            }
            Binary::Remainder if right.0 == right.1 && right.0 > 0 && left.0 >= 0 => {
                Some((0, left.1.min(right.0 - 1)))
            }
            _ => None,
        };
        let is_kept = |number: i128| super::operators::wrap(number, *scalar) == number;
        if let Some(bounds) = bounds.filter(|bounds| is_kept(bounds.0) && is_kept(bounds.1)) {
            self.ranges.insert(unknown.identity, bounds);
        }
    }

    /// Keeps of what a product is so many times.
    fn keep_product(&mut self, result: &Value, left: &Value, right: &Value) {
        let (Value::Scalar(scalar, Content::Unknown(product)), true) = (result, true) else {
            return;
        };
        if !scalar.is_integer() {
            return;
        }
        let (product, scalar) = (product.identity, *scalar);
        let times = |value: &Value| value.as_integer();
        let of = match (times(left), times(right)) {
            (None, Some(times)) => Some((left.clone(), times)),
            (Some(times), None) => Some((right.clone(), times)),
            _ => None,
        };
        let kept = match of {
            Some((of, times)) => match self.products.get(&self.identity(&of).identity) {
                Some((inner, already)) => already.checked_mul(times).map(|it| (inner.clone(), it)),
                None => Some((of, times)),
            },
            None => {
                let inner =
                    |value: &Value| self.products.get(&self.identity(value).identity).cloned();
                match (inner(left), inner(right)) {
                    (Some((of, times)), None) => Some((of, right.clone(), times)),
                    (None, Some((of, times))) => Some((of, left.clone(), times)),
                    _ => None,
                }
                .map(|(one, other, times)| (self.product(&one, &other, scalar), times))
            }
        };
        if let Some(kept) = kept {
            self.products.insert(product, kept);
        }
    }

    /// A product of which nothing is known, by the name that any such product has.
    fn product(&mut self, one: &Value, other: &Value, scalar: Scalar) -> Value {
        let swaps = self.identity(one).identity > self.identity(other).identity;
        let inputs = if swaps { [other, one] } else { [one, other] };
        self.computed("multiply", &inputs, Type::Scalar(scalar))
    }

    /// What is left of a result that does not fit: numbers without a sign start again from zero.
    fn wrapped(&mut self, operation: Binary, left: &Value, right: &Value, result: Value) -> Value {
        let Value::Scalar(scalar, Content::Unknown(_)) = &result else { return result };
        let (Some(left), Some(right), true) =
            (left.as_number(), right.as_number(), is_unsigned(*scalar))
        else {
            return result;
        };
        let number = left.with(right, |left, right| {
            let number = match operation {
                Binary::Add => left.checked_add(right),
                Binary::Subtract => left.checked_sub(right),
                Binary::Multiply => left.checked_mul(right),
                Binary::ShiftLeft => left.checked_shl(u32::try_from(right).ok()?),
                _ => None,
            };
            number.map(|number| super::operators::wrap(number, *scalar))
        });
        match number {
            Some(number) => Value::integer(number, *scalar),
            None => result,
        }
    }

    /// `(ty) value`
    pub(super) fn cast_exactly(&mut self, value: &Value, ty: &Type) -> Value {
        match (value, ty) {
            (Value::Scalar(Scalar::Bool, Content::Unknown(unknown)), Type::Scalar(scalar))
                if scalar.is_integer() =>
            {
                self.truths.insert(unknown.identity & !1);
                Value::Scalar(*scalar, Content::Unknown(*unknown))
            }
            (_, Type::Scalar(Scalar::Bool)) if self.as_truth(value).is_some() => {
                self.as_truth(value).map_or_else(Value::default, truth)
            }
            (Value::Scalar(kept, Content::Unknown(_)), Type::Scalar(Scalar::Bool))
                if *kept != Scalar::Bool =>
            {
                let zero = Value::integer(0, *kept);
                let equal = self.equal(value, &zero);
                self.not(&equal)
            }
            (Value::Scalar(..), Type::Scalar(_)) => self.cast(value, ty),
            (Value::Reference(path), Type::Reference(to)) => {
                if **to != Type::Unknown {
                    let path = path.clone();
                    self.give_type(&path, to);
                }
                value.clone()
            }
            (Value::Scalar(..), Type::Reference(_)) if value.as_integer() == Some(0) => {
                Value::none()
            }
            (Value::Scalar(..), Type::Reference(_)) => {
                self.computed("pointer of", &[value], ty.clone())
            }
            (Value::Reference(_) | Value::Function(..), Type::Scalar(Scalar::Bool)) => {
                Value::bool(true)
            }
            (Value::Variant("None", _), Type::Scalar(Scalar::Bool)) => Value::bool(false),
            (Value::Variant("None", _), Type::Scalar(scalar)) if scalar.is_integer() => {
                Value::integer(0, *scalar)
            }
            (Value::Handle(_), Type::Scalar(_)) => value.clone(),
            (_, Type::Scalar(scalar)) => {
                let value = self.without_memory(value);
                self.computed(&format!("as {}", scalar.name()), &[&value], ty.clone())
            }
            (Value::Unknown(unknown, Type::Unknown), ty) => {
                let unknown = *unknown;
                self.unknown(unknown, ty)
            }
            _ => value.clone(),
        }
    }

    /// A string of the program's text: an array, or a pointer to one that is always there.
    pub(super) fn string(&mut self, bytes: &[u8], whole: &Expression) -> Value {
        let byte = |byte: &u8| Value::integer(i128::from(byte.cast_signed()), Scalar::I8);
        let mut items: Vec<Value> = bytes.iter().map(byte).collect();
        if let Type::Array(_, Some(length)) = &whole.ty
            && let Ok(length) = usize::try_from(*length)
            && length <= super::value::MOST_ITEMS
        {
            items.resize(length, Value::integer(0, Scalar::I8));
        }
        let sequence =
            Sequence { element: Type::Scalar(Scalar::I8), items: Items::Each(Rc::new(items)) };
        if let Type::Array(..) = whole.ty {
            return Value::Sequence(sequence);
        }
        let address = std::ptr::from_ref(whole) as usize;
        if let Some(object) = self.state.constants.get(&address) {
            return Value::Reference(Path::whole(*object));
        }
        let path = self.allocate(Value::Sequence(sequence));
        Rc::make_mut(&mut self.state.constants).insert(address, path.object);
        Value::Reference(path)
    }

    /// `-value`, `~value`, `!value`
    pub(super) fn unary_exactly(
        &mut self,
        operation: crate::program::Unary,
        value: &Value,
        place: Place,
    ) -> Value {
        match (operation, value) {
            (crate::program::Unary::Negate, Value::Scalar(scalar, Content::Known(_)))
                if is_unsigned(*scalar) =>
            {
                let number = value.as_number().unwrap_or(0.into());
                let negative = number
                    .map(|number| Some(super::operators::wrap(number.wrapping_neg(), *scalar)));
                Value::integer(negative.unwrap_or(number), *scalar)
            }
            (_, Value::Reference(_) | Value::Sequence(_)) => {
                let value = self.without_memory(value);
                self.unary(operation, &value, place)
            }
            _ => self.unary(operation, value, place),
        }
    }

    /// A constant or a function of a library as a value.
    pub(super) fn external_exactly(&mut self, path: &Arc<[String]>, whole: &Expression) -> Value {
        if let [dialect, name] = &path[..]
            && dialect == "c"
        {
            match name.as_str() {
                "null" => return Value::none(),
                "zero" => return self.zero(&whole.ty),
                "uninitialized" => return self.never_set(&whole.ty, whole.place),
                _ => {}
            }
        }
        if let Some(value) = library::constant_of_c(self, path, &whole.ty) {
            return value;
        }
        Value::External(path.clone(), Rc::default())
    }

    /// The value of a type all of whose bytes are zero.
    pub(super) fn zero(&mut self, ty: &Type) -> Value {
        self.made_of(ty, &mut |machine, ty| match ty {
            Type::Scalar(Scalar::Bool) => Value::bool(false),
            Type::Scalar(scalar) if scalar.is_float() => {
                Value::Scalar(*scalar, Content::Known(Constant::Float(0.0)))
            }
            Type::Scalar(scalar) => Value::integer(0, *scalar),
            Type::Reference(_) | Type::Function(..) => Value::none(),
            other => machine.uniform(&format!("zeroed {other:?}"), other.clone()),
        })
    }

    /// What a variable has that was never set. Of a handle of MPI that is kept in mind.
    fn never_set(&mut self, ty: &Type, place: Place) -> Value {
        let Type::External(name, _) = super::bytes::leaf(ty) else {
            return self.uninitialized(ty, place);
        };
        match library::mpi::never_set(name) {
            Some(handle) => self.made_of(ty, &mut |_, _| Value::Handle(handle.clone())),
            None => self.uninitialized(ty, place),
        }
    }

    /// A value that was never set: some value, which is the same each time that it is asked for.
    pub(super) fn uninitialized(&mut self, ty: &Type, place: Place) -> Value {
        let mut number = 0;
        self.made_of(ty, &mut |machine, ty| {
            number += 1;
            let mut identity = Identity::of("uninitialized");
            identity.number(u64::from(place.0) << 32 | number);
            identity.not_uniform();
            machine.unknown(identity.finish(), ty)
        })
    }

    /// A value of a type, each part of which that is no array and no struct is made by `make`.
    pub(super) fn made_of(
        &mut self,
        ty: &Type,
        make: &mut dyn FnMut(&mut Self, &Type) -> Value,
    ) -> Value {
        match ty {
            Type::Array(element, Some(length)) => {
                let items = if *length <= self.most_kept(element) {
                    let items = (0..*length).map(|_| self.made_of(element, make)).collect();
                    Items::Each(Rc::new(items))
                } else {
                    Items::Alike(Rc::new(self.made_of(element, make)), Length::Known(*length))
                };
                Value::Sequence(Sequence { element: (**element).clone(), items })
            }
            Type::Defined(definition, _)
                if !self.program.definition(*definition).is_enum
                    && self.program.can_be_taken_apart(ty) =>
            {
                let program = self.program;
                let variants = &program.definition(*definition).variants;
                let Some(variant) = variants.first() else { return make(self, ty) };
                let fields = variant.fields.iter().map(|(_, ty)| self.made_of(ty, make)).collect();
                let definition = *definition;
                Value::Defined { definition, variant: 0, fields: Rc::new(fields) }
            }
            _ => make(self, ty),
        }
    }

    /// An array of equal elements.
    pub(super) fn repeated_exactly(
        &mut self,
        item: &Expression,
        length: &Expression,
        ty: &Type,
    ) -> Outcome {
        let value = self.evaluate(item)?;
        let length = self.evaluate(length)?;
        let element = match ty {
            Type::Array(element, _) => (**element).clone(),
            _ => item.ty.clone(),
        };
        let items = match length.as_integer().map(|length| u64::try_from(length).unwrap_or(0)) {
            Some(length) if length <= self.most_kept(&element) => {
                let is_plain = matches!(value, Value::Scalar(_, Content::Known(_)));
                let mut items = vec![value; length as usize];
                if !is_plain {
                    self.tell_apart(&mut items);
                }
                Items::Each(Rc::new(items))
            }
            Some(length) => Items::Alike(Rc::new(value), Length::Known(length)),
            None => Items::Alike(Rc::new(value), Length::Unknown(self.identity(&length))),
        };
        Ok(Value::Sequence(Sequence { element, items }))
    }

    /// Values that nobody knows are other ones in each element.
    fn tell_apart(&mut self, items: &mut [Value]) {
        for (item, number) in items.iter_mut().zip(0_u64..) {
            if let Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _) = item {
                let mut identity = Identity::of("element");
                identity.number(number);
                identity.unknown(*unknown);
                *unknown = identity.finish();
            }
        }
    }

    /// Makes unknown what a function may have set outside of it.
    pub(super) fn forget_globals_of(&mut self, function: FunctionId) {
        for global in self.effects.globals_of(self.program, function).iter() {
            self.forget_global(*global);
        }
    }

    /// Makes unknown what code that is not there may have set: every variable that it may know.
    pub(super) fn forget_globals(&mut self) {
        for number in 0..self.program.globals.len() as u32 {
            self.forget_global(GlobalId(number));
        }
    }

    fn forget_global(&mut self, global: GlobalId) {
        if !self.program.global(global).is_mutable {
            return;
        }
        if let Some(object) = self.state.globals.get(&global) {
            let path = Path::whole(*object);
            let value = self.peek_at(&path);
            self.forget_behind(&value);
            self.forget_there(&path);
        }
    }

    /// What a function is called with where a run starts at it: the command line for `main`; for
    /// others the world for a communicator, what is the same on every rank for numbers, and memory
    /// of which nothing is known for pointers.
    pub(super) fn handed_over(&mut self, entry: &Entry) -> Vec<Value> {
        let program = self.program;
        let function = program.function(entry.function);
        let mut arguments = Vec::new();
        for (number, parameter) in function.parameters.iter().enumerate() {
            let name = function.name_of(parameter);
            let given = entry.given.iter().find(|(known, _)| name == Some(known));
            arguments.push(match (&parameter.ty, given) {
                (Type::Scalar(scalar), Some((_, number))) => {
                    Value::integer(i128::from(*number), *scalar)
                }
                (Type::External(name, _), _) if name == "MPI_Comm" => {
                    Value::Handle(Handle::Communicator(self.world()))
                }
                (Type::Reference(to), _) => {
                    let is_main = entry.kind == EntryKind::Main;
                    self.memory_from_outside(to, number, is_main)
                }
                (ty, _) => self.uniform(&format!("argument {number}"), ty.clone()),
            });
        }
        if let (EntryKind::Main, Some(count)) = (&entry.kind, arguments.first()) {
            // There is the program's name, at least.
            let zero = Value::integer(0, Scalar::I32);
            let some =
                self.binary(Binary::Less, &zero, &count.clone(), &Type::Unknown, function.place);
            if let Ok(Value::Scalar(_, Content::Unknown(condition))) = some {
                self.assume(condition, true);
            }
        }
        arguments
    }

    fn memory_from_outside(&mut self, to: &Type, number: usize, is_same: bool) -> Value {
        let what = format!("memory of argument {number}");
        let item = match is_same {
            true => self.uniform(&what, to.clone()),
            false => self.fresh(to.clone()),
        };
        let length = match is_same {
            true => self.uniform(&format!("{what} length"), Type::Unknown),
            false => self.fresh(Type::Unknown),
        };
        let length = Length::Unknown(self.identity(&length));
        let items = Items::Alike(Rc::new(item), length);
        let value = Value::Sequence(Sequence { element: to.clone(), items });
        Value::Reference(self.allocate(value))
    }

    /// Gives the program's variables outside of functions their first values, before it begins.
    pub(super) fn initialize_globals(&mut self) -> Outcome<()> {
        for number in 0..self.program.globals.len() as u32 {
            self.global(GlobalId(number))?;
        }
        self.state.kept = self.state.memory.len();
        Ok(())
    }
}

fn is_unsigned(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Usize)
}

/// The comparison with its sides exchanged.
fn turned(operation: Binary) -> Binary {
    match operation {
        Binary::Less => Binary::Greater,
        Binary::LessOrEqual => Binary::GreaterOrEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterOrEqual => Binary::LessOrEqual,
        same => same,
    }
}
