//! What a job has left behind: processes of its program, and memory that its ranks shared.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the system may take to put everything away once the launcher has ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where ranks of one node share memory.
const SHARED_MEMORY: &str = "/dev/shm";

/// What there was before a job.
pub(super) struct Before(BTreeSet<PathBuf>);

impl Before {
    pub(super) fn now() -> Before {
        Before(shared_files().collect())
    }

    /// What a job of `program` has left; `folder` is where it was told to keep what it shares.
    pub(super) fn left(&self, program: &Path, folder: &Path) -> Vec<String> {
        let start = Instant::now();
        loop {
            let left = self.left_now(program, folder);
            if left.is_empty() || start.elapsed() > PATIENCE {
                return left;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn left_now(&self, program: &Path, folder: &Path) -> Vec<String> {
        let processes = processes().filter(|process| {
            fs::read_link(process.join("exe")).is_ok_and(|executable| executable == program)
        });
        let mut left: Vec<String> =
            processes.map(|process| format!("the process {}", process.display())).collect();
        // Other jobs may have come in the meantime: what is theirs, a living process has open.
        let new = shared_files().filter(|file| !self.0.contains(file) && !is_mapped(file));
        left.extend(new.map(|file| file.display().to_string()));
        left.extend(files_below(folder).iter().map(|file| file.display().to_string()));
        left
    }
}

fn processes() -> impl Iterator<Item = PathBuf> {
    entries("/proc".as_ref()).filter(|path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit))
    })
}

fn shared_files() -> impl Iterator<Item = PathBuf> {
    entries(SHARED_MEMORY.as_ref())
}

/// Whether any process has the file as part of its memory.
fn is_mapped(file: &Path) -> bool {
    let name = file.to_string_lossy();
    processes().any(|process| {
        fs::read_to_string(process.join("maps")).is_ok_and(|maps| maps.contains(&*name))
    })
}

/// The files in a folder and the folders below it; empty folders hold nothing.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (folders, mut files): (Vec<_>, Vec<_>) = entries(folder).partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| files_below(folder)));
    files
}

/// What is in a folder; nothing if it is not there.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}
