//! `cargo xtask tune`: measures the ways for messages to travel on this machine, and writes the
//! policy that takes the fastest.
//!
//! The measurement is `runtime/benches/tune.rs`.

use std::path::{Path, PathBuf};

use crate::Result;
use crate::bench::executable;
use crate::mpi::Mpi;
use crate::workspace::run as run_command;

/// How long it may take, in seconds.
const ENDS_WITHIN: u32 = 300;

/// Measures with every MPI that is here, and writes `FOLDER/policy-NAME` for each.
pub(crate) fn run(folder: &Path) -> Result {
    let mpis = Mpi::all();
    if mpis.is_empty() {
        return Err("no MPI is here; `cargo xtask setup` installs two".into());
    }
    std::fs::create_dir_all(folder)?;
    let mut written = Vec::new();
    for mpi in &mpis {
        eprintln!("building the measurement with {} ..", mpi.version());
        let words = "bench --quiet --package p2p-runtime --features mpi --bench tune --no-run";
        let program = executable(mpi.cargo(words.split(' ')))?;
        let file = file(folder, mpi);
        let mut command = mpi.launcher(2, ENDS_WITHIN);
        command.arg(program).arg(&file);
        run_command(command)?;
        written.push(format!("{}: P2P_POLICY={}", mpi.version(), file.display()));
    }
    println!("jobs that are to use what was measured set\n{}", written.join("\n"));
    Ok(())
}

/// "policy-open-mpi", "policy-mpich".
fn file(folder: &Path, mpi: &Mpi) -> PathBuf {
    let (name, _number) = mpi.version().rsplit_once(' ').unwrap_or((mpi.version(), ""));
    folder.join(format!("policy-{}", name.to_lowercase().replace(' ', "-")))
}
