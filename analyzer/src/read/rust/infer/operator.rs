//! Operators: numbers of one type give a number of that type, and anything else what its method
//! gives.

use super::Inference;
use super::library::library;
use super::question::{Answer, Question};
use super::term::{Kind, Parts, Shape, TermId, View};
use crate::program::{Binary, Scalar};

/// The method that stands for an operator.
fn method_of(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "add",
        Binary::Subtract => "sub",
        Binary::Multiply => "mul",
        Binary::Divide => "div",
        Binary::Remainder => "rem",
        Binary::BitAnd => "bitand",
        Binary::BitOr => "bitor",
        Binary::BitXor => "bitxor",
        Binary::ShiftLeft => "shl",
        Binary::ShiftRight => "shr",
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Equal | Binary::NotEqual => "eq",
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            "partial_cmp"
        }
    }
}

/// Whether it is a number, or a truth value.
fn is_number(view: &View) -> bool {
    matches!(view, View::Open(Kind::Integer | Kind::Float) | View::Known(Shape::Scalar(_), _))
}

impl Inference<'_> {
    /// An expression with an operator between two values; gives its term.
    pub(super) fn operate(&mut self, operator: Binary, left: TermId, right: TermId) -> TermId {
        match operator {
            Binary::And | Binary::Or => {
                let truth = self.terms.scalar(Scalar::Bool);
                self.coerce(left, truth);
                self.coerce(right, truth);
                self.terms.scalar(Scalar::Bool)
            }
            Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessOrEqual
            | Binary::Greater
            | Binary::GreaterOrEqual => {
                self.ask(Question::Compare { left, right });
                self.terms.scalar(Scalar::Bool)
            }
            _ => {
                let result = self.open();
                self.ask(Question::Binary { operator, left, right, result });
                result
            }
        }
    }

    pub(super) fn binary(
        &mut self,
        operator: Binary,
        left: TermId,
        right: TermId,
        result: TermId,
    ) -> Answer {
        let (l, r) = (self.terms.behind_references(left), self.terms.behind_references(right));
        let (one, other) = (self.terms.view(l), self.terms.view(r));
        if matches!(operator, Binary::ShiftLeft | Binary::ShiftRight) && is_number(&one) {
            self.terms.unify(l, result);
            return Answer::Done;
        }
        match (&one, &other) {
            (View::Open(Kind::Any), _) => Answer::Wait(l),
            (_, View::Open(Kind::Any)) if is_number(&one) => Answer::Wait(r),
            _ if is_number(&one) && is_number(&other) => {
                self.terms.unify(l, r);
                self.terms.unify(l, result);
                Answer::Done
            }
            (View::Known(Shape::Text, _), _) => {
                self.terms.unify(l, result);
                Answer::Done
            }
            (View::Known(Shape::Defined(definition), _), _) => {
                match self.only_method(*definition, method_of(operator)) {
                    Some(id) => {
                        let instance = self.method_instance(id, l, &[]);
                        if let Some(parameter) = instance.parameters.get(1) {
                            self.coerce(right, *parameter);
                        }
                        self.terms.unify(instance.result, result);
                        Answer::Done
                    }
                    None => self.give_up(&[left, right, result]),
                }
            }
            _ => self.give_up(&[left, right, result]),
        }
    }

    pub(super) fn unary(&mut self, method: &'static str, of: TermId, result: TermId) -> Answer {
        let inner = self.terms.behind_references(of);
        let view = self.terms.view(inner);
        match &view {
            View::Open(Kind::Any) => Answer::Wait(inner),
            _ if is_number(&view) => {
                self.terms.unify(inner, result);
                Answer::Done
            }
            View::Known(Shape::Defined(definition), _) => {
                match self.only_method(*definition, method) {
                    Some(id) => {
                        let instance = self.method_instance(id, inner, &[]);
                        self.terms.unify(instance.result, result);
                        Answer::Done
                    }
                    None => self.give_up(&[of, result]),
                }
            }
            _ => self.give_up(&[of, result]),
        }
    }

    pub(super) fn compare(&mut self, left: TermId, right: TermId) -> Answer {
        let (l, r) = (self.terms.behind_references(left), self.terms.behind_references(right));
        match (self.terms.view(l), self.terms.view(r)) {
            (View::Conflict, _) | (_, View::Conflict) => self.give_up(&[l, r]),
            (View::Open(one), View::Open(other)) => {
                if one == Kind::Any || other == Kind::Any {
                    return Answer::Wait(if one == Kind::Any { l } else { r });
                }
                self.terms.unify(l, r);
                Answer::Done
            }
            // A number is compared with its own type only.
            (View::Open(kind), View::Known(Shape::Scalar(_), _))
            | (View::Known(Shape::Scalar(_), _), View::Open(kind)) => {
                if kind != Kind::Any || !(self.terms.is_doubtful(l) || self.terms.is_doubtful(r)) {
                    self.terms.unify(l, r);
                }
                Answer::Done
            }
            (View::Open(Kind::Any), View::Known(..)) => Answer::Wait(l),
            (View::Known(..), View::Open(Kind::Any)) => Answer::Wait(r),
            (View::Open(_), View::Known(..)) | (View::Known(..), View::Open(_)) => {
                self.give_up(&[l, r])
            }
            (View::Known(one, from), View::Known(other, to)) => {
                self.compare_known((&one, &from), (&other, &to), l, r)
            }
        }
    }

    fn compare_known(
        &mut self,
        (one, from): (&Shape, &Parts),
        (other, to): (&Shape, &Parts),
        left: TermId,
        right: TermId,
    ) -> Answer {
        match (one, other) {
            (Shape::Scalar(_), Shape::Scalar(_)) => self.terms.unify(left, right),
            _ if one == other || (is_sequence(one) && is_sequence(other)) => {
                for (left, right) in from.iter().zip(to.iter()) {
                    self.ask(Question::Compare { left: *left, right: *right });
                }
            }
            _ => {}
        }
        Answer::Done
    }
}

fn is_sequence(shape: &Shape) -> bool {
    match shape {
        Shape::Array(_) | Shape::Slice => true,
        Shape::External(name) => library().is_a(name, "Sequence"),
        _ => false,
    }
}
