//! Reads files, follows their modules, and judges every protocol in them.
//!
//! A file is judged once, however many ways lead to it, and all that depends on its text happens
//! in one go, on one thread, because a token knows its line only there.

pub mod c;
mod find;
mod folder;
mod limits;
pub mod protocol;
pub mod rust;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;
use p2p_protocol::grammar::CheckOptions;
use ra_ap_rustc_lexer::strip_shebang;
use rayon::ThreadPoolBuilder;
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::Failure;
use crate::source::discover::{Input, Unit};
use crate::source::{self, Location, MARK, SourceFile, display_name, display_name_in, reason};
use c::programs::Given;
use find::Declaration;
use protocol::Judged;
use rust::TargetProgram;
pub use rust::mentions_mpi;

/// What a file has to say.
#[derive(Debug)]
pub struct Reading {
    /// The file.
    pub source: SourceFile,
    /// The package and the target it belongs to, where they are known.
    pub unit: Option<Arc<Unit>>,
    /// The protocols in it, in order.
    pub protocols: Vec<Judged>,
    /// What could not be checked.
    pub failures: Vec<Failure>,
    /// It was asked for by name or by a target.
    named: bool,
    /// It stands among the files a second time: its text was not kept, and then asked for after all.
    pub again: bool,
    /// Its text is there: it was looked at closer than for words.
    kept: bool,
    mentions: Mentions,
    children: Vec<Child>,
}

/// What a text speaks of.
#[derive(Clone, Copy, Debug, Default)]
struct Mentions {
    /// MPI, or a role of a protocol.
    mpi: bool,
    /// A protocol.
    protocol: bool,
}

impl Mentions {
    fn of(text: &str) -> Self {
        let protocol = memmem::find(text.as_bytes(), find::ATTRIBUTE.as_bytes()).is_some();
        Mentions { mpi: mentions_mpi(text), protocol }
    }
}

/// A file before it is parsed.
struct Text {
    source: SourceFile,
    mentions: Mentions,
    /// The modules that it declares; only looked for where a folder has it.
    declared: folder::Declared,
    /// The text is there. Of most files nobody asks for it again, and they are many.
    kept: bool,
}

impl Text {
    /// Reads a file. `found`: a folder has it. `memory`: what it is read into.
    fn read(
        path: PathBuf,
        name: String,
        found: bool,
        memory: &mut Vec<u8>,
    ) -> Result<Text, String> {
        let text = source::read_into(&path, memory)?;
        let mentions = Mentions::of(text);
        let declared = if found { folder::Declared::of(text) } else { Default::default() };
        let kept = !found || mentions.mpi || mentions.protocol;
        let text = if kept { text.to_owned() } else { String::new() };
        Ok(Text { source: SourceFile::new(path, name, text), mentions, declared, kept })
    }

    /// Reads the text again if it was not kept.
    fn keep(&mut self) -> Result<(), String> {
        if !std::mem::replace(&mut self.kept, true) {
            let SourceFile { path, name, .. } = &self.source;
            self.source = SourceFile::read(path.clone(), name.clone())?;
        }
        Ok(())
    }
}

/// A module file that a file declares.
#[derive(Debug)]
struct Child {
    path: PathBuf,
    /// Some build may contain it.
    possible: bool,
}

/// All files that were read, by name, and those that could not be.
#[derive(Debug, Default)]
pub struct Readings {
    /// The files.
    pub files: Vec<Reading>,
    /// What has no file.
    pub failures: Vec<Failure>,
    /// The headers that programs include and that were not found, and where.
    pub missing: Vec<(String, Location)>,
}

/// A parser that calls itself needs room for the deepest text that is let through.
const STACK: usize = 256 << 20;

/// Does work that calls itself deeply, on this many threads; `None`: on as many as there are cores.
pub fn with_room<R: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> R + Send,
) -> Result<R, Failure> {
    match ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).stack_size(STACK).build() {
        Ok(pool) => Ok(pool.install(work)),
        Err(error) => Err(Failure::new(format!("no threads can be started: {error}"))),
    }
}

/// Reads these files and all that they lead to. Needs [`with_room`].
pub fn all(inputs: Vec<Input>, options: &CheckOptions) -> Readings {
    let mut readings = Readings::default();
    let mut numbers: FxHashMap<PathBuf, Option<usize>> = FxHashMap::default();
    let mut batch = inputs;
    // Files that are named go first, so that they count as named even if a folder has them too.
    batch.sort_by_key(|input| !input.named);
    let folder: FxHashSet<PathBuf> =
        batch.iter().filter(|input| input.is_found()).map(|input| input.path.clone()).collect();
    while !batch.is_empty() {
        let (mut inputs, mut texts) = (Vec::new(), Vec::new());
        for (input, text) in readings.read_texts(std::mem::take(&mut batch), &mut numbers, &folder)
        {
            inputs.push(input);
            texts.push(text);
        }
        let wanted = wanted(&inputs, &texts, &folder);
        let read: Vec<(Reading, Vec<Input>)> = (inputs.par_iter())
            .zip(texts)
            .zip(wanted)
            .map(|((input, text), wanted)| read(text, input, wanted, options))
            .collect();
        for (reading, children) in read {
            batch.extend(children);
            numbers.insert(reading.source.path.clone(), Some(readings.files.len()));
            readings.files.push(reading);
        }
    }
    readings.leave_out_impossible(&numbers);
    readings.files.sort_by(|a, b| a.source.name.cmp(&b.source.name));
    readings
}

/// Which of these files have to be parsed.
fn wanted(inputs: &[Input], texts: &[Text], folder: &FxHashSet<PathBuf>) -> Vec<bool> {
    let of_folder: Vec<(&Input, &Text)> =
        inputs.iter().zip(texts).filter(|(input, _)| is_of(folder, input)).collect();
    let mut in_folder = folder::to_be_parsed(&of_folder, folder).into_iter();
    inputs.iter().map(|input| !is_of(folder, input) || in_folder.next().unwrap_or(true)).collect()
}

/// Whether a folder has a file, and nobody has asked for it by name.
fn is_of(folder: &FxHashSet<PathBuf>, input: &Input) -> bool {
    input.is_found() && folder.contains(&input.path)
}

fn unreadable(path: &Path, reason: &str) -> Failure {
    Failure::new(format!("`{}` cannot be read: {reason}", display_name(path)))
}

impl Readings {
    /// The texts of the files that nobody has read yet.
    fn read_texts(
        &mut self,
        inputs: Vec<Input>,
        numbers: &mut FxHashMap<PathBuf, Option<usize>>,
        folder: &FxHashSet<PathBuf>,
    ) -> Vec<(Input, Text)> {
        let real = |input: Input| {
            let real = input.real.clone().map_or_else(|| input.path.canonicalize(), Ok);
            (input, real)
        };
        let mut fresh = Vec::new();
        for (input, path) in inputs.into_par_iter().map(real).collect::<Vec<_>>() {
            match path {
                Ok(path) if !numbers.contains_key(&path) => {
                    numbers.insert(path.clone(), None);
                    fresh.push((path, input));
                }
                Ok(_) => {}
                Err(error) => self.failures.push(unreadable(&input.path, &reason(&error))),
            }
        }
        let current = std::env::current_dir().unwrap_or_default();
        let text = |memory: &mut Vec<u8>, (path, input): (PathBuf, Input)| {
            let name = display_name_in(&current, &input.path);
            let text = Text::read(path, name, is_of(folder, &input), memory);
            (input, text)
        };
        let mut texts = Vec::new();
        for (input, text) in fresh.into_par_iter().map_init(Vec::new, text).collect::<Vec<_>>() {
            match text {
                Ok(text) => texts.push((input, text)),
                Err(reason) => self.failures.push(unreadable(&input.path, &reason)),
            }
        }
        texts
    }

    /// The programs among the files. The files that they use besides are added. `sizes`: those of
    /// which the protocols are wanted whose roles functions play. `run`: what is done with each as
    /// soon as it is there. Needs [`with_room`].
    pub fn programs<R: Send>(
        &mut self,
        sizes: &[u32],
        run: impl Fn(&TargetProgram) -> R + Sync,
    ) -> Vec<(TargetProgram, R)> {
        let programs = rust::programs(&self.files, sizes, run);
        for (file, failure) in programs.failures {
            self.files[file].failures.push(failure);
        }
        let let_go = self.files.iter().filter(|file| !file.kept);
        let let_go: FxHashSet<PathBuf> = match programs.more.as_slice() {
            [] => FxHashSet::default(),
            _ => let_go.map(|file| file.source.path.clone()).collect(),
        };
        self.files.extend(programs.more.into_iter().map(|source| {
            let again = let_go.contains(&source.path);
            Reading { again, ..Reading::of_source(source) }
        }));
        programs.list
    }

    /// Adds files in C, and gives the programs among them. The rest is as with [`Readings::programs`].
    pub(crate) fn programs_in_c<R: Send>(
        &mut self,
        inputs: Vec<Input>,
        given: &Given,
        run: impl Fn(&TargetProgram) -> R + Sync,
    ) -> Vec<(TargetProgram, R)> {
        if inputs.is_empty() {
            return Vec::new();
        }
        let programs = c::programs::programs(inputs, given, self.files.len(), run);
        self.files.extend(programs.files);
        self.failures.extend(programs.failures);
        self.missing.extend(programs.missing);
        programs.list
    }

    /// Drops the files that a folder has and that only modules declare which no build contains.
    fn leave_out_impossible(&mut self, numbers: &FxHashMap<PathBuf, Option<usize>>) {
        let mut parents: Vec<Vec<(usize, bool)>> = vec![Vec::new(); self.files.len()];
        for (parent, file) in self.files.iter().enumerate() {
            for child in &file.children {
                if let Some(Some(number)) = numbers.get(&child.path) {
                    parents[*number].push((parent, child.possible));
                }
            }
        }
        let mut out = vec![false; self.files.len()];
        loop {
            let before = out.clone();
            for (number, file) in self.files.iter().enumerate() {
                let declared = !file.named && !parents[number].is_empty();
                let reachable = |&(parent, possible): &(usize, bool)| possible && !before[parent];
                out[number] = declared && !parents[number].iter().any(reachable);
            }
            if out == before {
                break;
            }
        }
        let mut keep = out.into_iter().map(|out| !out);
        self.files.retain(|_| keep.next().unwrap_or(true));
    }
}

/// Reads one file, and parses it if that is wanted; the inputs are the module files it leads to.
fn read(
    mut text: Text,
    input: &Input,
    wanted: bool,
    options: &CheckOptions,
) -> (Reading, Vec<Input>) {
    let mentioned = text.mentions.protocol;
    let again = if wanted { text.keep() } else { Ok(()) };
    let mut reading = Reading {
        unit: input.unit.clone(),
        named: input.named,
        kept: text.kept,
        mentions: text.mentions,
        ..Reading::of_source(text.source)
    };
    if let Err(reason) = again {
        reading.failures.push(unreadable(&reading.source.path, &reason));
        return (reading, Vec::new());
    }
    if !wanted || !mentioned && !limits::declares_modules(&reading.source.text) {
        return (reading, Vec::new());
    }
    let text = &reading.source.text;
    let parsed = if mentioned {
        parse(text)
    } else {
        // A body has no module file, and where it is wrong nobody has asked.
        parse(&limits::without_bodies(text)).or_else(|_| parse(text))
    };
    match parsed {
        Ok((file, start)) => {
            let features = input.unit.as_ref().map_or(&None, |unit| &unit.features);
            let found = find::in_file(&file, &input.path, input.kind, features);
            if mentioned {
                let judge = protocol::Judge { options, start };
                for found in found.protocols {
                    let judged = judge.judge(found, &reading.source.text);
                    reading.add_protocol(judged);
                }
            }
            let children = reading.add_declarations(&found.declarations, input, start);
            (reading, children)
        }
        Err(failure) => {
            // A folder may hold all kinds of files; one without a protocol is not asked for.
            reading.failures.extend((mentioned || input.named).then_some(failure));
            (reading, Vec::new())
        }
    }
}

/// Parses a text; the number is where in it the tree's offsets start.
fn parse(text: &str) -> Result<(syn::File, usize), Failure> {
    let mut start = strip_shebang(text).unwrap_or(0);
    limits::check(&text[start..])
        .map_err(|(bytes, message)| Failure::at(bytes.start + start..bytes.end + start, message))?;
    // The parser skips it without counting it.
    start += text[start..].strip_prefix(MARK).map_or(0, |_| MARK.len_utf8());
    let file = syn::parse_file(&text[start..]).map_err(|error| {
        let bytes = protocol::bytes(error.span(), start, text);
        // What the tokenizer says is no more than that it failed.
        let why = match error.to_string().as_str() {
            "cannot parse string into token stream" => {
                "brackets or quotes do not match here, or this is no token of the language"
                    .to_owned()
            }
            why => why.to_owned(),
        };
        Failure::at(bytes, format!("this is not Rust: {why}"))
    })?;
    Ok((file, start))
}

impl Reading {
    /// A file that is only used by others.
    fn of_source(source: SourceFile) -> Reading {
        Reading {
            source,
            unit: None,
            protocols: Vec::new(),
            failures: Vec::new(),
            named: false,
            again: false,
            kept: true,
            mentions: Mentions::default(),
            children: Vec::new(),
        }
    }

    fn add_protocol(&mut self, (judged, failures): (Option<Judged>, Vec<Failure>)) {
        self.protocols.extend(judged);
        self.failures.extend(failures);
    }

    fn add_declarations(
        &mut self,
        declarations: &[Declaration],
        input: &Input,
        start: usize,
    ) -> Vec<Input> {
        let mut inputs = Vec::new();
        for declaration in declarations {
            let possible = declaration.holds != Some(false);
            let found = declaration.candidates.iter().find(|candidate| candidate.path.is_file());
            let Some(candidate) = found else {
                if self.named && declaration.holds == Some(true) {
                    let bytes = protocol::bytes(declaration.name.span(), start, &self.source.text);
                    let message = format!("no file for the module `{}`", declaration.name);
                    self.failures.push(Failure::at(bytes, message));
                }
                continue;
            };
            if let Ok(path) = candidate.path.canonicalize() {
                self.children.push(Child { path, possible });
            }
            if possible {
                inputs.push(Input {
                    path: candidate.path.clone(),
                    kind: candidate.kind,
                    named: false,
                    unit: input.unit.clone(),
                    real: None,
                });
            }
        }
        inputs
    }
}
