//! Assignments: as statements, and where their value is used.

use tree_sitter::Node;

use super::super::parse::children;
use super::Lowering;
use super::bit_fields::cut;
use super::convert::{arithmetic, convert, decayed, integer, promote};
use super::expression::{block_of, element, let_be, reference};
use super::operator::{operation, unary};
use crate::program::{Binary, Condition, Expression, Kind, Place, Scalar, Statement, Type};

impl<'u> Lowering<'u> {
    /// An expression of which only what it does is wanted.
    pub(super) fn effect(&mut self, node: Node<'u>, out: &mut Vec<Statement>) {
        match node.kind() {
            "parenthesized_expression" | "extension_expression" => {
                match children(node, &mut node.walk())[..] {
                    [inner] if inner.kind() != "compound_statement" => {
                        return self.effect(inner, out);
                    }
                    _ => {}
                }
            }
            "cast_expression" => {
                // `(void)value`
                let ty = node.child_by_field_name("type");
                let value = node.child_by_field_name("value");
                if let (Some(ty), Some(value)) = (ty, value)
                    && self.text(ty) == "void"
                {
                    return self.effect(value, out);
                }
            }
            "comma_expression" => {
                let left = node.child_by_field_name("left");
                let right = node.child_by_field_name("right");
                left.into_iter().chain(right).for_each(|part| self.effect(part, out));
                return;
            }
            "assignment_expression" => {
                if let Some((target, operator, value)) = self.assignment_parts(node) {
                    let place = self.place(node);
                    let done = self.assign(target, operator, value, place);
                    out.extend(done.into_iter().map(Statement::Expression));
                    return;
                }
            }
            "update_expression" => {
                if let Some(argument) = node.child_by_field_name("argument") {
                    let target = self.expression(argument);
                    let operation = self.step(node);
                    let place = self.place(node);
                    let one = integer(1, Scalar::I32, place);
                    let done = self.assign(target, Some(operation), one, place);
                    out.extend(done.into_iter().map(Statement::Expression));
                    return;
                }
            }
            "conditional_expression" => return self.conditional_effect(node, out),
            _ => {}
        }
        let expression = self.expression(node);
        out.push(Statement::Expression(expression));
    }

    /// `condition ? this() : that();`
    fn conditional_effect(&mut self, node: Node<'u>, out: &mut Vec<Statement>) {
        let condition = node.child_by_field_name("condition");
        let then = node.child_by_field_name("consequence");
        let otherwise = node.child_by_field_name("alternative");
        let (Some(condition), Some(then), Some(otherwise)) = (condition, then, otherwise) else {
            let unreadable = self.unreadable(node);
            out.push(Statement::Expression(unreadable));
            return;
        };
        let condition = self.truth(condition);
        let mut arms = [then, otherwise].map(|arm| {
            let mut statements = Vec::new();
            self.effect(arm, &mut statements);
            self.block_around(statements, arm)
        });
        let otherwise = std::mem::replace(&mut arms[1], condition.clone());
        let then = std::mem::replace(&mut arms[0], condition.clone());
        let kind = Kind::If {
            condition: Box::new(Condition::Holds(condition)),
            then: Box::new(then),
            otherwise: Some(Box::new(otherwise)),
        };
        let branch = self.make(kind, Type::unit(), node);
        out.push(Statement::Expression(branch));
    }

    /// The target, the operation that comes before, and the value.
    fn assignment_parts(
        &mut self,
        node: Node<'u>,
    ) -> Option<(Expression, Option<Binary>, Expression)> {
        let left = node.child_by_field_name("left")?;
        let right = node.child_by_field_name("right")?;
        let operator = self.operator(node);
        let operation = match operator.strip_suffix('=')? {
            "" => None,
            operator => Some(operation(operator)?),
        };
        if right.kind() == "initializer_list" {
            let target = self.expression(left);
            let value = self.initialised(&target.ty.clone(), right);
            return Some((target, operation, value));
        }
        let value = self.value(right);
        let target = self.expression(left);
        Some((target, operation, value))
    }

    /// `target = value`, `target operation= value`; a pointer to the target comes first where the
    /// target does something itself and is needed twice.
    fn assign(
        &mut self,
        target: Expression,
        operation: Option<Binary>,
        value: Expression,
        place: Place,
    ) -> Vec<Expression> {
        let with = |kind| Expression { kind, place, ty: Type::unit() };
        if let Some(whole) = opaque_around(&target) {
            // One part of a union changes the others.
            let kind = Kind::Unknown("what is in a union or an object is not followed".to_owned());
            let unknown = Expression { kind, place, ty: whole.ty.clone() };
            let kind = Kind::Assign(Box::new(whole.clone()), Box::new(unknown));
            return vec![value, with(kind)];
        }
        let Some(operation) = operation else {
            let value = convert(value, &target.ty);
            let value = match self.width_of(&target) {
                Some(width) => cut(value, width),
                None => value,
            };
            return vec![with(Kind::Assign(Box::new(target), Box::new(value)))];
        };
        if let Type::Reference(_) = target.ty {
            return self.step_pointer(target, operation, value, place);
        }
        let shifts = matches!(operation, Binary::ShiftLeft | Binary::ShiftRight);
        let (old, value, ty) = if shifts {
            let (old, value) = (promote(target.clone()), promote(value));
            let ty = old.ty.clone();
            (old, value, ty)
        } else {
            arithmetic(target.clone(), value)
        };
        // What comes out of smaller numbers is cut to their width again.
        let is_same = ty == target.ty;
        let is_small = matches!(&target.ty, Type::Scalar(scalar) if scalar.is_integer())
            && matches!(&value.kind, Kind::Literal(_))
            && matches!(operation, Binary::Add | Binary::Subtract);
        let width = self.width_of(&target);
        if (is_same || is_small || target.ty == Type::Unknown) && width.is_none() {
            let value = if shifts { value } else { convert(value, &target.ty) };
            return vec![with(Kind::AssignWith(operation, Box::new(target), Box::new(value)))];
        }
        if has_effects(&target) {
            return self.through_pointer(target, operation, value, place);
        }
        let kind = Kind::Binary(operation, Box::new(old), Box::new(value));
        let value = convert(Expression { kind, place, ty }, &target.ty);
        let value = width.map_or(value.clone(), |width| cut(value, width));
        vec![with(Kind::Assign(Box::new(target), Box::new(value)))]
    }

    /// `pointer += value`
    fn step_pointer(
        &mut self,
        target: Expression,
        operation: Binary,
        value: Expression,
        place: Place,
    ) -> Vec<Expression> {
        if has_effects(&target) {
            return self.through_pointer(target, operation, value, place);
        }
        let value = match operation {
            Binary::Subtract => {
                unary("-", convert(promote(value), &Type::Scalar(Scalar::I64)), place)
            }
            _ => promote(value),
        };
        let moved = self.offset(target.clone(), value, place);
        let kind = Kind::Assign(Box::new(target), Box::new(moved));
        vec![Expression { kind, place, ty: Type::unit() }]
    }

    /// The same over a pointer to the target.
    fn through_pointer(
        &mut self,
        target: Expression,
        operation: Binary,
        value: Expression,
        place: Place,
    ) -> Vec<Expression> {
        let (first, target) = self.pointed(target, place);
        let done = self.assign(target, Some(operation), value, place);
        let unit = Expression { kind: Kind::Tuple(Vec::new()), place, ty: Type::unit() };
        let statements = first.into_iter().chain(done.into_iter().map(Statement::Expression));
        vec![block_of(statements.collect(), unit)]
    }

    /// A place that does nothing itself, and what comes before it.
    fn pointed(&mut self, target: Expression, place: Place) -> (Option<Statement>, Expression) {
        if !has_effects(&target) {
            return (None, target);
        }
        let pointer = match target.kind {
            Kind::Index(of, index) => self.offset(decayed(*of), *index, place),
            _ => reference(target, place),
        };
        let ty = pointer.ty.clone();
        let variable = self.hidden("target", ty.clone());
        let target = element(self.variable(variable, place), integer(0, Scalar::I64, place), place);
        (Some(let_be(variable, ty, pointer)), target)
    }

    /// An assignment whose value is used.
    pub(super) fn assignment(&mut self, node: Node<'u>) -> Expression {
        let Some((target, operation, value)) = self.assignment_parts(node) else {
            return self.unreadable(node);
        };
        let place = self.place(node);
        let (first, target) = self.pointed(target, place);
        let mut statements: Vec<Statement> = first.into_iter().collect();
        let done = self.assign(target.clone(), operation, value, place);
        statements.extend(done.into_iter().map(Statement::Expression));
        block_of(statements, target)
    }

    /// `++place`, `place++` whose value is used.
    pub(super) fn update(&mut self, node: Node<'u>) -> Expression {
        let Some(argument) = node.child_by_field_name("argument") else {
            return self.unreadable(node);
        };
        let operator = node.child_by_field_name("operator");
        let is_first = operator.is_some_and(|it| it.start_byte() < argument.start_byte());
        let target = self.expression(argument);
        let operation = self.step(node);
        let place = self.place(node);
        let (first, target) = self.pointed(target, place);
        let mut statements: Vec<Statement> = first.into_iter().collect();
        let one = integer(1, Scalar::I32, place);
        let done = self.assign(target.clone(), Some(operation), one, place);
        let done = done.into_iter().map(Statement::Expression);
        if is_first {
            statements.extend(done);
            return block_of(statements, target);
        }
        let ty = target.ty.clone();
        let before = self.hidden("before", ty.clone());
        statements.push(let_be(before, ty, target));
        statements.extend(done);
        let before = self.variable(before, place);
        block_of(statements, before)
    }

    /// What `++` or `--` does.
    fn step(&self, node: Node<'u>) -> Binary {
        if self.operator(node) == "--" { Binary::Subtract } else { Binary::Add }
    }
}

/// The union, or the object of a class, in which a place is.
pub(super) fn opaque_around(place: &Expression) -> Option<&Expression> {
    let is_opaque = |ty: &Type| matches!(ty, Type::External(name, _) if !name.starts_with("MPI_") && name != "Vec");
    match &place.kind {
        Kind::Field(of, _) if is_opaque(&of.ty) => opaque_around(of).or(Some(of)),
        Kind::Field(of, _) => opaque_around(of),
        Kind::Index(of, _) if matches!(of.ty, Type::Array(..)) => opaque_around(of),
        _ => None,
    }
}

/// Whether evaluating an expression does something that doing it twice would do twice.
pub(super) fn has_effects(expression: &Expression) -> bool {
    let own = match &expression.kind {
        Kind::Call(callee, _) => {
            !["offset", "difference", "sizeof"].iter().any(|it| super::is_of_c(callee, it))
        }
        Kind::Assign(..) | Kind::AssignWith(..) | Kind::Block(_) | Kind::Unknown(_) => true,
        _ => false,
    };
    let mut found = own;
    expression.for_each_child(&mut |child| found = found || has_effects(child));
    found
}
