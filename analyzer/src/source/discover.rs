//! Which files to begin with: those named, those in the folders named, or the cargo workspace's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cargo_metadata::{Metadata, MetadataCommand, Package, Target};
use ignore::{DirEntry, WalkBuilder, WalkState};

use super::cfg::Features;
use super::modules::Kind;
use super::{Language, display_name, reason};
use crate::cargo::CargoOptions;
use crate::catalogue::did_you_mean;
use crate::diagnostic::Failure;

/// A file to be read.
#[derive(Clone, Debug)]
pub struct Input {
    /// Where it is, as it was named.
    pub path: PathBuf,
    /// What kind of module it is.
    pub kind: Kind,
    /// The user or a target names it: it is judged whatever other files say.
    pub named: bool,
    /// The package and the target that it is read for, where they are known.
    pub unit: Option<Arc<Unit>>,
    /// The path without symbolic links, if that is known.
    pub real: Option<PathBuf>,
}

impl Input {
    /// What it is written in.
    pub fn language(&self) -> Language {
        Language::of_named(&self.path).unwrap_or_default()
    }

    /// The folder that it is in, without symbolic links, as far as that can be told.
    pub fn real_folder(&self) -> Option<PathBuf> {
        if let Some(real) = &self.real {
            return real.parent().map(Path::to_owned);
        }
        let folder = self.path.parent()?;
        let folder = if folder == Path::new("") { Path::new(".") } else { folder };
        folder.canonicalize().ok()
    }

    /// A folder has it, and nobody has asked for it by name.
    pub fn is_found(&self) -> bool {
        !self.named && self.unit.is_none()
    }
}

/// A target of a package.
#[derive(Debug)]
pub struct Unit {
    /// The package.
    pub package: Arc<Package>,
    /// The target.
    pub target: Target,
    /// The package's features.
    pub features: Features,
}

/// Which packages of the workspace are meant.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// `-p`.
    pub packages: Vec<String>,
    /// `--workspace`.
    pub workspace: bool,
    /// `--exclude`.
    pub exclude: Vec<String>,
    /// Which manifest's workspace, and which targets of each package.
    pub cargo: CargoOptions,
}

/// What to begin with, and what cannot be begun with.
#[derive(Debug, Default)]
pub struct Discovered {
    /// The files, in a fixed order.
    pub inputs: Vec<Input>,
    /// The paths that lead nowhere.
    pub failures: Vec<Failure>,
    /// A target of each package that is looked at.
    pub packages: Vec<Arc<Unit>>,
}

/// The files under these paths.
pub fn under_paths(paths: &[PathBuf]) -> Discovered {
    let mut discovered = Discovered::default();
    for path in paths {
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => discovered.walk(path),
            Ok(_) if Language::of_named(path).is_none() => discovered.failures.push(
                Failure::new(format!("`{}` cannot be read", display_name(path))).help(Some(
                    "name files in Rust (`.rs`), C or C++ (`.c`, `.cpp`, `.h`), or folders",
                )),
            ),
            Ok(_) => discovered.inputs.push(Input {
                path: path.clone(),
                kind: Kind::of_found(path),
                named: true,
                unit: None,
                real: None,
            }),
            Err(error) => discovered.failures.push(missing(path, &error)),
        }
    }
    discovered
}

fn missing(path: &Path, error: &std::io::Error) -> Failure {
    let word = path.to_string_lossy();
    let command = crate::catalogue::nearest(&word, ["explain", "rules"]);
    Failure::new(format!("`{}` cannot be read: {}", display_name(path), reason(error)))
        .help(command.map(|command| format!("is the command `{command}` meant?")))
}

impl Discovered {
    fn walk(&mut self, folder: &Path) {
        let found = Mutex::new((Vec::new(), Vec::new()));
        let walk = WalkBuilder::new(folder)
            .require_git(false)
            .filter_entry(|entry| !is_build_folder(entry))
            .build_parallel();
        let lock = || found.lock().unwrap_or_else(PoisonError::into_inner);
        walk.run(|| {
            Box::new(|entry| {
                match entry {
                    Ok(entry) if is_source(&entry) => lock().0.push(entry),
                    Ok(_) => {}
                    Err(error) => lock().1.push(error.to_string()),
                }
                WalkState::Continue
            })
        });
        let (mut entries, mut errors) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Threads find them in any order. Letter by letter is quicker than part by part.
        entries.sort_unstable_by(|one, other| one.path().as_os_str().cmp(other.path().as_os_str()));
        errors.sort_unstable();
        let real_folder = folder.canonicalize().ok();
        self.inputs.extend(entries.into_iter().map(|entry| Input {
            kind: Kind::of_found(entry.path()),
            real: real_folder.as_deref().and_then(|real| real_path(&entry, folder, real)),
            path: entry.into_path(),
            named: false,
            unit: None,
        }));
        self.failures.extend(errors.into_iter().map(Failure::new));
    }
}

/// Cargo marks its build folder, so it is known by any name.
fn is_build_folder(entry: &DirEntry) -> bool {
    entry.depth() > 0
        && entry.file_type().is_some_and(|kind| kind.is_dir())
        && entry.path().join("CACHEDIR.TAG").exists()
}

/// Symbolic links to files count, those to folders are not followed (they may lead back).
fn is_source(entry: &DirEntry) -> bool {
    let is_file = || match entry.file_type() {
        Some(kind) if !kind.is_symlink() => kind.is_file(),
        _ => entry.path().is_file(),
    };
    Language::of(entry.path()).is_some() && is_file()
}

/// The path of an entry without symbolic links, of which there is none on the way to it.
fn real_path(entry: &DirEntry, folder: &Path, real_folder: &Path) -> Option<PathBuf> {
    let below = entry.path().strip_prefix(folder).ok()?;
    (!entry.path_is_symlink() && entry.depth() > 0).then(|| real_folder.join(below))
}

/// The targets of the packages that are meant, in the workspace of the current folder.
pub fn in_workspace(selection: &Selection) -> Discovered {
    let mut discovered = Discovered::default();
    let mut command = MetadataCommand::new();
    if let Some(manifest) = &selection.cargo.manifest_path {
        command.manifest_path(manifest);
    }
    match command.no_deps().exec() {
        Ok(metadata) => discovered.add_packages(&metadata, selection),
        Err(error) => {
            let text = match error {
                cargo_metadata::Error::CargoMetadata { stderr } => stderr,
                other => other.to_string(),
            };
            let text = text.trim().trim_start_matches("error: ").to_owned();
            discovered.failures.push(
                Failure::new(format!("no cargo workspace can be read here: {text}"))
                    .help(Some("name the files or folders to check: `p2p-check PATH...`")),
            );
        }
    }
    discovered
}

/// `name@version`, as cargo takes it.
fn is_version_of(package: &Package, word: &str) -> bool {
    word.split_once('@').is_some_and(|(name, version)| {
        package.name.as_str() == name && package.version.to_string() == version
    })
}

impl Discovered {
    fn add_packages(&mut self, metadata: &Metadata, selection: &Selection) {
        let members: BTreeMap<&str, &Package> =
            metadata.workspace_packages().into_iter().map(|it| (it.name.as_str(), it)).collect();
        let mut names: BTreeSet<&str> = if selection.workspace {
            members.keys().copied().collect()
        } else if selection.packages.is_empty() {
            metadata.workspace_default_packages().iter().map(|it| it.name.as_str()).collect()
        } else {
            BTreeSet::new()
        };
        names.extend(self.known(&members, &selection.packages));
        for name in self.known(&members, &selection.exclude) {
            names.remove(name);
        }
        for name in &names {
            self.add_package(members[name], &selection.cargo);
        }
        self.miss_targets(names.iter().map(|name| members[name]), &selection.cargo);
    }

    /// Says which targets are named that no package has.
    fn miss_targets<'a>(
        &mut self,
        packages: impl Iterator<Item = &'a Package>,
        cargo: &CargoOptions,
    ) {
        let targets: Vec<_> = packages.flat_map(|package| &package.targets).collect();
        for (kind, option, name) in cargo.named() {
            let of_kind = || targets.iter().filter(|target| target.kind.contains(&kind));
            if of_kind().all(|target| target.name != name) {
                let hint = did_you_mean(name, of_kind().map(|target| target.name.as_str()));
                let message = format!("no {option} target is named `{name}`{hint}");
                self.failures.push(Failure::new(message));
            }
        }
    }

    /// The names among these that are members; the others are failures.
    fn known<'a>(
        &mut self,
        members: &BTreeMap<&'a str, &Package>,
        names: &[String],
    ) -> Vec<&'a str> {
        let mut known = Vec::new();
        for name in names {
            // A package may be given as its full identity, as rust-analyzer does.
            let member = members.iter().find(|(member, package)| {
                **member == name || package.id.repr == *name || is_version_of(package, name)
            });
            match member {
                Some((&name, _)) => known.push(name),
                None => {
                    let hint = did_you_mean(name, members.keys().copied());
                    let message = format!("the workspace has no package `{name}`{hint}");
                    self.failures.push(Failure::new(message));
                }
            }
        }
        known
    }

    fn add_package(&mut self, package: &Package, cargo: &CargoOptions) {
        let features: BTreeSet<String> = package.features.keys().cloned().collect();
        let package = Arc::new(package.clone());
        let mut targets = package.targets.clone();
        targets.sort_by(|a, b| a.src_path.cmp(&b.src_path));
        targets.retain(|target| cargo.chooses(target));
        let first = self.inputs.len();
        for target in targets {
            self.inputs.push(Input {
                path: target.src_path.clone().into(),
                kind: Kind::Folder,
                named: true,
                unit: Some(Arc::new(Unit {
                    package: Arc::clone(&package),
                    target,
                    features: Some(features.clone()),
                })),
                real: None,
            });
        }
        self.packages.extend(self.inputs[first..].first().and_then(|input| input.unit.clone()));
    }
}
