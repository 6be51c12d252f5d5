//! Types of expressions.

use crate::program::Program;

/// Fills in types.
pub(super) fn infer(program: &mut Program) {
    let _ = program;
}
