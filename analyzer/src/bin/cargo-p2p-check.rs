//! `cargo p2p-check`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    p2p_analyzer::start(p2p_analyzer::Invocation::ByCargo)
}
