//! Between which calls of a program MPI is there, as far as its text tells: a call is out of its time
//! only where it is seen who begins MPI and who ends it.
//!
//! In C++ constructors and destructors may do either, and in C a function that runs at the exit; none of
//! them is followed. Only C++ that has no objects is as good as C.

use crate::program::{EntryKind, Expression, FunctionId, Kind, Program, Type};

/// Whether it can be told that MPI is not begun yet: the program begins it itself, or nothing that it
/// calls sounds as if it did.
pub(super) fn beginning_is_seen(program: &Program) -> bool {
    let is_init = |name: &str| matches!(name, "MPI_Init" | "MPI_Init_thread");
    if program.has_classes && !is_like_c(program) {
        return Reached::by_main(program).calls.iter().any(|name| is_init(name));
    }
    let called = names_of_others(program);
    called.iter().any(|name| is_init(name)) || !called.iter().any(|name| may_begin(name))
}

/// Whether it can be told that MPI is never ended where no run comes to an end of it.
pub(super) fn end_is_seen(program: &Program) -> bool {
    let is_finalize = |name: &str| name == "MPI_Finalize";
    let reached = Reached::by_main(program);
    if reached.calls.iter().any(|name| is_finalize(name)) {
        return true;
    }
    let is_seen = !program.has_classes || is_like_c(program);
    is_seen && !names_of_others(program).iter().any(|name| is_finalize(name))
}

/// Whether all of a program that is C++ has been read, and no variable in it is an object.
fn is_like_c(program: &Program) -> bool {
    fn is_read(expression: &Expression) -> bool {
        let foreign = |path: &[String]| {
            let is_class = |name: &String| name.starts_with(char::is_uppercase);
            !matches!(path[0].as_str(), "c" | "mpi")
                && (path.len() > 1 || path.iter().any(is_class))
        };
        let mut is_all = match &expression.kind {
            Kind::Unknown(_) | Kind::Method { .. } | Kind::Closure(_) => false,
            Kind::External(path, _) => !foreign(path),
            _ => true,
        };
        expression.for_each_child(&mut |child| is_all = is_all && is_read(child));
        is_all
    }
    let variables = program.functions.iter().flat_map(|function| &function.variables);
    let types =
        variables.map(|variable| &variable.ty).chain(program.globals.iter().map(|it| &it.ty));
    let values = program.globals.iter().filter_map(|global| global.value.as_ref());
    let bodies = program.functions.iter().filter_map(|function| function.body.as_ref());
    program.definitions.is_empty()
        && types.into_iter().all(is_no_object)
        && bodies.chain(values).all(is_read)
}

fn is_no_object(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Function(..) => true,
        Type::Reference(_) => true,
        Type::Array(element, _) => is_no_object(element),
        Type::External(name, _) => name.starts_with("MPI_") || name == "FILE",
        other => *other == Type::unit(),
    }
}

/// What is called from `main` on, by calls that name what they call.
#[derive(Default)]
struct Reached<'p> {
    functions: Vec<FunctionId>,
    calls: Vec<&'p str>,
}

impl<'p> Reached<'p> {
    fn by_main(program: &'p Program) -> Reached<'p> {
        let mut reached = Reached::default();
        let mains = program.entries.iter().filter(|entry| entry.kind == EntryKind::Main);
        reached.functions.extend(mains.map(|entry| entry.function));
        let mut next = 0;
        while let Some(&function) = reached.functions.get(next) {
            next += 1;
            if let Some(body) = &program.function(function).body {
                reached.look_at(body);
            }
        }
        reached
    }

    fn look_at(&mut self, expression: &'p Expression) {
        if let Kind::Call(callee, _) = &expression.kind {
            match &callee.kind {
                Kind::Function(function, _) if !self.functions.contains(function) => {
                    self.functions.push(*function);
                }
                Kind::External(path, _) => self.calls.extend(path.last().map(String::as_str)),
                _ => {}
            }
        }
        expression.for_each_child(&mut |child| self.look_at(child));
    }
}

/// The functions that a program names and that are not its own.
fn names_of_others(program: &Program) -> Vec<&str> {
    let mut names = Vec::new();
    let bodies = program.functions.iter().filter_map(|function| function.body.as_ref());
    bodies.for_each(|body| collect_names(body, &mut names));
    names
}

fn collect_names<'e>(expression: &'e Expression, found: &mut Vec<&'e str>) {
    if let Kind::External(path, _) = &expression.kind
        && path[0] != "c"
    {
        found.extend(path.last().map(String::as_str));
    }
    expression.for_each_child(&mut |child| collect_names(child, found));
}

/// Whether a function of this name, which nobody knows, may begin MPI.
fn may_begin(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.starts_with("mpi_")
        && ["init", "start", "setup", "begin", "create", "parallel"]
            .iter()
            .any(|part| name.contains(part))
}
