//! Programs run by Open MPI.
//!
//! Messages of more than some 200 bytes wait for their receives here, so that a program which relies
//! on larger ones being buffered hangs as it would elsewhere. Whatever Open MPI leaves lying about
//! is in one folder, which goes away at the end.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::program::{Behaviour, Program};
use crate::Result;
use crate::workspace::{cargo, run};

/// How long a program may take that is to hang, and one that is to end, in seconds.
const HANGS_AFTER: u32 = 6;
const ENDS_WITHIN: u32 = 60;

/// How long the launcher may take to put its ranks away, in seconds.
const PUTS_AWAY_WITHIN: u32 = 5;

/// What `timeout` says of a program whose time was up. If it had to kill it, it ends itself likewise.
const OUT_OF_TIME: i32 = 124;

/// An installed Open MPI.
pub(super) struct Mpi {
    version: String,
    /// Where the programs are built.
    target: PathBuf,
    /// Where Open MPI keeps what the ranks share.
    shared: PathBuf,
}

impl Mpi {
    /// The one that `mpirun` belongs to; other implementations are not driven here.
    pub(super) fn find() -> Option<Mpi> {
        let output = Command::new("mpirun").arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.lines().next()?.strip_prefix("mpirun (Open MPI) ")?;
        Command::new("mpicc").arg("--version").output().ok()?;
        let version = format!("Open MPI {version}");
        let own = std::env::current_exe().ok()?;
        let target = own.ancestors().nth(2)?.join("rsmpi");
        let shared = target.join(format!("shared.{}", std::process::id()));
        std::fs::create_dir_all(&shared).ok()?;
        Some(Mpi { version, target, shared })
    }

    /// Its name and number.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Builds all programs of a workspace.
    pub(super) fn build(&self, workspace: &Path) -> Result {
        let mut build = cargo(["build", "--workspace", "--quiet", "--locked"]);
        build.current_dir(workspace).env("CARGO_TARGET_DIR", &self.target);
        run(build)
    }

    /// Runs a program until it ends or its time is up.
    pub(super) fn run(&self, program: &Program) -> Result<Behaviour> {
        let hangs = program.behaviour == Behaviour::Hangs;
        let limit = if hangs { HANGS_AFTER } else { ENDS_WITHIN };
        // The launcher is asked to end, so that it ends its ranks; at times that leaves it stuck.
        let mut command = Command::new("timeout");
        command.arg(format!("--kill-after={PUTS_AWAY_WITHIN}")).arg(limit.to_string());
        command.args(["mpirun", "--oversubscribe", "-n"]).arg(program.ranks.to_string());
        let shared = self.shared.as_os_str();
        command.args(["--mca", "btl_vader_backing_directory"]).arg(shared);
        command.args(["--mca", "orte_tmpdir_base"]).arg(shared);
        command.args(["--mca", "btl_vader_eager_limit", "64"]);
        command.args(["--mca", "mpi_yield_when_idle", "1"]);
        command.arg(self.target.join("debug").join(program.target()));
        command
            .envs(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|it| (it, "1")));
        let output = command.stdin(Stdio::null()).output()?;
        Ok(judge(&output))
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // What cannot be removed lies in the target folder and harms nobody.
        let _ = std::fs::remove_dir_all(&self.shared);
    }
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
