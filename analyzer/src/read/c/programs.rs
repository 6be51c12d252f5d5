//! From C files to programs that are run: read, expanded, put together, parsed and lowered, each as
//! far as some program with MPI in it needs the file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use memchr::memmem;
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::database::{Build, Builds};
use super::link::{Linked, Linker, Object};
use super::lower;
use super::names::Names;
use super::parse::{Unit, parse};
use super::preprocess::{self, Expanded, Options, Texts};
use crate::diagnostic::Failure;
use crate::read::rust::TargetProgram;
use crate::read::{Reading, unreadable};
use crate::source::discover::Input;
use crate::source::{FileId, Language, Location, SourceFile, display_name, reason};

/// What the user says of how C files are compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// `-I`
    pub(crate) folders: Vec<PathBuf>,
    /// `-D`
    pub(crate) definitions: Vec<String>,
    /// `--compile-commands`
    pub(crate) database: Option<PathBuf>,
}

/// All programs, with what was done with each, and the files that they stand in.
pub(crate) struct Programs<R> {
    /// The programs. The files of their places have the numbers that follow those of the files which
    /// were read before.
    pub(crate) list: Vec<(TargetProgram, R)>,
    /// The files, headers behind the others.
    pub(in crate::read) files: Vec<Reading>,
    /// What has no file.
    pub(crate) failures: Vec<Failure>,
    /// The local headers of programs that were not found, and where they are included.
    pub(crate) missing: Vec<(String, Location)>,
}

/// A file that was read.
struct File {
    source: SourceFile,
    language: Language,
    named: bool,
    mentions_mpi: bool,
    build: Build,
}

/// A program before it is parsed.
struct Plan {
    objects: Vec<usize>,
    unclear: Vec<(String, String)>,
    /// The functions that nobody calls, where those are its entries.
    uncalled: Option<FxHashSet<String>>,
}

fn mentions_mpi(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"MPI_").is_some()
}

/// The programs among these files. `first`: the number of the first file among all. `run`: what is
/// done with each as soon as it is there; places may have other numbers then.
pub(crate) fn programs<R: Send>(
    inputs: Vec<Input>,
    given: &Given,
    first: FileId,
    run: impl Fn(&TargetProgram) -> R + Sync,
) -> Programs<R> {
    let (files, mut failures) = read(inputs, given);
    let wanted = files.iter().any(|file| file.mentions_mpi || file.named);
    let (mut failed, mut missing) = (BTreeMap::new(), Vec::new());
    let mut list = Vec::new();
    let headers = if wanted {
        let texts = Texts::new(files.iter().map(|file| &file.source).collect());
        let expanded = expand(&files, &texts, &mut failed);
        let plans = plans(&files, &expanded, &texts);
        missing = missing_in(&plans, &expanded);
        list = finish(&plans, expanded, &mut failed, run);
        texts.into_headers()
    } else {
        Vec::new()
    };
    let numbers = Numbers::new(first, files.len(), &headers);
    for (target, _) in &mut list {
        target.root = numbers.of(target.root);
        target.program.places.iter_mut().for_each(|place| place.file = numbers.of(place.file));
    }
    missing.iter_mut().for_each(|(_, at)| at.file = numbers.of(at.file));
    failures.sort_by(|one, other| one.message.cmp(&other.message));
    let files = numbers.readings(files, headers, failed);
    Programs { list, files, failures, missing }
}

/// Reads files, each once.
fn read(inputs: Vec<Input>, given: &Given) -> (Vec<File>, Vec<Failure>) {
    let read = |input: Input| -> Result<(SourceFile, bool), Failure> {
        let real = input.real.map_or_else(|| input.path.canonicalize(), Ok);
        let real = real.map_err(|error| unreadable(&input.path, &reason(&error)))?;
        let source = preprocess::read(real, display_name(&input.path));
        Ok((source.map_err(|why| unreadable(&input.path, &why))?, input.named))
    };
    let read: Vec<_> = inputs.into_par_iter().map(read).collect();
    let mut builds = Builds::new(given.database.as_deref());
    let mut merged = Merged::new(given);
    let (mut files, mut failures) = (Vec::new(), Vec::new());
    let mut numbers: FxHashMap<PathBuf, usize> = FxHashMap::default();
    for read in read {
        match read {
            Err(failure) => failures.push(failure),
            Ok((source, named)) => {
                let number = *numbers.entry(source.path.clone()).or_insert(files.len());
                if number < files.len() {
                    let file: &mut File = &mut files[number];
                    file.named |= named;
                    continue;
                }
                let build = merged.with(builds.of(&source.path).unwrap_or_default());
                let language = Language::of_named(&source.path).unwrap_or(Language::C);
                let mentions_mpi = mentions_mpi(&source.text);
                files.push(File { source, language, named, mentions_mpi, build });
            }
        }
    }
    failures.extend(builds.failures.into_iter().map(Failure::new));
    files.sort_by(|one, other| one.source.name.cmp(&other.source.name));
    (files, failures)
}

/// The options of builds together with those of the command line.
struct Merged<'a> {
    given: &'a Given,
    known: Vec<(Arc<Options>, Arc<Options>)>,
}

impl<'a> Merged<'a> {
    fn new(given: &'a Given) -> Self {
        Merged { given, known: Vec::new() }
    }

    fn with(&mut self, build: Build) -> Build {
        if self.given.folders.is_empty() && self.given.definitions.is_empty() {
            return build;
        }
        let known = self.known.iter().find(|(before, _)| *before == build.options);
        let options = match known {
            Some((_, merged)) => Arc::clone(merged),
            None => {
                let mut merged = Options::default();
                let folders = self.given.folders.iter();
                folders.for_each(|folder| merged.add_folder(folder.clone()));
                merged.folders.extend(build.options.folders.iter().cloned());
                merged.quoted.clone_from(&build.options.quoted);
                merged.forced.clone_from(&build.options.forced);
                merged.definitions.clone_from(&build.options.definitions);
                self.given.definitions.iter().for_each(|definition| merged.define(definition));
                let merged = Arc::new(merged);
                self.known.push((Arc::clone(&build.options), Arc::clone(&merged)));
                merged
            }
        };
        Build { options, ..build }
    }
}

/// Expands files. What cannot be is a failure where somebody has asked for it.
fn expand(
    files: &[File],
    texts: &Texts<'_>,
    failed: &mut BTreeMap<FileId, Vec<Failure>>,
) -> Vec<Option<Expanded>> {
    let expand = |(number, file): (usize, &File)| {
        preprocess::expand(texts, number, file.language, &file.build.options)
    };
    let expanded: Vec<_> = files.par_iter().enumerate().map(expand).collect();
    let asked = |number: usize| files[number].named || files[number].mentions_mpi;
    let kept = expanded.into_iter().enumerate().map(|(number, expanded)| match expanded {
        Ok(expanded) => Some(expanded),
        Err(stop) => {
            if asked(number) {
                let failures = failed.entry(stop.file).or_default();
                // A header fails for each file that includes it.
                if !failures.contains(&stop.failure) {
                    failures.push(stop.failure);
                }
            }
            None
        }
    });
    kept.collect()
}

/// Which programs there are.
fn plans(files: &[File], expanded: &[Option<Expanded>], texts: &Texts<'_>) -> Vec<Plan> {
    let included: FxHashSet<FileId> = texts.included().into_iter().collect();
    let numbers: Vec<usize> = (0..files.len())
        .filter(|number| expanded[*number].is_some() && !included.contains(number))
        .collect();
    let object = |&number: &usize| {
        let (file, expanded) = (&files[number], expanded[number].as_ref()?);
        let object = Object {
            path: &file.source.path,
            names: Names::of(expanded),
            headers: &expanded.headers,
            target: file.build.target.as_deref(),
        };
        Some((object, mentions_mpi(&expanded.text)))
    };
    let (objects, mentions): (Vec<Object<'_>>, Vec<bool>) =
        numbers.par_iter().filter_map(object).unzip();
    let linker = Linker::new(&objects);
    let has_mpi = |linked: &Linked| linked.objects.iter().any(|&object| mentions[object]);
    let plan = |linked: Linked| {
        let root = linked.objects[0];
        let uncalled = linked.is_library.then(|| {
            let functions = objects[root].names.external.iter();
            let uncalled = functions.filter(|name| !linker.is_called(root, name));
            uncalled.map(|&name| name.to_owned()).collect()
        });
        let objects = linked.objects.into_iter().map(|object| numbers[object]).collect();
        Plan { objects, unclear: linked.unclear, uncalled }
    };
    linker.programs().into_iter().filter(has_mpi).map(plan).collect()
}

/// The headers of programs that were not found, each once for each place.
fn missing_in(plans: &[Plan], expanded: &[Option<Expanded>]) -> Vec<(String, Location)> {
    let mut known = FxHashSet::default();
    let mut missing = Vec::new();
    for &object in plans.iter().flat_map(|plan| &plan.objects) {
        for one in expanded[object].iter().flat_map(|expanded| &expanded.missing) {
            let bytes = one.bytes.0 as usize..one.bytes.1 as usize;
            if known.insert((one.file, bytes.start)) {
                missing.push((one.name.clone(), Location { file: one.file, bytes }));
            }
        }
    }
    missing
}

/// Parses, lowers and runs the programs.
fn finish<R: Send>(
    plans: &[Plan],
    expanded: Vec<Option<Expanded>>,
    failed: &mut BTreeMap<FileId, Vec<Failure>>,
    run: impl Fn(&TargetProgram) -> R + Sync,
) -> Vec<(TargetProgram, R)> {
    let mut users = vec![0_usize; expanded.len()];
    plans.iter().flat_map(|plan| &plan.objects).for_each(|&object| users[object] += 1);
    let failures = Mutex::new(Vec::new());
    let parse = |expanded: Expanded| {
        let unit = parse(expanded);
        unit.map_err(|stop| lock(&failures).push((stop.file, stop.failure))).ok()
    };
    // What several programs have is parsed once, and what only one has is let go with it.
    let (shared, single): (Vec<_>, Vec<_>) =
        expanded.into_iter().enumerate().partition(|(number, _)| users[*number] > 1);
    let shared: BTreeMap<usize, Unit> = shared
        .into_par_iter()
        .filter_map(|(number, expanded)| Some((number, parse(expanded?)?)))
        .collect();
    let single: FxHashMap<usize, Mutex<Option<Expanded>>> =
        single.into_iter().map(|(number, expanded)| (number, Mutex::new(expanded))).collect();
    let finish = |plan: &Plan| {
        let own: BTreeMap<usize, Unit> = (plan.objects.iter())
            .filter_map(|number| {
                let expanded = single.get(number).and_then(|expanded| lock(expanded).take())?;
                Some((*number, parse(expanded)?))
            })
            .collect();
        let unit = |number: &usize| own.get(number).or_else(|| shared.get(number));
        // Without its first file there is no program.
        unit(plan.objects.first()?)?;
        let units: Vec<&Unit> = plan.objects.iter().filter_map(unit).collect();
        let mut program = lower::program(&units, &plan.unclear);
        if let Some(uncalled) = &plan.uncalled {
            program.entries.retain(|entry| uncalled.contains(&entry.name));
        }
        let target = TargetProgram { program, root: plan.objects[0], played: Vec::new() };
        let result = run(&target);
        Some((target, result))
    };
    let list = plans.par_iter().filter_map(finish).collect();
    for (file, failure) in failures.into_inner().unwrap_or_else(PoisonError::into_inner) {
        failed.entry(file).or_default().push(failure);
    }
    list
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The numbers that everybody knows files by, which do not depend on which thread came to a header
/// first.
struct Numbers {
    first: FileId,
    files: usize,
    /// For each header its place among them in the order of their names.
    headers: Vec<usize>,
}

impl Numbers {
    fn new(first: FileId, files: usize, headers: &[Arc<SourceFile>]) -> Numbers {
        let mut order: Vec<usize> = (0..headers.len()).collect();
        order.sort_by(|&one, &other| headers[one].path.cmp(&headers[other].path));
        let mut places = vec![0; headers.len()];
        order.iter().enumerate().for_each(|(place, &header)| places[header] = place);
        Numbers { first, files, headers: places }
    }

    fn of(&self, file: FileId) -> FileId {
        let header = file.checked_sub(self.files).and_then(|header| self.headers.get(header));
        self.first + header.map_or(file.min(self.files), |place| self.files + place)
    }

    /// The files in that order.
    fn readings(
        &self,
        files: Vec<File>,
        headers: Vec<Arc<SourceFile>>,
        mut failed: BTreeMap<FileId, Vec<Failure>>,
    ) -> Vec<Reading> {
        let mut ordered: Vec<(usize, FileId, SourceFile)> = Vec::new();
        let count = files.len();
        let files = files.into_iter().enumerate().map(|(number, file)| (number, file.source));
        let headers = headers
            .into_iter()
            .enumerate()
            .map(|(number, header)| (count + number, Arc::unwrap_or_clone(header)));
        for (number, source) in files.chain(headers) {
            ordered.push((self.of(number), number, source));
        }
        ordered.sort_by_key(|(place, ..)| *place);
        let reading = |(_, number, source): (usize, FileId, SourceFile)| {
            let failures = failed.remove(&number).unwrap_or_default();
            Reading { failures, ..Reading::of_source(source) }
        };
        ordered.into_iter().map(reading).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_numbers_in_the_order_of_their_paths() {
        let header =
            |path: &str| Arc::new(SourceFile::new(path.into(), path.into(), String::new()));
        let headers = [header("/b.h"), header("/a.h")];
        let numbers = Numbers::new(10, 3, &headers);
        assert_eq!([0, 2, 3, 4].map(|file| numbers.of(file)), [10, 12, 14, 13]);
    }
}
