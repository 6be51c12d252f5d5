//! Packages: which targets each has, which libraries they use, and a program for each target.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cargo_metadata::{MetadataCommand, Package, TargetKind};
use rayon::iter::{IntoParallelIterator, ParallelBridge, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

use super::entries::Target;
use super::finish;
use super::load::{Files, Origin};
use super::names::ModuleId;
use super::role::Played;
use super::translation::Translation;
use crate::diagnostic::Failure;
use crate::program::{EntryKind, Kind as ExpressionKind, Program};
use crate::read::Reading;
use crate::source::SourceFile;
use crate::source::cfg::Features;
use crate::source::modules::Kind;

/// The program of a target.
#[derive(Debug)]
pub struct TargetProgram {
    /// The program. The files of its places are numbers of the files that were read; those of
    /// [`Programs::more`] follow them.
    pub program: Program,
    /// The root's number among the files.
    pub root: usize,
    /// What the protocols say of the roles that its functions play.
    pub played: Vec<Played>,
}

/// All programs, and what was read for them besides.
#[derive(Debug)]
pub struct Programs<P = TargetProgram> {
    /// The programs.
    pub list: Vec<P>,
    /// Files that had not been read, such as those of a library that a program uses.
    pub more: Vec<SourceFile>,
    /// What could not be parsed though it mentions MPI, by its file.
    pub failures: Vec<(usize, Failure)>,
}

/// The programs among the files that were read: of each target that communicates, by itself or
/// through a library that is read as well. `sizes`: those of which protocols are made for the roles
/// that functions play. `run`: what is done with each as soon as it is there, while others are
/// still put together; the files that were not read before may have other numbers then.
pub fn programs<R: Send>(
    readings: &[Reading],
    sizes: &[u32],
    run: impl Fn(&TargetProgram) -> R + Sync,
) -> Programs<(TargetProgram, R)> {
    let read: FxHashMap<PathBuf, usize> =
        readings.iter().enumerate().map(|(at, it)| (it.source.path.clone(), at)).collect();
    let groups = groups(readings, &read);
    let metadata = Packages::default();
    let put_together = |group: &Group| {
        let Programs { list, more, failures } =
            Translator::new(group, readings, &read, &metadata).programs(sizes);
        let list = list.into_par_iter().map(|target| {
            let ran = run(&target);
            (target, ran)
        });
        Programs { list: list.collect(), more, failures }
    };
    // Whoever has nothing to do takes the largest that is left, so that none is waited for alone.
    let mut groups: Vec<(usize, Group)> = groups.into_iter().enumerate().collect();
    groups.sort_by_cached_key(|(_, group)| Reverse(group.size(readings, &read)));
    let mut translated: Vec<(usize, Programs<(TargetProgram, R)>)> = groups
        .into_iter()
        .par_bridge()
        .map(|(number, group)| (number, put_together(&group)))
        .collect();
    translated.sort_by_key(|(number, _)| *number);
    let mut all = Programs { list: Vec::new(), more: Vec::new(), failures: Vec::new() };
    for (_, mut one) in translated {
        let moved = all.more.len();
        let shift = |file: usize| if file < readings.len() { file } else { file + moved };
        for (target, _) in &mut one.list {
            target.root = shift(target.root);
            target.program.places.iter_mut().for_each(|place| place.file = shift(place.file));
        }
        all.list.append(&mut one.list);
        all.more.append(&mut one.more);
        all.failures.append(&mut one.failures);
    }
    all
}

/// The files of a package, or one file that belongs to none.
struct Group {
    manifest: Option<PathBuf>,
    package: Option<Arc<Package>>,
    roots: Vec<Root>,
}

impl Group {
    /// How much text its roots and the modules below them have.
    fn size(&self, readings: &[Reading], read: &FxHashMap<PathBuf, usize>) -> usize {
        let mut open: Vec<usize> = self.roots.iter().map(|root| root.file).collect();
        let mut seen: FxHashSet<usize> = open.iter().copied().collect();
        let mut size = 0;
        while let Some(file) = open.pop() {
            size += readings[file].source.text.len();
            let children = readings[file].children.iter();
            let children = children.filter_map(|child| read.get(&child.path).copied());
            open.extend(children.filter(|child| seen.insert(*child)));
        }
        size
    }
}

/// A file that is a crate's root.
struct Root {
    /// Its number among the files that were read.
    file: usize,
    /// The target that it is the root of, where cargo says so.
    kinds: Option<Vec<TargetKind>>,
    features: Features,
}

/// The groups in which some file mentions MPI, or may use a package of one that does.
fn groups(readings: &[Reading], read: &FxHashMap<PathBuf, usize>) -> Vec<Group> {
    let children: FxHashSet<usize> = readings
        .iter()
        .flat_map(|reading| &reading.children)
        .filter_map(|child| read.get(&child.path).copied())
        .collect();
    let mut manifests = Manifests::default();
    let mut groups: Vec<(Group, bool)> = Vec::new();
    let mut numbers: FxHashMap<PathBuf, usize> = FxHashMap::default();
    // Of a package that does not mention MPI the texts were not kept.
    for (file, reading) in readings.iter().enumerate().filter(|(_, reading)| reading.kept) {
        let unit = reading.unit.as_ref();
        let manifest = match unit {
            Some(unit) => Some(unit.package.manifest_path.clone().into_std_path_buf()),
            None => manifests.of(&reading.source.path),
        };
        let key = manifest.clone().unwrap_or_else(|| reading.source.path.clone());
        let number = *numbers.entry(key).or_insert_with(|| {
            let package = unit.map(|unit| Arc::clone(&unit.package));
            groups.push((Group { manifest, package, roots: Vec::new() }, false));
            groups.len() - 1
        });
        let (group, mentions) = &mut groups[number];
        *mentions |= reading.mentions.mpi;
        let target = unit.map(|unit| &unit.target);
        let is_target = target.is_some_and(|target| {
            target.src_path.as_std_path().canonicalize().is_ok_and(|it| it == reading.source.path)
        });
        let is_root = if unit.is_some() { is_target } else { !children.contains(&file) };
        if is_root || (reading.named && unit.is_none()) {
            group.roots.push(Root {
                file,
                kinds: target.map(|target| target.kind.clone()),
                features: unit.and_then(|unit| unit.features.clone()),
            });
        }
    }
    let mentioned: FxHashSet<PathBuf> = groups
        .iter()
        .filter(|(_, mentions)| *mentions)
        .filter_map(|(group, _)| group.manifest.clone())
        .collect();
    let uses_one = |group: &Group| {
        let dependencies = group.package.iter().flat_map(|package| &package.dependencies);
        dependencies
            .filter_map(|it| it.path.as_ref())
            .any(|folder| mentioned.contains(&folder.join("Cargo.toml").into_std_path_buf()))
    };
    let wanted = groups.into_iter().filter(|(group, mentions)| *mentions || uses_one(group));
    wanted.map(|(group, _)| group).collect()
}

/// The manifests of the packages that files lie in, looked for once in each folder.
#[derive(Default)]
pub(in crate::read) struct Manifests(FxHashMap<PathBuf, Option<PathBuf>>);

impl Manifests {
    /// The manifest of the package that a file lies in.
    pub(in crate::read) fn of(&mut self, path: &Path) -> Option<PathBuf> {
        let folder = path.parent()?;
        if let Some(manifest) = self.0.get(folder) {
            return manifest.clone();
        }
        let here = folder.join("Cargo.toml");
        let manifest = if here.is_file() { Some(here) } else { self.of(folder) };
        self.0.insert(folder.to_owned(), manifest.clone());
        manifest
    }
}

/// What cargo says about packages, asked once for each manifest.
#[derive(Default)]
struct Packages(Mutex<FxHashMap<PathBuf, Option<Arc<Package>>>>);

impl Packages {
    fn of(&self, manifest: &Path) -> Option<Arc<Package>> {
        let known = self.0.lock().ok()?.get(manifest).cloned();
        if let Some(known) = known {
            return known;
        }
        let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec().ok();
        let packages = metadata.map(|it| it.packages).unwrap_or_default();
        let found = packages.into_iter().find(|it| it.manifest_path == *manifest).map(Arc::new);
        self.0.lock().ok()?.insert(manifest.to_owned(), found.clone());
        found
    }
}

/// A library whose source is at hand.
#[derive(Clone)]
struct Library {
    /// The name by which programs use it.
    name: String,
    path: PathBuf,
    features: Features,
}

/// Puts the programs of one group together, on one thread.
struct Translator<'r> {
    group: &'r Group,
    files: Files<'r>,
    readings: &'r [Reading],
    libraries: Vec<Library>,
    /// What dependencies are called here, and their own names.
    renamed: Vec<(String, String)>,
}

impl<'r> Translator<'r> {
    fn new(
        group: &'r Group,
        readings: &'r [Reading],
        read: &'r FxHashMap<PathBuf, usize>,
        metadata: &Packages,
    ) -> Self {
        let package = group.package.clone();
        let package = package.or_else(|| group.manifest.as_ref().and_then(|it| metadata.of(it)));
        let mut libraries = Vec::new();
        let mut renamed = vec![("rsmpi".to_owned(), "mpi".to_owned())];
        if let Some(package) = &package {
            libraries.extend(library_of(package, None));
            add_dependencies(package, metadata, &mut libraries, 4);
            for dependency in &package.dependencies {
                if let Some(name) = &dependency.rename {
                    renamed.push((name.replace('-', "_"), dependency.name.replace('-', "_")));
                }
            }
        }
        // rsmpi itself is not read: what its calls mean is known.
        libraries.retain(|library| library.name != "mpi");
        Translator { group, files: Files::new(readings, read), readings, libraries, renamed }
    }

    fn programs(mut self, sizes: &[u32]) -> Programs {
        let mut roots = Vec::new();
        for root in &self.group.roots {
            if !self.may_communicate(root) {
                continue;
            }
            let path = &self.readings[root.file].source.path;
            if let Some(number) = self.files.load(path, Kind::Folder, &root.features) {
                roots.push((root, number));
            }
        }
        let libraries: Vec<(String, usize)> = self
            .libraries
            .clone()
            .iter()
            .filter_map(|it| Some((it.name.clone(), self.load_used(it)?)))
            .collect();
        super::expand::expand_items(&mut self.files.parsed);
        let mut programs = Vec::new();
        for (root, number) in roots {
            let used = self.used_libraries(number, &libraries);
            let numbers = used.iter().map(|(_, number)| *number).chain([number]);
            if !numbers.into_iter().any(|number| self.mentions(number, &mut FxHashSet::default())) {
                continue;
            }
            let program = self.program(root, number, &used);
            programs.push((root, number, program));
        }
        leave_out_called(&mut programs);
        self.finish(programs, sizes)
    }

    /// Whether a root, or what it leads to, can communicate, by its text alone.
    fn may_communicate(&self, root: &Root) -> bool {
        let kinds = root.kinds.as_deref().unwrap_or_default();
        if kinds.contains(&TargetKind::CustomBuild) || self.is_rsmpi(root) {
            return false;
        }
        let reading = &self.readings[root.file];
        let text = &reading.source.text;
        reading.mentions.mpi
            || super::super::limits::declares_modules(text)
            || self.libraries.iter().any(|library| text.contains(&library.name))
    }

    /// Whether it is the library rsmpi itself.
    fn is_rsmpi(&self, root: &Root) -> bool {
        let path = &self.readings[root.file].source.path;
        path.ends_with("src/lib.rs")
            && self.group.manifest.as_ref().is_some_and(|manifest| {
                let named =
                    |text: String| text.lines().any(|line| line.replace(' ', "") == "name=\"mpi\"");
                std::fs::read_to_string(manifest).is_ok_and(named)
            })
    }

    /// Loads a library if some file that is loaded names it.
    fn load_used(&mut self, library: &Library) -> Option<usize> {
        let named =
            (0..self.files.parsed.len()).any(|file| self.files.text(file).contains(&library.name));
        if !named {
            return None;
        }
        self.files.load(&library.path, Kind::Folder, &library.features)
    }

    /// The libraries that a crate names, and those that they name in their turn, which come first.
    fn used_libraries(&self, root: usize, all: &[(String, usize)]) -> Vec<(String, usize)> {
        let mut used: Vec<(String, usize)> = Vec::new();
        let mut open = vec![root];
        let mut seen = FxHashSet::from_iter([root]);
        while let Some(file) = open.pop() {
            for (name, library) in all {
                if !seen.contains(library) && self.names(file, name, &mut FxHashSet::default()) {
                    seen.insert(*library);
                    open.push(*library);
                    used.insert(0, (name.clone(), *library));
                }
            }
        }
        used
    }

    fn names(&self, file: usize, name: &str, seen: &mut FxHashSet<usize>) -> bool {
        seen.insert(file)
            && (self.files.text(file).contains(name)
                || self.files.parsed[file].modules.values().any(|&it| self.names(it, name, seen)))
    }

    /// Whether a file or a module below it mentions MPI.
    fn mentions(&self, file: usize, seen: &mut FxHashSet<usize>) -> bool {
        let parsed = &self.files.parsed[file];
        seen.insert(file)
            && (parsed.mentions_mpi || parsed.modules.values().any(|&it| self.mentions(it, seen)))
    }

    fn program(&self, root: &Root, number: usize, libraries: &[(String, usize)]) -> Program {
        let mut translation = Translation::new(&self.files.parsed);
        for (here, own) in &self.renamed {
            translation.names.rename_crate(here, own);
        }
        for (name, library) in libraries {
            let root = translation.add_crate(name, *library);
            translation.names.add_crate(name, root);
        }
        let module = translation.add_crate("", number);
        translation.find_entries(module, target_of(root, &translation, module));
        finish(translation.program, &self.files.parsed)
    }

    /// Gives the files the numbers that everybody knows them by.
    fn finish(self, programs: Vec<(&Root, usize, Program)>, sizes: &[u32]) -> Programs {
        let base = self.readings.len();
        let numbers: Vec<usize> = self
            .files
            .origins
            .iter()
            .map(|origin| match origin {
                Origin::Read(number) => *number,
                Origin::More(number) => base + number,
            })
            .collect();
        let list = programs.into_iter().map(|(_, root, mut program)| {
            let played = super::role::played(&mut program, &self.files.parsed, sizes);
            program.places.iter_mut().for_each(|place| place.file = numbers[place.file]);
            TargetProgram { program, root: numbers[root], played }
        });
        Programs { list: list.collect(), more: self.files.more, failures: self.files.failures }
    }
}

fn target_of(root: &Root, translation: &Translation<'_>, module: ModuleId) -> Target {
    match &root.kinds {
        Some(kinds) => {
            let program =
                [TargetKind::Bin, TargetKind::Example, TargetKind::Test, TargetKind::Bench];
            if kinds.iter().any(|kind| program.contains(kind)) {
                Target::Program
            } else {
                Target::Library
            }
        }
        None => translation.target(module),
    }
}

fn library_of(package: &Package, name: Option<&str>) -> Option<Library> {
    let is_library =
        |kind: &TargetKind| matches!(kind, TargetKind::Lib | TargetKind::RLib | TargetKind::DyLib);
    let target = package.targets.iter().find(|target| target.kind.iter().any(is_library))?;
    Some(Library {
        name: name.unwrap_or(&target.name).replace('-', "_"),
        path: target.src_path.clone().into_std_path_buf(),
        features: Some(package.features.keys().cloned().collect()),
    })
}

/// The libraries among the dependencies whose source is in the workspace.
fn add_dependencies(
    package: &Package,
    metadata: &Packages,
    libraries: &mut Vec<Library>,
    depth: usize,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for dependency in &package.dependencies {
        let Some(folder) = &dependency.path else { continue };
        let Some(package) = metadata.of(folder.join("Cargo.toml").as_std_path()) else { continue };
        let Some(library) = library_of(&package, dependency.rename.as_deref()) else { continue };
        if libraries.iter().all(|known| known.path != library.path) {
            libraries.push(library);
            add_dependencies(&package, metadata, libraries, depth);
        }
    }
}

/// A public function that some code of the package calls is no entry of its own: how it is called
/// says more than its parameters do.
fn leave_out_called(programs: &mut [(&Root, usize, Program)]) {
    let mut called = FxHashSet::default();
    for (_, _, program) in programs.iter() {
        let bodies = program.functions.iter().enumerate();
        for (number, function) in bodies {
            let Some(body) = &function.body else { continue };
            super::calls::each(body, &mut |expression| {
                if let ExpressionKind::Function(callee, _) = &expression.kind
                    && callee.0 as usize != number
                {
                    let location = program.location(program.function(*callee).place);
                    called.insert((location.file, location.bytes.start));
                }
            });
        }
    }
    for (_, _, program) in programs.iter_mut() {
        let mut entries = std::mem::take(&mut program.entries);
        entries.retain(|entry| {
            let location = program.location(program.function(entry.function).place);
            let key = (location.file, location.bytes.start);
            entry.kind != EntryKind::Public || !called.contains(&key)
        });
        program.entries = entries;
    }
}
