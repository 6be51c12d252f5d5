//! From C to a [`Program`]: files are expanded, parsed, their declarations gathered, their bodies
//! lowered, with every name resolved and every conversion written out.
//!
//! Nothing is evaluated here. What cannot be read stands in the program as unknown, with the reason.

mod database;
mod declare;
mod library;
mod link;
mod lower;
mod names;
mod parse;
pub(crate) mod preprocess;
pub(crate) mod programs;
mod scope;
mod types;

#[cfg(test)]
mod tests;

use crate::diagnostic::Failure;
use crate::program::Program;
use crate::source::Language;

/// The program of one text, as if it were the only file. Places are in file 0.
pub fn from_text(text: &str) -> Result<Program, Failure> {
    of_language(text, Language::C)
}

/// The same in C or C++.
pub fn of_language(text: &str, language: Language) -> Result<Program, Failure> {
    let expanded = preprocess::expand_text(text, language)?;
    let unit = parse::parse(expanded).map_err(|stop| stop.failure)?;
    Ok(lower::program(&[&unit], &[]))
}
