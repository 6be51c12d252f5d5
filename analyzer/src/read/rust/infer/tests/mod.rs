//! Small sources, and the types of their variables.

mod examples;
mod language;
mod library;
mod unknown;

use crate::program::{Program, Type};
use crate::read::rust::from_text;

/// A type in Rust's notation; `_` is what is not known.
pub(super) fn show(program: &Program, ty: &Type) -> String {
    let list =
        |types: &[Type]| types.iter().map(|ty| show(program, ty)).collect::<Vec<_>>().join(", ");
    let named = |name: &str, arguments: &[Type]| match arguments {
        [] => name.to_owned(),
        _ => format!("{name}<{}>", list(arguments)),
    };
    match ty {
        Type::Unknown => "_".to_owned(),
        Type::Variable(number) => format!("?{number}"),
        Type::Scalar(scalar) => scalar.name().to_owned(),
        Type::Text => "str".to_owned(),
        Type::Never => "!".to_owned(),
        Type::Tuple(parts) => format!("({})", list(parts)),
        Type::Array(element, Some(length)) => format!("[{}; {length}]", show(program, element)),
        Type::Number(number) => number.to_string(),
        Type::Array(element, None) => format!("[{}; _]", show(program, element)),
        Type::Slice(element) => format!("[{}]", show(program, element)),
        Type::Reference(inner) => format!("&{}", show(program, inner)),
        Type::Defined(id, arguments) => named(&program.definition(*id).name, arguments),
        Type::External(name, arguments) => named(name, arguments),
        Type::Parameter(name) => name.clone(),
        Type::Trait(names) => format!("dyn {}", names.join(" + ")),
        Type::Function(parameters, result) => {
            format!("fn({}) -> {}", list(parameters), show(program, result))
        }
    }
}

/// The variables of all functions, in order, without those that the lowering adds.
pub(super) fn variables(program: &Program) -> Vec<(String, String)> {
    let all = program.functions.iter().flat_map(|function| &function.variables);
    all.map(|variable| (variable.name.clone(), show(program, &variable.ty))).collect()
}

/// Checks variables of a text: `name: type` each; the last variable of a name counts.
pub(super) fn check(text: &str, expected: &[&str]) {
    let program = from_text(text).expect("the text is Rust");
    let found = variables(&program);
    for line in expected {
        let (name, ty) = line.split_once(": ").expect("`name: type`");
        let known = found.iter().rfind(|(known, _)| known == name);
        let (_, known) = known.unwrap_or_else(|| panic!("no variable `{name}`"));
        assert_eq!(known, ty, "`{name}` in {text}");
    }
}
