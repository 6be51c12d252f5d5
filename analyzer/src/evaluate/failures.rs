//! Where a rank may fail: assertions, `?`, and what only gives up.
//!
//! Errors in the data are not what is looked for: what is not known is taken to be right.

use p2p_protocol::model::Departure;

use super::effects::only_fails;
use super::machine::{Flow, Machine, Outcome};
use super::value::Value;
use crate::program::{Expression, Kind, Literal, Place, Scalar, Type};

impl Machine<'_> {
    /// Notes what would be called where the rank gives up, if that is all that is done there.
    pub(super) fn spare(&mut self, arm: &Expression) {
        if self.effects.get(arm).communicates && only_fails(arm) {
            self.spare_all(arm);
        }
    }

    fn spare_all(&mut self, arm: &Expression) {
        if !self.spared.insert(arm.place) {
            return;
        }
        let program = self.program;
        if let Kind::Function(function, _) = &arm.kind
            && let function = program.function(*function)
            && function.result == Type::Never
            && let Some(body) = &function.body
        {
            self.spare_all(body);
        }
        arm.for_each_child(&mut |child| self.spare_all(child));
    }

    /// `value?`: an unknown one is taken to be right.
    pub(super) fn unwrap_or_return(&mut self, value: Value, place: Place) -> Outcome {
        match self.behind(&value, place) {
            Value::Variant("Some" | "Ok", parts) => {
                Ok(parts.first().cloned().unwrap_or_else(Value::unit))
            }
            failed @ Value::Variant("None" | "Err", _) => Err(Flow::Return(failed)),
            unknown => {
                let is_option = matches!(
                    self.type_of(&unknown).behind_references(),
                    Type::External(name, _) if name == "Option"
                );
                let name = if is_option { "Some" } else { "Ok" };
                let condition = self.is_variant(name, &unknown);
                self.assume(condition, true);
                Ok(self.payload(&unknown, name, 0))
            }
        }
    }

    /// A panic, if a condition does not hold; one that nobody knows is taken to hold. Only where it
    /// is about whole numbers is it known well enough that it does not: what is known of data may
    /// be less than it seems.
    pub(super) fn require(
        &mut self,
        holds: &Value,
        about: &[Expression],
        place: Place,
    ) -> Outcome<()> {
        let holds = self.behind(holds, place);
        let condition = self.identity(&holds);
        let known = holds.as_bool();
        match known.or_else(|| self.fact(condition)) {
            Some(true) => Ok(()),
            Some(false)
                if known.is_some()
                    && !self.shared.oracle.has_answered()
                    && about.iter().all(is_about_numbers) =>
            {
                Err(self.leave(Departure::Panicked, place))
            }
            Some(false) => Err(self.lost(place, "an assertion seems to fail")),
            None => {
                self.assume(condition, true);
                Ok(())
            }
        }
    }
}

/// Whether an expression is made of whole numbers and truth values alone.
fn is_about_numbers(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Binary(_, left, right) => is_about_numbers(left) && is_about_numbers(right),
        Kind::Unary(_, inner) | Kind::Cast(inner, _) | Kind::Dereference(inner) => {
            is_about_numbers(inner)
        }
        Kind::Reference { of, .. } => is_about_numbers(of),
        Kind::Literal(literal) => {
            matches!(literal, Literal::Integer(_) | Literal::Bool(_))
        }
        // `is_none()`, `is_err()`: what an option or a result is, is known well.
        Kind::Method { name, .. } if name.starts_with("is_") => true,
        Kind::Variable(_)
        | Kind::Global(_)
        | Kind::Field(..)
        | Kind::Call(..)
        | Kind::Method { .. } => match expression.ty.behind_references() {
            Type::Scalar(scalar) => scalar.is_integer() || *scalar == Scalar::Bool,
            _ => false,
        },
        _ => false,
    }
}
