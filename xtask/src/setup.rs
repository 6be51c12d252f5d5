//! `cargo xtask setup`: what the checks and tests need besides a Rust toolchain, installed where that
//! is known to work (Debian and Ubuntu), named elsewhere.

use std::process::{Command, Stdio};

use crate::Result;
use crate::mpi::Mpi;
use crate::workspace::{has_subcommand, run};

/// Both implementations of MPI, and what rsmpi is compiled with besides libclang.
const PACKAGES: [&str; 6] =
    ["openmpi-bin", "libopenmpi-dev", "mpich", "libmpich-dev", "gcc", "make"];

/// Installs what is missing; fails, and says what to do, where it cannot.
pub(crate) fn run_all() -> Result {
    components()?;
    packages()?;
    for mpi in Mpi::all() {
        println!("{} is here", mpi.version());
    }
    Ok(())
}

/// A minimal toolchain leaves these out.
fn components() -> Result {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !has_subcommand(subcommand) {
            let mut add = Command::new("rustup");
            add.args(["component", "add", component]);
            run(add)?;
        }
    }
    Ok(())
}

fn packages() -> Result {
    if !succeeds(Command::new("apt-get").arg("--version")) {
        return Err(format!(
            "this is neither Debian nor Ubuntu; install what these packages hold there: {}, \
             libclang and clang's own headers",
            PACKAGES.join(", ")
        )
        .into());
    }
    // Before its lists are there, apt does not know which libclang is its newest.
    let mut missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    let Some(mut update) = as_root() else {
        return Err(format!(
            "packages are missing, and there is neither root nor sudo here; as root:\n\
             apt-get install --no-install-recommends {}",
            missing.join(" ")
        )
        .into());
    };
    update.args(["apt-get", "update", "-qq"]);
    run(update)?;
    missing = self::missing();
    let mut install = as_root().ok_or("sudo has gone")?;
    install.args(["apt-get", "install", "-qq", "-y", "--no-install-recommends"]);
    install.args(&missing);
    run(install)
}

/// The packages that are not installed.
fn missing() -> Vec<String> {
    let wanted = PACKAGES.map(str::to_owned).into_iter().chain(libclang());
    wanted.filter(|name| !is_installed(name)).collect()
}

/// The packages of the libclang that is the distribution's own: the library, and the headers that
/// belong to it. `libclang-dev` names them by depending on them, and is ten times as large.
fn libclang() -> Vec<String> {
    let depends = Command::new("apt-cache").args(["depends", "libclang-dev"]).output();
    let text = depends.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = text.ok().and_then(|text| {
        let (_, rest) = text.split_once("Depends: libclang-")?;
        rest.split_once("-dev").map(|(version, _)| version.to_owned())
    });
    match version {
        Some(version) => {
            vec![format!("libclang1-{version}"), format!("libclang-common-{version}-dev")]
        }
        None => vec!["libclang-dev".to_owned()],
    }
}

fn is_installed(package: &str) -> bool {
    let output =
        Command::new("dpkg-query").args(["--show", "--showformat=${Status}", package]).output();
    output.is_ok_and(|output| output.stdout.ends_with(b"ok installed"))
}

/// Begins a command that root runs: as it is for root, else through sudo. `env` carries a setting
/// through sudo.
fn as_root() -> Option<Command> {
    let id = Command::new("id").arg("-u").output().ok()?;
    let mut command = if id.stdout == b"0\n" {
        Command::new("env")
    } else if succeeds(Command::new("sudo").arg("--version")) {
        let mut sudo = Command::new("sudo");
        sudo.arg("env");
        sudo
    } else {
        return None;
    };
    command.arg("DEBIAN_FRONTEND=noninteractive");
    Some(command)
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
