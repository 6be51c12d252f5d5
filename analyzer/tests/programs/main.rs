//! The programs as they are used: what they print, and their exit status.

mod c;
mod command_line;
mod github;
mod json;
mod mutated;
mod odd_inputs;
mod project;
mod rsmpi;
mod rust_analyzer;
mod texts;
mod workspace;
