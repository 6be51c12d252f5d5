//! `compile_commands.json`: what the build hands to the compiler for each file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::preprocess::Options;
use crate::source::{display_name, reason};

/// The file's name wherever nobody has given it another one.
const NAME: &str = "compile_commands.json";

/// How the build compiles one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Build {
    /// Its headers and macros.
    pub(super) options: Arc<Options>,
    /// What it is compiled for, where CMake has made the list: the folder of the target.
    pub(super) target: Option<Arc<str>>,
}

/// What a build does with its files.
#[derive(Debug, Default)]
pub(super) struct Database(FxHashMap<PathBuf, Build>);

impl Database {
    /// Reads a file; the error says why it cannot be.
    pub(super) fn read(path: &Path) -> Result<Database, String> {
        let named = |why: String| format!("`{}` cannot be read: {why}", display_name(path));
        let bytes = std::fs::read(path).map_err(|error| named(reason(&error)))?;
        let list: Value = serde_json::from_slice(&bytes)
            .map_err(|error| named(format!("it is not JSON: {error}")))?;
        let Value::Array(list) = list else {
            return Err(named("it is no list of compile commands".to_owned()));
        };
        let mut database = Database::default();
        let mut known: FxHashMap<Arguments, Build> = FxHashMap::default();
        for entry in &list {
            database.add(entry, &mut known);
        }
        Ok(database)
    }

    /// Adds what is compiled first of several times.
    fn add(&mut self, entry: &Value, known: &mut FxHashMap<Arguments, Build>) {
        let text = |name: &str| entry[name].as_str();
        let (Some(folder), Some(file)) = (text("directory"), text("file")) else { return };
        let folder = Path::new(folder);
        let Ok(path) = folder.join(file).canonicalize() else { return };
        let words = match (&entry["arguments"], text("command")) {
            (Value::Array(words), _) => {
                words.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            (_, Some(command)) => words(command),
            _ => return,
        };
        let arguments = Arguments::read(&words, folder, text("output"));
        let build = known.entry(arguments).or_insert_with_key(Arguments::build);
        self.0.entry(path).or_insert_with(|| build.clone());
    }

    /// How a file is compiled.
    pub(super) fn build(&self, path: &Path) -> Option<&Build> {
        self.0.get(path)
    }
}

/// Of the words of a command, those that matter here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Arguments {
    /// What relative paths begin at.
    folder: PathBuf,
    folders: Vec<String>,
    quoted: Vec<String>,
    forced: Vec<String>,
    /// `-D` and `-U`, in their order.
    definitions: Vec<(bool, String)>,
    target: Option<String>,
}

impl Arguments {
    fn read(words: &[String], folder: &Path, output: Option<&str>) -> Arguments {
        let mut arguments = Arguments { folder: folder.to_owned(), ..Arguments::default() };
        let mut output = output.map(str::to_owned);
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let mut value = |option: &str| {
                let value = word.strip_prefix(option)?;
                if value.is_empty() { rest.next().cloned() } else { Some(value.to_owned()) }
            };
            if let Some(name) = value("-D") {
                arguments.definitions.push((true, name));
            } else if let Some(name) = value("-U") {
                arguments.definitions.push((false, name));
            } else if let Some(folder) = value("-iquote") {
                arguments.quoted.push(folder);
            } else if let Some(file) = value("-include") {
                arguments.forced.push(file);
            } else if let Some(folder) = value("-I") {
                arguments.folders.push(folder);
            } else if let Some(file) = value("-o") {
                output = Some(file);
            }
        }
        let target = output.and_then(|output| {
            let (target, _) = output.rsplit_once(".dir/")?;
            Some(target.to_owned())
        });
        Arguments { target, ..arguments }
    }

    fn build(&self) -> Build {
        let mut options = Options::default();
        for name in &self.folders {
            options.add_folder(self.folder.join(name));
        }
        options.quoted = self.quoted.iter().map(|name| self.folder.join(name)).collect();
        options.forced = self.forced.iter().map(|name| self.folder.join(name)).collect();
        for (defined, name) in &self.definitions {
            if *defined { options.define(name) } else { options.undefine(name) }
        }
        Build { options: Arc::new(options), target: self.target.as_deref().map(Arc::from) }
    }
}

/// The words of a command as a shell takes it apart.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, ' ' | '\t' | '\n' | '\r') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// The builds of files: of the one database that was given, or of the nearest of each file.
#[derive(Default)]
pub(super) struct Builds {
    given: Option<Option<Arc<Database>>>,
    near: FxHashMap<PathBuf, Option<Arc<Database>>>,
    /// What could not be read.
    pub(super) failures: Vec<String>,
}

impl Builds {
    /// With the database that was given, if one was.
    pub(super) fn new(given: Option<&Path>) -> Builds {
        let mut builds = Builds::default();
        builds.given = given.map(|path| builds.read(path));
        builds
    }

    fn read(&mut self, path: &Path) -> Option<Arc<Database>> {
        let read = Database::read(path);
        read.map_err(|why| self.failures.push(why)).ok().map(Arc::new)
    }

    /// How a file is compiled, where somebody says so.
    pub(super) fn of(&mut self, path: &Path) -> Option<Build> {
        let database = match &self.given {
            Some(given) => given.clone(),
            None => path.parent().and_then(|folder| self.nearest(folder)),
        };
        database?.build(path).cloned()
    }

    /// The database in a folder, in `build` there, or in the nearest folder above.
    fn nearest(&mut self, folder: &Path) -> Option<Arc<Database>> {
        if let Some(known) = self.near.get(folder) {
            return known.clone();
        }
        let candidates = [folder.join(NAME), folder.join("build").join(NAME)];
        let found = match candidates.iter().find(|path| path.is_file()) {
            Some(path) => self.read(path),
            None => folder.parent().and_then(|above| self.nearest(above)),
        };
        self.near.insert(folder.to_owned(), found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_taken_apart_as_a_shell_does() {
        let words = words(r#"cc -DA="\"b c\"" '-D B=1'  -I"x y" a\ b.c "" -o c"#);
        let expected = ["cc", "-DA=\"b c\"", "-D B=1", "-Ix y", "a b.c", "", "-o", "c"];
        assert_eq!(words, expected);
    }

    #[test]
    fn what_matters_is_taken_and_nothing_else() {
        let command = "mpicc -Wall -I inc -I/abs -isystem sys -DN=3 -D M -UN -iquote q -include f.h \
                       -MF x.d -o CMakeFiles/halo.dir/src/main.c.o -c main.c";
        let build = Arguments::read(&words(command), Path::new("/b"), None).build();
        let path = |text: &str| PathBuf::from(text);
        assert_eq!(build.options.folders, [path("/b/inc"), path("/abs")]);
        assert_eq!(build.options.quoted, [path("/b/q")]);
        assert_eq!(build.options.forced, [path("/b/f.h")]);
        assert_eq!(build.options.definitions, "#define N 3\n#define M 1\n#undef N\n");
        assert_eq!(build.target.as_deref(), Some("CMakeFiles/halo"));
    }
}
