//! `cargo p2p-check`.

use std::process::ExitCode;

fn main() -> ExitCode {
    p2p_analyzer::start(p2p_analyzer::Invocation::ByCargo)
}
