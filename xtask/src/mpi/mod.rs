//! The MPIs of this machine: found, built against, and told to run programs.
//!
//! What is run, and what its end means, is decided elsewhere.

pub(crate) mod programs;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Result;
use crate::workspace::{cargo, own_target, run};

/// How long a launcher may take to put its ranks away, in seconds.
const PUTS_AWAY_WITHIN: u32 = 5;

/// What `timeout` says of a program whose time was up. If it had to kill it, it ends itself likewise.
pub(crate) const OUT_OF_TIME: i32 = 124;

/// An implementation of MPI. They differ in how they are asked who they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    OpenMpi,
    Mpich,
}

impl Kind {
    /// Compilers with the launchers that belong to them. Debian gives both implementations names of
    /// their own; elsewhere there is one, and its kind is what it says.
    const TOOLS: [(Kind, &'static str, &'static str); 6] = [
        (Kind::OpenMpi, "mpicc.openmpi", "mpirun.openmpi"),
        (Kind::Mpich, "mpicc.mpich", "mpiexec.mpich"),
        (Kind::OpenMpi, "mpicc", "mpirun"),
        (Kind::OpenMpi, "mpicc", "mpiexec"),
        (Kind::Mpich, "mpicc", "mpiexec"),
        (Kind::Mpich, "mpicc", "mpirun"),
    ];

    fn name(self) -> &'static str {
        match self {
            Kind::OpenMpi => "Open MPI",
            Kind::Mpich => "MPICH",
        }
    }

    /// The folder that programs are built in: no build notices that the MPI is another one.
    fn folder(self) -> &'static str {
        match self {
            Kind::OpenMpi => "openmpi",
            Kind::Mpich => "mpich",
        }
    }

    /// The number of the version that a compiler is of, if it is of this kind.
    fn version_of(self, compiler: &str) -> Option<String> {
        let (question, before) = match self {
            Kind::OpenMpi => ("--showme:version", "Open MPI "),
            Kind::Mpich => ("-v", "MPICH version "),
        };
        let text = answer(compiler, question)?;
        let (_, rest) = text.split_once(before)?;
        rest.split_whitespace().next().map(str::to_owned)
    }

    /// Whether a launcher is of this kind.
    fn launches(self, launcher: &str) -> bool {
        let sign = match self {
            Kind::OpenMpi => "Open",
            Kind::Mpich => "HYDRA",
        };
        answer(launcher, "--version").is_some_and(|text| text.contains(sign))
    }
}

/// What a program says to one argument, on either channel; nothing if it is not there.
fn answer(program: &str, question: &str) -> Option<String> {
    let output = Command::new(program).arg(question).stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// An MPI of this machine.
pub(crate) struct Mpi {
    version: String,
    compiler: &'static str,
    launcher: &'static str,
    /// Where programs are built against it.
    target: PathBuf,
    /// Where ranks keep what they share, if it is not to be left lying about.
    shared: PathBuf,
}

impl Mpi {
    /// All that are here, at most one of each kind.
    pub(crate) fn all() -> Vec<Mpi> {
        let kinds = [Kind::OpenMpi, Kind::Mpich];
        kinds.into_iter().filter_map(Mpi::find).collect()
    }

    /// The one of this kind.
    pub(crate) fn find(kind: Kind) -> Option<Mpi> {
        let tools = Kind::TOOLS.into_iter().filter(|tool| tool.0 == kind);
        let (version, compiler, launcher) =
            tools.filter(|&(_, _, launcher)| kind.launches(launcher)).find_map(
                |(_, compiler, launcher)| Some((kind.version_of(compiler)?, compiler, launcher)),
            )?;
        let target = own_target().ok()?.join(kind.folder());
        let shared = target.join(format!("shared.{}", std::process::id()));
        let version = format!("{} {version}", kind.name());
        Some(Mpi { version, compiler, launcher, target, shared })
    }

    /// Its name and number.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// The folder that it builds in.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Cargo, told to build against this MPI.
    pub(crate) fn cargo<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = cargo(words);
        command.env("MPICC", self.compiler).env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// Its compiler of C.
    pub(crate) fn compiler(&self) -> Command {
        Command::new(self.compiler)
    }

    /// What tells another compiler where this MPI's headers are.
    pub(crate) fn include_flags(&self) -> Vec<String> {
        let command = answer(self.compiler, "-show").unwrap_or_default();
        let words = command.split_whitespace().filter(|word| word.starts_with("-I"));
        words.map(str::to_owned).collect()
    }

    /// Compiles one file of C, optimised. What a newer compiler says of MPICH's header is not about it.
    pub(crate) fn compile(&self, source: &Path, program: &Path) -> Result {
        std::fs::create_dir_all(program.parent().unwrap_or(&self.target))?;
        let mut compile = self.compiler();
        compile.args(["-O3", "-Wno-stringop-overflow", "-o"]).arg(program).arg(source);
        run(compile)
    }

    /// The launcher with all that comes before the program: more ranks than cores, and root, are
    /// no hindrance, and the job is over when its time is.
    pub(crate) fn launcher(&self, ranks: u32, seconds: u32) -> Command {
        let mut command = within(seconds);
        command.args([self.launcher, "-n"]).arg(ranks.to_string());
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if usize::try_from(ranks).is_ok_and(|ranks| ranks > cores) {
            command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
            command.env("OMPI_MCA_mpi_yield_when_idle", "1");
        }
        command.stdin(Stdio::null());
        command
    }

    /// Has a job keep what its ranks share in one folder, which goes away with this value. Open MPI
    /// leaves files behind when a job does not end by itself. Gives back the folder.
    pub(crate) fn keep_together(&self, command: &mut Command) -> Result<PathBuf> {
        static JOBS: AtomicU32 = AtomicU32::new(0);
        let folder = self.shared.join(JOBS.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir_all(&folder)?;
        command.env("OMPI_MCA_btl_vader_backing_directory", &folder);
        command.env("OMPI_MCA_orte_tmpdir_base", &folder);
        Ok(folder)
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // What cannot be removed lies in the target folder and harms nobody.
        let _ = std::fs::remove_dir_all(&self.shared);
    }
}

/// What is to run so long at most. It is asked to end first, so that a launcher ends its ranks; at
/// times that leaves it stuck, and then it is made to.
pub(crate) fn within(seconds: u32) -> Command {
    let mut command = Command::new("timeout");
    command.arg(format!("--kill-after={PUTS_AWAY_WITHIN}")).arg(seconds.to_string());
    command
}
