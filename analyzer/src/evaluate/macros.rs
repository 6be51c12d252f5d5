//! Macros that are known by name. Those that the program defines have been expanded before.

use std::rc::Rc;

use p2p_protocol::model::Departure;

use super::machine::{Flow, Machine, Outcome};
use super::places::Target;
use super::value::Value;
use crate::program::{Binary, Expression, Kind, Literal, Place, Type};

impl Machine<'_> {
    /// `name!(arguments)`
    pub(super) fn evaluate_macro(
        &mut self,
        expression: &Expression,
        name: &str,
        arguments: &[Expression],
    ) -> Outcome {
        let place = expression.place;
        match name {
            "vec" => match arguments {
                [only] => self.evaluate(only),
                _ => Ok(self.fresh(expression.ty.clone())),
            },
            "assert" | "debug_assert" => {
                let Some(condition) = arguments.first() else { return Ok(Value::unit()) };
                let holds = self.operand(condition)?;
                self.require(&holds, &arguments[..1], place)?;
                Ok(Value::unit())
            }
            "assert_eq" | "debug_assert_eq" | "assert_ne" | "debug_assert_ne" => {
                let [left, right, ..] = arguments else { return Ok(Value::unit()) };
                let left = self.operand(left)?;
                let right = self.operand(right)?;
                let about = &arguments[..2];
                let operation = if name.ends_with("ne") { Binary::NotEqual } else { Binary::Equal };
                let holds = self.binary(operation, &left, &right, &Type::Unknown, place)?;
                self.require(&holds, about, place)?;
                Ok(Value::unit())
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                self.look_at(arguments)?;
                Err(self.leave(Departure::Panicked, place))
            }
            "print" | "println" | "eprint" | "eprintln" | "trace" | "debug" | "info" | "warn"
            | "error" | "log" => {
                self.look_at(arguments)?;
                Ok(Value::unit())
            }
            "write" | "writeln" => {
                self.look_at(arguments)?;
                Ok(Value::ok(Value::unit()))
            }
            "format" => {
                let values = self.look_at(arguments)?;
                Ok(super::library::formatted(self, &values))
            }
            "dbg" => match arguments {
                [only] => self.evaluate(only),
                _ => Ok(Value::Tuple(Rc::new(self.evaluate_all(arguments)?))),
            },
            "bail" => {
                self.look_at(arguments)?;
                Err(self.failure())
            }
            "ensure" => self.ensure(arguments, place),
            "env" | "option_env" | "include_str" | "concat" | "stringify" | "file" | "line"
            | "column" | "module_path" => {
                let what = words(name, arguments);
                let ty = self.resolve(&expression.ty);
                Ok(self.uniform(&what, ty))
            }
            "include_bytes" => {
                let ty = self.resolve(&expression.ty);
                Ok(self.uniform("included bytes", ty))
            }
            _ => {
                let values = self.look_at(arguments)?;
                let ty = self.resolve(&expression.ty);
                self.call_unknown(name, &values, &ty, place)
            }
        }
    }

    /// `ensure!(condition)`: returns an error unless it holds, which is expected where it is not known.
    fn ensure(&mut self, arguments: &[Expression], place: Place) -> Outcome {
        let Some(condition) = arguments.first() else { return Ok(Value::unit()) };
        let holds = self.operand(condition)?;
        let holds = self.behind(&holds, place);
        match holds.as_bool() {
            Some(true) => {}
            Some(false) => return Err(self.failure()),
            None => {
                let condition = self.identity(&holds);
                self.assume(condition, true);
            }
        }
        Ok(Value::unit())
    }

    /// The function returns an error of which nothing is known.
    fn failure(&mut self) -> Flow {
        let error = self.fresh(Type::Unknown);
        Flow::Return(Value::Variant("Err", Rc::new(vec![error])))
    }

    /// The values of arguments that are only looked at.
    fn look_at(&mut self, arguments: &[Expression]) -> Outcome<Vec<Value>> {
        let mut values = Vec::new();
        for argument in arguments {
            let value = match self.locate(argument)? {
                Target::Path(path) => self.read(&path, argument.place),
                Target::Value(value) => value,
            };
            values.push(value);
        }
        Ok(values)
    }
}

/// What a macro reads when the program is compiled: `env PATH`.
fn words(name: &str, arguments: &[Expression]) -> String {
    let words = arguments.iter().filter_map(|argument| match &argument.kind {
        Kind::Literal(Literal::Text(text)) => Some(text.to_string()),
        _ => None,
    });
    format!("{name} {}", words.collect::<Vec<_>>().join(" "))
}
