//! Between which calls of a program MPI is there, as far as its text tells: a call is out of its time
//! only where it is seen who begins MPI and who ends it.
//!
//! In C++ constructors and destructors may do either, and in C a function that runs at the exit; none of
//! them is followed.

use crate::program::{EntryKind, Expression, FunctionId, Kind, Program};

/// Whether it can be told that MPI is not begun yet: the program begins it itself, or nothing that it
/// calls sounds as if it did.
pub(super) fn beginning_is_seen(program: &Program) -> bool {
    let is_init = |name: &str| matches!(name, "MPI_Init" | "MPI_Init_thread");
    if program.has_classes {
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
    !program.has_classes && !names_of_others(program).iter().any(|name| is_finalize(name))
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
