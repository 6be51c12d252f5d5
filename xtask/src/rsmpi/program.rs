//! A program of the fixtures, and what it says about itself.
//!
//! A line `// run: -n 3, hangs` says on how many ranks MPI runs it and what comes of it; `//~ rule`
//! says what the checker finds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::workspace::{files, read};

/// What begins the line that says how a program is run.
const HEADER: &str = "// run: -n ";

/// What MPI makes of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// It ends with success.
    Ends,
    /// It is still there when the time is up.
    Hangs,
    /// MPI, rsmpi or the launcher ends it with an error.
    Fails,
    /// It ends, and its own check (an assertion) says that what it has received is wrong.
    Garbles,
    /// A message is longer than its room: MPI may report that, abort, or write over other memory and
    /// then do anything but end well.
    Overruns,
    /// It ends with success on this MPI, though no MPI has to let it.
    WorksHere,
}

impl Behaviour {
    const ALL: [Behaviour; 6] = [
        Behaviour::Ends,
        Behaviour::Hangs,
        Behaviour::Fails,
        Behaviour::Garbles,
        Behaviour::Overruns,
        Behaviour::WorksHere,
    ];

    /// The name as the fixtures write it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Behaviour::Ends => "ends",
            Behaviour::Hangs => "hangs",
            Behaviour::Fails => "fails",
            Behaviour::Garbles => "garbles",
            Behaviour::Overruns => "overruns",
            Behaviour::WorksHere => "works-here",
        }
    }

    /// Whether what is seen from outside is what was expected.
    pub(super) fn is_seen_as(self, seen: Behaviour) -> bool {
        match self {
            Behaviour::WorksHere => seen == Behaviour::Ends,
            Behaviour::Overruns => seen != Behaviour::Ends,
            _ => seen == self,
        }
    }
}

/// A program of the fixtures.
pub(super) struct Program {
    /// Its package and target: `deadlock/guard_scope_wrong`.
    pub(super) name: String,
    pub(super) file: PathBuf,
    /// How many ranks it is run on.
    pub(super) ranks: u32,
    /// What MPI makes of it.
    pub(super) behaviour: Behaviour,
    /// The rules that find something in it.
    pub(super) expected: BTreeSet<String>,
}

impl Program {
    /// The name of its executable.
    pub(super) fn target(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    fn read(file: PathBuf) -> Result<Program> {
        let text = read(&file)?;
        let shown = file.display();
        let (ranks, behaviour) = text
            .lines()
            .find_map(|line| line.strip_prefix(HEADER))
            .and_then(header)
            .ok_or_else(|| format!("{shown}: no line `{HEADER}RANKS, OUTCOME`"))?;
        let marks = text.lines().flat_map(|line| line.split("//~").skip(1));
        let rules = marks.flat_map(|mark| mark.trim_start_matches('^').split(','));
        let expected: BTreeSet<String> = rules.map(|rule| rule.trim().to_owned()).collect();
        if expected.is_empty() != (behaviour == Behaviour::Ends) {
            return Err(format!("{shown}: exactly what does not end well has a finding").into());
        }
        let name = |path: Option<&Path>| {
            path.and_then(Path::file_stem).unwrap_or_default().to_string_lossy().into_owned()
        };
        let package = name(file.ancestors().nth(3));
        let name = format!("{package}/{}", name(Some(&file)));
        Ok(Program { name, file, ranks, behaviour, expected })
    }
}

/// `3, hangs`.
fn header(text: &str) -> Option<(u32, Behaviour)> {
    let (ranks, outcome) = text.split_once(", ")?;
    let behaviour = Behaviour::ALL.into_iter().find(|it| it.name() == outcome)?;
    Some((ranks.parse().ok()?, behaviour))
}

/// All programs below a folder: the files in the `bin` folders of its packages.
pub(super) fn all(folder: &Path) -> Result<Vec<Program>> {
    let files = files(folder, ".rs")?.into_iter();
    let targets = files.filter(|file| file.parent().is_some_and(|it| it.ends_with("src/bin")));
    targets.map(Program::read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_or_refused() {
        assert_eq!(header("3, hangs"), Some((3, Behaviour::Hangs)));
        assert_eq!(header("2, works-here"), Some((2, Behaviour::WorksHere)));
        assert!(Behaviour::Overruns.is_seen_as(Behaviour::Fails));
        assert!(!Behaviour::Overruns.is_seen_as(Behaviour::Ends));
        assert_eq!(header("2 hangs"), None);
        assert_eq!(header("2, sleeps"), None);
    }
}
