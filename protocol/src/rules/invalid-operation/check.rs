//! An operation that is not there, or that is not defined for the data.

use super::arguments::{Handed, handed};
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::{Argument, HandleKind};

pub(super) const RULE: Rule = Rule {
    name: "invalid-operation",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let wrong = handed(case, |argument| {
        matches!(
            argument,
            Argument::Operation { .. } | Argument::Handle { kind: HandleKind::Operation, .. }
        )
    });
    wrong.iter().map(|all| report(case, all)).collect()
}

fn report(case: &Case<'_>, all: &[Handed]) -> Finding {
    let world = case.world;
    let Argument::Operation { operation, datatype } = all[0].argument else {
        return RULE
            .handle(world, all)
            .note("MPI ends the job with MPI_ERR_OP")
            .help("hand over an operation of MPI, or one that was made and is not freed yet");
    };
    let operation = world.operations.get(usize::from(operation)).map_or("it", String::as_str);
    let datatype = world.datatypes.get(usize::from(datatype));
    let signature = datatype.map_or("the datatype", |datatype| &datatype.signature);
    let what = format!("{operation}, which is not defined for {signature}");
    RULE.handed(world, all, &what, format!("not defined for {signature}"))
        .note("MPI ends the job with MPI_ERR_OP: logical and bitwise operations are for integers, `MPI_MAXLOC` and `MPI_MINLOC` for pairs (MPI 4.0, 6.9.2)")
        .help("use an operation that is defined for the datatype, or make one with `MPI_Op_create`")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{argument, c, found};
    use crate::model::{Argument, HandleKind, HandleState};

    fn message(wrong: Argument) -> String {
        found(&c(vec![vec![argument(wrong)], vec![]]), "invalid-operation")[0].message.clone()
    }

    #[test]
    fn it_is_told_with_its_call() {
        assert_eq!(
            message(Argument::Operation { operation: 0, datatype: 1 }),
            "rank 0 hands `MPI_Send` MPI_BAND for `count`, which is not defined for MPI_FLOAT (with 2 ranks)"
        );
        let (kind, state) = (HandleKind::Operation, HandleState::Freed);
        assert_eq!(
            message(Argument::Handle { kind, state }),
            "rank 0 hands `MPI_Send` an operation that was freed before for `count` (with 2 ranks)"
        );
    }
}
