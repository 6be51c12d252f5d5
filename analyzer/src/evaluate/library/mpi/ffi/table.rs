//! The table of MPI's functions: what each of them does to others, and what its arguments are.
//!
//! The table itself is a text beside this file, `functions.txt`, which says how it is written. What
//! the functions mean that are modelled is in the other modules.

use std::sync::LazyLock;

use rustc_hash::{FxBuildHasher, FxHashMap};

/// The table as it is written.
const FUNCTIONS: &str = include_str!("functions.txt");

/// What a function does to other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evaluate) enum Effect {
    /// They may see it, and it is modelled.
    Meets,
    /// It asks or changes something of this rank alone.
    Local,
    /// It works on a file, and is not modelled.
    File,
    /// Not modelled; it may meet other ranks.
    Unknown,
}

/// A function of MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// What it does to other ranks.
    pub(super) effect: Effect,
    /// What its arguments are, in order.
    pub(super) arguments: Vec<Argument>,
}

/// An argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    /// What it is: `comm`, `count`.
    pub(super) what: &'static str,
    /// What the standard calls it: `sendcount`.
    pub(super) parameter: &'static str,
    /// Whether it is read.
    pub(super) is_read: bool,
    /// Whether something is written where it points to.
    pub(super) is_written: bool,
}

/// The lines of the table, by the functions' names without `MPI_`. Nearly every program asks for a
/// few of them only: they are read when they are asked for.
static LINES: LazyLock<FxHashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let mut lines = FxHashMap::with_capacity_and_hasher(FUNCTIONS.len() / 50, FxBuildHasher);
    let mut from = 0;
    for to in memchr::memchr_iter(b'\n', FUNCTIONS.as_bytes()) {
        let line = &FUNCTIONS[from..to];
        from = to + 1;
        match memchr::memchr3(b'*', b' ', b'#', line.as_bytes()) {
            Some(end) if end > 0 => lines.insert(&line[..end], line),
            _ => None,
        };
    }
    lines
});

/// A line of the table.
#[derive(Clone, Copy, Debug)]
struct Line {
    name: &'static str,
    /// There is also one for large counts.
    has_large: bool,
    effect: Effect,
    arguments: &'static str,
}

impl Line {
    /// The line of a function, by its name as the table has it.
    fn named(name: &str) -> Option<Line> {
        LINES.get(name).and_then(|line| Line::of(line))
    }

    fn of(line: &'static str) -> Option<Line> {
        let (name, rest) = line.split_once(' ')?;
        let rest = rest.trim_start();
        let (effect, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
        let effect = match effect {
            "meets" => Effect::Meets,
            "local" => Effect::Local,
            "file" => Effect::File,
            "unknown" => Effect::Unknown,
            _ => return None,
        };
        let bare = name.strip_suffix('*');
        Some(Line { name: bare.unwrap_or(name), has_large: bare.is_some(), effect, arguments })
    }
}

/// A function's name as the table has it: without `MPI_` or `PMPI_`, and without what says that its
/// counts may be large.
pub(super) fn name(function: &str) -> Option<&str> {
    let name = function.strip_prefix('P').unwrap_or(function).strip_prefix("MPI_")?;
    if LINES.contains_key(name) {
        return Some(name);
    }
    let plain = name.strip_suffix("_c")?;
    Line::named(plain).filter(|line| line.has_large).map(|line| line.name)
}

/// The function of a name as the table has it.
pub(super) fn function(name: &str) -> Option<Function> {
    let line = Line::named(name)?;
    let arguments = line.arguments.split_whitespace().map(|written| {
        let (rest, is_read, is_written) = match written.as_bytes().first() {
            Some(b'>') => (&written[1..], false, true),
            Some(b'&') => (&written[1..], true, true),
            _ => (written, true, false),
        };
        let (what, parameter) = rest.split_once(':').unwrap_or((rest, rest));
        Argument { what, parameter, is_read, is_written }
    });
    Some(Function { effect: line.effect, arguments: arguments.collect() })
}

/// What a function of MPI does to other ranks, by its full name; `None`: it is none.
pub(in crate::evaluate) fn effect(function: &str) -> Option<Effect> {
    if let Some(line) = name(function).and_then(Line::named) {
        return Some(line.effect);
    }
    // What the table does not know may do anything; names in capitals are constants.
    let name = function.strip_prefix('P').unwrap_or(function);
    let name = name.strip_prefix("MPI_").or_else(|| name.strip_prefix("MPIX_"))?;
    name.contains(|letter: char| letter.is_ascii_lowercase()).then_some(Effect::Unknown)
}

/// Whether other ranks may see a call of a function of this name.
pub fn is_communication(function: &str) -> bool {
    matches!(effect(function), Some(Effect::Meets | Effect::File | Effect::Unknown))
}

/// Every function of the table with what it does to others.
#[cfg(test)]
pub(in crate::evaluate) fn all() -> impl Iterator<Item = (&'static str, Effect)> {
    LINES.values().filter_map(|line| Line::of(line)).map(|line| (line.name, line.effect))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;

    use super::*;

    /// The folders in which a compiler for MPI looks for its headers.
    fn include_folders(compiler: &str, option: &str) -> Vec<String> {
        let Ok(output) = Command::new(compiler).arg(option).output() else { return Vec::new() };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let words = text.split_whitespace().map(|word| word.strip_prefix("-I").unwrap_or(word));
        words.filter(|word| word.contains("include")).map(str::to_owned).collect()
    }

    /// The functions that headers declare.
    fn declared(folders: &[String], headers: &[&str]) -> BTreeSet<String> {
        let paths = folders.iter().flat_map(|folder| {
            headers.iter().map(move |header| std::path::Path::new(folder).join(header))
        });
        let texts = paths.filter_map(|path| std::fs::read_to_string(path).ok());
        let mut found = BTreeSet::new();
        for text in texts {
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            for (at, _) in text.match_indices("MPI_") {
                let is_start = !text[..at].ends_with(is_part);
                let end =
                    text[at..].find(|letter| !is_part(letter)).map_or(text.len(), |it| at + it);
                let is_function = text[end..].starts_with('(')
                    && text[at..end].contains(|letter: char| letter.is_ascii_lowercase());
                if is_start && is_function {
                    found.insert(text[at..end].to_owned());
                }
            }
        }
        found
    }

    /// Every function of Open MPI (MPI 3.1) and of MPICH (MPI 4.0), where they are installed.
    #[test]
    fn no_function_of_an_installed_mpi_is_missing() {
        let open = include_folders("mpicc.openmpi", "--showme:incdirs");
        let open =
            if open.is_empty() { include_folders("mpicc", "--showme:incdirs") } else { open };
        let mut all = declared(&open, &["mpi.h"]);
        assert!(all.is_empty() || all.len() > 380, "mpi.h declares {} functions", all.len());
        let mpich = include_folders("mpicc.mpich", "-show");
        all.extend(declared(&mpich, &["mpi.h", "mpi_proto.h", "mpio.h"]));
        let missing: Vec<_> = all.iter().filter(|name| super::name(name).is_none()).collect();
        assert_eq!(missing, Vec::<&String>::new());
    }

    #[test]
    fn every_line_of_the_table_is_one_function() {
        let lines = FUNCTIONS.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let lines: Vec<_> = lines.collect();
        assert!(lines.iter().all(|line| Line::of(line).is_some()), "an effect is not known");
        assert_eq!(lines.len(), LINES.len(), "a function stands there twice");
    }

    #[test]
    fn arguments_say_what_they_are() {
        let function = function("Irecv").expect("it is in the table");
        assert_eq!(function.effect, Effect::Meets);
        let whats: Vec<_> = function.arguments.iter().map(|argument| argument.what).collect();
        assert_eq!(whats, ["buffer", "count", "datatype", "source", "tag", "comm", "request"]);
        assert_eq!(function.arguments[0].parameter, "buf");
        let written: Vec<_> = function.arguments.iter().map(|it| it.is_written).collect();
        assert_eq!(written, [true, false, false, false, false, false, true]);
    }

    #[test]
    fn names_for_large_counts_and_profiling_mean_the_same() {
        assert_eq!(name("MPI_Send_c"), Some("Send"));
        assert_eq!(name("PMPI_Send"), Some("Send"));
        assert_eq!(name("MPI_Barrier_c"), None);
        assert_eq!(name("Send"), None);
    }

    #[test]
    fn what_others_may_see_is_told_from_what_they_cannot() {
        assert!(is_communication("MPI_Waitsome"));
        assert!(is_communication("MPI_Comm_spawn"));
        assert!(is_communication("MPI_Something_new"));
        assert!(!is_communication("MPI_Wtime"));
        assert!(!is_communication("MPI_Comm_rank"));
        assert!(!is_communication("MPI_COMM_WORLD"));
        assert!(!is_communication("printf"));
    }
}
