//! `p2p-check`, the same by a name that needs no cargo.

use std::process::ExitCode;

fn main() -> ExitCode {
    p2p_analyzer::start(p2p_analyzer::Invocation::Plain)
}
