//! Memory of one type, and a datatype of another.

use super::arguments::{Handed, handed};
use super::{Check, Rule};
use crate::engine::Case;
use crate::finding::{Finding, Group, Level};
use crate::model::{Argument, DatatypeId};

pub(super) const RULE: Rule = Rule {
    name: "datatype-buffer-mismatch",
    group: Group::Parameter,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let signature = |datatype: DatatypeId| {
        let datatype = case.world.datatypes.get(usize::from(datatype));
        datatype.map_or("another type", |datatype| &datatype.signature)
    };
    let wrong = handed(case, |argument| matches!(argument, Argument::Elements { .. }));
    let finding = |all: &Vec<Handed>| {
        let Argument::Elements { memory, datatype } = all[0].argument else { return None };
        let (memory, datatype) = (signature(memory), signature(datatype));
        let what = format!("memory of {memory}, and speaks of it as of {datatype}");
        let finding = RULE.handed(case.world, all, &what, format!("{memory} here"));
        Some(
            finding
                .note("MPI takes the bytes for what the datatype says: they arrive as other numbers, and as many bytes too many or too few as the sizes differ")
                .help(format!("hand over the datatype of {memory}, or declare the memory as {datatype}")),
        )
    };
    wrong.iter().filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{argument, c, found};
    use crate::model::Argument;

    #[test]
    fn it_is_told_with_its_call() {
        let wrong = Argument::Elements { memory: 2, datatype: 1 };
        let wrong = c(vec![vec![argument(wrong)], vec![]]);
        assert_eq!(
            found(&wrong, "datatype-buffer-mismatch")[0].message,
            "rank 0 hands `MPI_Send` memory of double for `count`, and speaks of it as of MPI_FLOAT (with 2 ranks)"
        );
    }
}
