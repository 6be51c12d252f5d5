//! The fixtures run by Open MPI.
//!
//! Messages of more than some 200 bytes wait for their receives here, so that a program which relies
//! on larger ones being buffered hangs as it would elsewhere.

use std::path::Path;
use std::process::Output;

use super::program::{Behaviour, Program};
use crate::Result;
use crate::mpi::{Mpi, OUT_OF_TIME};
use crate::workspace::run;

/// How long a program may take that is to hang, and one that is to end, in seconds.
const HANGS_AFTER: u32 = 6;
const ENDS_WITHIN: u32 = 60;

/// Builds all programs of a workspace.
pub(super) fn build(mpi: &Mpi, workspace: &Path) -> Result {
    let mut build = mpi.cargo(["build", "--workspace", "--quiet", "--locked"]);
    build.current_dir(workspace);
    run(build)
}

/// Runs a program until it ends or its time is up.
pub(super) fn launch(mpi: &Mpi, program: &Program) -> Result<Behaviour> {
    let hangs = program.behaviour == Behaviour::Hangs;
    let limit = if hangs { HANGS_AFTER } else { ENDS_WITHIN };
    let mut command = mpi.launcher(program.ranks, limit);
    mpi.keep_together(&mut command)?;
    command.env("OMPI_MCA_btl_vader_eager_limit", "64");
    command.arg(mpi.target().join("debug").join(program.target()));
    Ok(judge(&command.output()?))
}

/// What has come of a program.
fn judge(output: &Output) -> Behaviour {
    let errors = String::from_utf8_lossy(&output.stderr);
    let refused = errors.contains("MPI_ERR_");
    // Paths of the fixtures are relative to their workspace, those of rsmpi and of std are not.
    let mut panics = errors.split(" panicked at ").skip(1);
    let own_check = panics.any(|place| !place.starts_with('/'));
    match output.status.code() {
        Some(0) => Behaviour::Ends,
        // MPI has ended the job, and the launcher has not come to its own end.
        Some(OUT_OF_TIME) | None if refused => Behaviour::Fails,
        Some(OUT_OF_TIME) | None => Behaviour::Hangs,
        _ if own_check && !refused => Behaviour::Garbles,
        _ => Behaviour::Fails,
    }
}
