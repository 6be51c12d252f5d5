//! The protocol language's text -> model; the only parser of it, used by the macro and the
//! command line.

pub mod syntax;
