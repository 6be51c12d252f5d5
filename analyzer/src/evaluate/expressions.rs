//! Expressions, one by one.

use std::rc::Rc;

use super::identity::SOME_INTEGER;
use super::iterator::Lazy;
use super::library;
use super::machine::{Flow, Machine, Outcome};
use super::operators::{operator_method, rounded};
use super::places::Target;
use super::value::{Constant, Content, Items, Length, MOST_ITEMS, Path, Sequence, Step, Value};
use crate::program::{Binary, DefinitionId, Expression, Kind, Literal, Place, Scalar, Type};

impl Machine<'_> {
    /// The value of an expression.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Outcome {
        self.evaluate_as_written(expression).map(|value| self.settled(value))
    }

    fn evaluate_as_written(&mut self, expression: &Expression) -> Outcome {
        let place = expression.place;
        self.step_on(place)?;
        match &expression.kind {
            Kind::Literal(Literal::Bytes(bytes)) if self.is_c() => {
                Ok(self.string(bytes, expression))
            }
            Kind::Literal(literal) => Ok(self.literal(literal, &expression.ty)),
            Kind::Variable(_)
            | Kind::Global(_)
            | Kind::Field(..)
            | Kind::Index(..)
            | Kind::Dereference(_) => {
                if self.is_c() {
                    return self.value_exactly(expression);
                }
                let target = self.locate(expression)?;
                match self.use_up(target, place) {
                    // Never set, as far as is known.
                    Value::Moved => {
                        let ty = self.resolve(&expression.ty);
                        Ok(self.fresh(ty))
                    }
                    value => Ok(value),
                }
            }
            Kind::Function(function, generics) => {
                let generics = generics.iter().map(|ty| self.resolve(ty)).collect();
                Ok(Value::Function(*function, generics))
            }
            Kind::External(path, _) if self.is_c() => Ok(self.external_exactly(path, expression)),
            Kind::External(path, generics) => self.external(path, generics),
            Kind::Tuple(parts) => Ok(Value::Tuple(Rc::new(self.evaluate_all(parts)?))),
            Kind::Array(parts) => {
                let items = self.evaluate_all(parts)?;
                let element = self.element_type(&expression.ty, items.first());
                Ok(Value::Sequence(Sequence { element, items: Items::Each(Rc::new(items)) }))
            }
            Kind::Repeat(item, length) if self.is_c() => {
                self.repeated_exactly(item, length, &expression.ty)
            }
            Kind::Repeat(item, length) => self.repeated(item, length, &expression.ty),
            Kind::Construct { definition, variant, fields, rest } => {
                self.construct(*definition, *variant, fields, rest.as_deref())
            }
            Kind::Unary(operation, value) => {
                let value = self.evaluate(value)?;
                if self.is_c() {
                    return Ok(self.unary_exactly(*operation, &value, place));
                }
                Ok(self.unary(*operation, &value, place))
            }
            Kind::Binary(operation @ (Binary::And | Binary::Or), left, right) => {
                self.short_circuit(*operation, left, right, place)
            }
            Kind::Binary(operation, left, right) => {
                let left = self.operand(left)?;
                let right = self.operand(right)?;
                if self.is_c() {
                    return self.binary_exactly(*operation, &left, &right, &expression.ty, place);
                }
                self.operate(*operation, left, right, &expression.ty, place)
            }
            Kind::Assign(target, value) => {
                let value = self.evaluate(value)?;
                self.assign(target, value, place)?;
                Ok(Value::unit())
            }
            Kind::AssignWith(operation, target, value) => {
                self.assign_with(*operation, target, value, place)
            }
            Kind::Cast(value, ty) => {
                let value = self.operand(value)?;
                if self.is_c() {
                    return Ok(self.cast_exactly(&value, ty));
                }
                let ty = self.resolve(ty);
                Ok(self.cast(&value, &ty))
            }
            Kind::Reference { of, .. } if self.is_c() => self.address(of),
            Kind::Reference { of, mutable } => self.reference(of, *mutable),
            Kind::Range { start, end, inclusive } => {
                self.range(start.as_deref(), end.as_deref(), *inclusive, place)
            }
            Kind::Call(callee, arguments) => {
                let callee = match self.locate(callee)? {
                    Target::Path(path) => self.peek(&path),
                    Target::Value(value) => value,
                };
                let values = self.evaluate_all(arguments)?;
                let ty = self.resolve(&expression.ty);
                self.call_with(&callee, values, arguments, &ty, place)
            }
            Kind::Method { receiver, name, generics, arguments } => {
                self.evaluate_method(expression, receiver, name, generics, arguments)
            }
            Kind::Macro(name, arguments) => self.evaluate_macro(expression, name, arguments),
            Kind::Closure(closure) => Ok(self.make_closure(closure)),
            Kind::Block(block) => self.evaluate_block(block),
            Kind::If { condition, then, otherwise } => {
                self.evaluate_if(condition, then, otherwise.as_deref(), place)
            }
            Kind::Match(value, arms) => self.evaluate_match(value, arms, place),
            Kind::Loop(label, body) => self.evaluate_loop(label.as_deref(), None, body, place),
            Kind::While(label, condition, body) => {
                self.evaluate_loop(label.as_deref(), Some(condition), body, place)
            }
            Kind::For { label, pattern, over, body } => {
                self.evaluate_for(label.as_deref(), pattern, over, body, place)
            }
            Kind::Break(label, value) => {
                let value = self.optional(value.as_deref())?;
                Err(Flow::Break(label.clone(), value))
            }
            Kind::Continue(label) => Err(Flow::Continue(label.clone())),
            Kind::Return(value) => {
                let value = self.optional(value.as_deref())?;
                Err(Flow::Return(value))
            }
            Kind::Try(value) => {
                let value = self.evaluate(value)?;
                self.unwrap_or_return(value, place)
            }
            Kind::Unknown(why) => {
                self.gap(place, why);
                let ty = self.resolve(&expression.ty);
                Ok(self.fresh(ty))
            }
        }
    }

    /// The values of expressions, in order.
    pub(super) fn evaluate_all(&mut self, expressions: &[Expression]) -> Outcome<Vec<Value>> {
        expressions.iter().map(|expression| self.evaluate(expression)).collect()
    }

    /// The value of an expression that may be left out.
    pub(super) fn optional(&mut self, expression: Option<&Expression>) -> Outcome {
        expression.map_or_else(|| Ok(Value::unit()), |expression| self.evaluate(expression))
    }

    /// The value of an expression that is only looked at: nothing is moved.
    pub(super) fn operand(&mut self, expression: &Expression) -> Outcome {
        if self.is_c() {
            return self.evaluate(expression);
        }
        match &expression.kind {
            Kind::Variable(_) | Kind::Field(..) | Kind::Index(..) | Kind::Dereference(_) => {
                self.step_on(expression.place)?;
                match self.locate(expression)? {
                    Target::Path(path) => match self.read(&path, expression.place) {
                        Value::Moved => {
                            let ty = self.resolve(&expression.ty);
                            Ok(self.fresh(ty))
                        }
                        value => Ok(self.settled(value)),
                    },
                    Target::Value(value) => Ok(self.settled(value)),
                }
            }
            _ => self.evaluate(expression),
        }
    }

    fn literal(&mut self, literal: &Literal, ty: &Type) -> Value {
        let scalar = match ty {
            Type::Scalar(scalar) => Some(*scalar),
            Type::Parameter(_) => super::types::scalar(&self.resolve(ty)),
            _ => None,
        };
        let known = |scalar, constant| Value::Scalar(scalar, Content::Known(constant));
        match literal {
            Literal::Integer(number) => match scalar {
                Some(scalar) if scalar.is_float() => {
                    known(scalar, Constant::Float((*number as f64).into()))
                }
                Some(scalar) => known(scalar, Constant::Integer((*number).into())),
                None => known(SOME_INTEGER, Constant::Integer((*number).into())),
            },
            Literal::Float(number) => {
                let scalar = scalar.unwrap_or(Scalar::F64);
                known(scalar, Constant::Float(rounded(*number, scalar).into()))
            }
            Literal::Bool(value) => Value::bool(*value),
            Literal::Char(value) => known(Scalar::Char, Constant::Char(*value)),
            Literal::Text(text) => Value::Text(Some(Rc::from(&**text))),
            Literal::Bytes(bytes) => {
                let byte = |byte: &u8| Value::integer(i128::from(*byte), Scalar::U8);
                let items = Items::Each(Rc::new(bytes.iter().map(byte).collect()));
                let whole = Sequence { element: Type::Scalar(Scalar::U8), items };
                Value::Reference(self.allocate(Value::Sequence(whole)))
            }
        }
    }

    /// A path of a library as a value: a constant, else the function of that name.
    fn external(&mut self, path: &std::sync::Arc<[String]>, generics: &[Type]) -> Outcome {
        if path.last().is_some_and(|name| name == "None") {
            return Ok(Value::none());
        }
        if let Some(value) = self.generic_number(path).or_else(|| library::constant(self, path)) {
            return Ok(value);
        }
        let generics = generics.iter().map(|ty| self.resolve(ty)).collect();
        Ok(Value::External(path.clone(), generics))
    }

    /// The type of the elements of an array: what inference says, else what the first one is.
    fn element_type(&self, ty: &Type, first: Option<&Value>) -> Type {
        let ty = self.resolve(ty);
        match super::types::element(ty.behind_references()) {
            Some(element) if *element != Type::Unknown => element.clone(),
            _ => first.map(|value| self.type_of(value)).unwrap_or_default(),
        }
    }

    fn repeated(&mut self, item: &Expression, length: &Expression, ty: &Type) -> Outcome {
        let item = self.evaluate(item)?;
        let length = self.operand(length)?;
        let length = self.behind(&length, Place::default());
        let element = self.element_type(ty, Some(&item));
        let items = match length.as_integer().and_then(|length| usize::try_from(length).ok()) {
            Some(length) if length <= MOST_ITEMS.min(64) => {
                Items::Each(Rc::new(vec![item; length]))
            }
            Some(length) => Items::Alike(Rc::new(item), Length::Known(length as u64)),
            None => Items::Alike(Rc::new(item), Length::Unknown(self.identity(&length))),
        };
        Ok(Value::Sequence(Sequence { element, items }))
    }

    fn construct(
        &mut self,
        definition: DefinitionId,
        variant: u32,
        fields: &[(String, Expression)],
        rest: Option<&Expression>,
    ) -> Outcome {
        let names = self.program.definition(definition).variants.get(variant as usize);
        let count = names.map_or(fields.len(), |variant| variant.fields.len());
        let mut values = vec![Value::Moved; count];
        for (name, value) in fields {
            let value = self.evaluate(value)?;
            let index = self.field_number(definition, variant, name);
            if let Some(field) = index.and_then(|index| values.get_mut(index as usize)) {
                *field = value;
            }
        }
        if let Some(rest) = rest {
            let target = self.locate(rest)?;
            let rest = self.look(&target);
            for (index, value) in values.iter_mut().enumerate() {
                let is_given = fields.iter().any(|(name, _)| {
                    self.field_number(definition, variant, name) == Some(index as u32)
                });
                if !is_given {
                    *value = self.part(&rest, &Step::Field(index as u32));
                }
            }
        }
        Ok(Value::Defined { definition, variant, fields: Rc::new(values) })
    }

    /// `left operation right`, which a type of the program may define itself.
    pub(super) fn operate(
        &mut self,
        operation: Binary,
        left: Value,
        right: Value,
        ty: &Type,
        place: Place,
    ) -> Outcome {
        if let Value::Defined { definition, .. } = self.behind(&left, place) {
            let (name, negated) = match operation {
                Binary::NotEqual => (Some("eq"), true),
                operation => (operator_method(operation), false),
            };
            let ty = self.resolve(ty);
            if let Some(name) = name
                && self.has_method(definition, name)
                && let Some(outcome) =
                    self.call_method(&left, name, vec![right.clone()], &ty, place)
            {
                return Ok(if negated { self.not(&outcome?) } else { outcome? });
            }
        }
        let ty = self.resolve(ty);
        self.binary(operation, &left, &right, &ty, place)
    }

    /// `left && right`, `left || right`
    fn short_circuit(
        &mut self,
        operation: Binary,
        left: &Expression,
        right: &Expression,
        place: Place,
    ) -> Outcome {
        let decides = operation == Binary::Or;
        let left_value = self.operand(left)?;
        let left_value = self.behind(&left_value, place);
        if left_value.as_bool() == Some(decides) {
            return Ok(Value::bool(decides));
        }
        if left_value.as_bool().is_some() {
            let right = self.operand(right)?;
            return Ok(self.behind(&right, place));
        }
        let condition = self.identity(&left_value);
        if let Some(known) = self.fact(condition) {
            if known == decides {
                return Ok(Value::bool(decides));
            }
            return self.operand(right);
        }
        if !self.effects.get(right).communicates {
            let right = self.operand(right)?;
            return self.binary(operation, &left_value, &right, &Type::Scalar(Scalar::Bool), place);
        }
        let evaluate = |machine: &mut Self| machine.operand(right);
        let skip = |_: &mut Self| Ok(Value::bool(decides));
        let choice = super::choices::Choice::between(place, self.effects.get(right));
        if decides {
            self.choose(condition, &choice, &skip, &evaluate)
        } else {
            self.choose(condition, &choice, &evaluate, &skip)
        }
    }

    /// `&of`
    fn reference(&mut self, of: &Expression, mutable: bool) -> Outcome {
        let address = std::ptr::from_ref(of) as usize;
        match self.locate(of)? {
            Target::Path(path) if mutable => Ok(Value::Reference(path)),
            Target::Path(path) => Ok(Value::Reference(self.end_of(path))),
            Target::Value(reference @ Value::Reference(_)) => Ok(reference),
            Target::Value(value) if self.is_owned(&value) => {
                Ok(Value::Reference(self.drop_at_end_of_scope(value)))
            }
            Target::Value(value) if is_constant(of) => {
                if let Some(object) = self.state.constants.get(&address) {
                    return Ok(Value::Reference(Path::whole(*object)));
                }
                let path = self.allocate(value);
                Rc::make_mut(&mut self.state.constants).insert(address, path.object);
                Ok(Value::Reference(path))
            }
            Target::Value(value) => {
                let path = Path::whole(self.state.temporary(address));
                self.note_access(&path, true, of.place);
                self.put(&path, value);
                Ok(Value::Reference(path))
            }
        }
    }

    fn range(
        &mut self,
        start: Option<&Expression>,
        end: Option<&Expression>,
        inclusive: bool,
        place: Place,
    ) -> Outcome {
        let mut next = match start {
            Some(start) => self.operand(start)?,
            None => Value::integer(0, Scalar::Usize),
        };
        next = self.behind(&next, place);
        let mut end = end.map(|end| self.operand(end)).transpose()?;
        if let Some(last) = &mut end {
            *last = self.behind(last, place);
            if let (Value::Scalar(mine, content), Value::Scalar(theirs, _)) = (&next, &*last)
                && (*mine == SOME_INTEGER || start.is_none())
            {
                next = Value::Scalar(*theirs, *content);
            }
            if inclusive {
                let one = Value::integer(1, SOME_INTEGER);
                let ty = self.type_of(last);
                *last = self.binary(Binary::Add, last, &one, &ty, place)?;
            }
        }
        Ok(Value::Iterator(Rc::new(Lazy::Range { next, end })))
    }
}

/// Whether the compiler keeps an expression's value for ever where a reference to it is asked for.
fn is_constant(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Literal(_) | Kind::Global(_) => true,
        Kind::Unary(_, inner) => is_constant(inner),
        Kind::Array(parts) | Kind::Tuple(parts) => parts.iter().all(is_constant),
        _ => false,
    }
}
