//! What a protocol costs those who build it: the time that its macro takes, and the processor time
//! to build the library for the first time.

use std::path::Path;
use std::process::Stdio;

use crate::Result;
use crate::workspace::{cargo, read, root, write};

/// How often the expansion is measured. The fastest counts: all that can disturb it makes it slower.
const REPETITIONS: usize = 9;

/// The protocol that the target is about: five roles, fifty operations.
const LARGE: &str = "fixtures/protocols/large/good/five_roles.rs";

/// The smallest there is, for the cost that comes with any use of the macro.
const SMALL: &str = "fixtures/chapter4/first_message.rs";

pub(super) fn run() -> Result {
    let folder = std::env::temp_dir().join(format!("p2p-bench-{}", std::process::id()));
    let measured = measure(&folder);
    std::fs::remove_dir_all(&folder)?;
    let [large, small, build] = measured?;
    println!("\n| what it costs to build | measured | target | ratio |");
    println!("| --- | ---: | ---: | ---: |");
    let row = |what: &str, value: f64, unit: &str, target: f64| {
        println!("| {what} | {value:.1} {unit} | {target} {unit} | {:.2} |", value / target);
    };
    row("expansion, 5 roles and 50 operations, unoptimised", large * 1e3, "ms", 100.0);
    println!("| expansion, 2 roles and 2 operations | {:.1} ms | | |", small * 1e3);
    row("`cargo build --release -p p2p-runtime`, cold, processor time", build, "s", 20.0);
    Ok(())
}

/// The expansion of the large and of the small protocol, and the cold build, in seconds.
fn measure(folder: &Path) -> Result<[f64; 3]> {
    eprintln!("building the library for the first time ..");
    let build = cold_build(&folder.join("cold"))?;
    eprintln!("expanding protocols ..");
    Ok([expansion(folder, LARGE)?, expansion(folder, SMALL)?, build])
}

/// The time that rustc spends on expanding the macros of a package with this one file.
fn expansion(folder: &Path, source: &str) -> Result<f64> {
    let package = folder.join("package");
    let runtime = root().join("runtime");
    let manifest = format!(
        "[package]\nname = \"expansion\"\nedition = \"2024\"\n\n\
         [dependencies]\np2p-runtime = {{ path = {runtime:?} }}\n\n[workspace]\n"
    );
    write(&package.join("Cargo.toml"), &manifest)?;
    std::fs::copy(root().join("Cargo.lock"), package.join("Cargo.lock"))?;
    let source = read(&root().join(source))?;
    let mut fastest = f64::INFINITY;
    for repetition in 0..REPETITIONS {
        // A changed file, so that cargo builds it again.
        write(&package.join("src/main.rs"), &format!("{source}\n// {repetition}\n"))?;
        fastest = fastest.min(expansion_once(folder, &package)?);
    }
    Ok(fastest)
}

/// Builds the package and reads from rustc's own account how long expansion took.
fn expansion_once(folder: &Path, package: &Path) -> Result<f64> {
    let mut command = cargo(["rustc", "--quiet", "--", "-Ztime-passes"]);
    command.arg("-Ztime-passes-format=json").current_dir(package);
    // The account is one of rustc's unstable options, which this variable opens.
    command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", folder.join("warm"));
    let output = command.output()?;
    let account = String::from_utf8(output.stderr)?;
    let pass = account.lines().find(|line| line.contains("\"macro_expand_crate\""));
    let seconds = pass.and_then(|line| line.split("\"time\":").nth(1)?.split(',').next());
    match seconds {
        Some(seconds) => Ok(seconds.parse()?),
        None => Err(format!("rustc gave no account of the expansion:\n{account}").into()),
    }
}

/// The processor time, of all processes together, to build the library with nothing built before.
fn cold_build(target: &Path) -> Result<f64> {
    let before = children_seconds()?;
    let mut command = cargo(["build", "--quiet", "--release", "--package", "p2p-runtime"]);
    let status = command.env("CARGO_TARGET_DIR", target).stdout(Stdio::null()).status()?;
    if !status.success() {
        return Err("p2p-runtime does not build".into());
    }
    Ok(children_seconds()? - before)
}

/// Processor time of all children that have ended, in user and in system mode.
#[cfg(unix)]
fn children_seconds() -> Result<f64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

#[cfg(not(unix))]
fn children_seconds() -> Result<f64> {
    Err("the processor time of other processes is only known on Unix".into())
}
