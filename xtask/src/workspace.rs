//! Where the workspace is, and programs run in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// The folder of the workspace's `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The folder that cargo has built this program in.
pub(crate) fn own_target() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).ok_or("this program lies in no target folder")?;
    Ok(target.to_owned())
}

/// The cargo that runs this program, set to work in the workspace.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    // What this run of cargo was told about xtask itself is not meant for others.
    for (name, _) in std::env::vars_os() {
        let own = name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_"));
        if own || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command, after showing it.
pub(crate) fn run(mut command: Command) -> Result {
    let shown = show(&command);
    eprintln!("\n$ {shown}");
    let status = command.status().map_err(|error| format!("`{shown}` cannot start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed").into()) }
}

/// Whether `cargo NAME` is installed.
pub(crate) fn has_subcommand(name: &str) -> bool {
    let mut command = cargo([name, "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// All files below a folder whose names end so, sorted.
pub(crate) fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| in_path(&folder, &error))? {
            let path = entry?.path();
            if path.is_dir() {
                if !path.ends_with("target") {
                    folders.push(path);
                }
            } else if path.to_str().is_some_and(|path| path.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A file's text.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| in_path(path, &error).into())
}

/// Writes a file and the folders that lead to it.
pub(crate) fn write(path: &Path, text: &str) -> Result {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| in_path(folder, &error))?;
    }
    std::fs::write(path, text).map_err(|error| in_path(path, &error).into())
}

/// The error with the path that it is about, as seen from the workspace.
fn in_path(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.strip_prefix(root()).unwrap_or(path).display())
}

/// The command as it would be typed; a long list of files is cut short.
fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let (shown, more) = words.split_at(words.len().min(12));
    let dots = if more.is_empty() { "" } else { " .." };
    format!("{} {}{dots}", program.to_string_lossy(), shown.join(" "))
}
