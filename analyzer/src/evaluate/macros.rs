//! Macros that are known by name.

use p2p_protocol::model::Departure;

use super::machine::{Flow, Machine, Outcome};
use super::places::Target;
use super::value::Value;
use crate::program::{Binary, Expression, Kind, Literal, Type};

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
                _ => Ok(Value::Tuple(std::rc::Rc::new(self.evaluate_all(arguments)?))),
            },
            "bail" => {
                self.look_at(arguments)?;
                let error = self.fresh(Type::Unknown);
                Err(Flow::Return(Value::Variant("Err", std::rc::Rc::new(vec![error]))))
            }
            "ensure" => {
                let Some(condition) = arguments.first() else { return Ok(Value::unit()) };
                let holds = self.operand(condition)?;
                let holds = self.behind(&holds, place);
                if holds.as_bool() == Some(false) {
                    let error = self.fresh(Type::Unknown);
                    return Err(Flow::Return(Value::Variant("Err", std::rc::Rc::new(vec![error]))));
                }
                if holds.as_bool().is_none() {
                    let condition = self.identity(&holds);
                    self.assume(condition, true);
                }
                Ok(Value::unit())
            }
            "env" | "option_env" | "include_str" | "concat" | "stringify" | "file" | "line"
            | "column" | "module_path" => {
                let words = arguments.iter().filter_map(|argument| match &argument.kind {
                    Kind::Literal(Literal::Text(text)) => Some(text.to_string()),
                    _ => None,
                });
                let what = format!("{name} {}", words.collect::<Vec<_>>().join(" "));
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
