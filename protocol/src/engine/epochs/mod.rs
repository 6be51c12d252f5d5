//! What the rules about one-sided communication share: which epochs of a window a rank has open at each
//! of its steps (MPI 4.0, 12.5).
//!
//! That does not depend on what others do, so each rank is walked through by itself. Where ways meet on
//! which other epochs are open, nothing is known of the window any more.

mod open;
mod walk;

pub(crate) use open::{Fault, Opened};
pub(crate) use walk::{Visit, faults, visits};
