//! The levels of the rules: from Cargo.toml or p2p-check.toml, then from the command line.
//!
//! Tables are read with their places, so that a word that means nothing is reported where it
//! stands, like everything else.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use p2p_protocol::finding::Level;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::catalogue::{self, did_you_mean};
use crate::diagnostic::Failure;
use crate::source::{SourceFile, display_name};

/// The file with a package's settings, or a workspace's.
const MANIFEST: &str = "Cargo.toml";

/// The file with the settings of a folder and all below it.
const SETTINGS: &str = "p2p-check.toml";

/// Which rules a level is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selector {
    /// Every rule.
    All,
    /// The rules of a group.
    Group(&'static str),
    /// One rule.
    Rule(&'static str),
}

impl Selector {
    /// Reads a name. `deadlock` is both a group and a rule of it: the group is meant.
    pub fn parse(name: &str) -> Result<Selector, String> {
        let rules = catalogue::all();
        if name == "all" {
            return Ok(Selector::All);
        }
        if let Some(rule) = rules.iter().find(|rule| rule.group == name) {
            return Ok(Selector::Group(rule.group));
        }
        if let Some(rule) = rules.iter().find(|rule| rule.name == name) {
            return Ok(Selector::Rule(rule.name));
        }
        let known = rules.iter().flat_map(|rule| [rule.name, rule.group]).chain(["all"]);
        Err(format!("no rule or group is called `{name}`{}", did_you_mean(name, known)))
    }
}

/// One level that somebody has set.
pub type Setting = (Selector, Level);

/// The levels that somebody has set, by rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels(BTreeMap<&'static str, Level>);

impl Levels {
    /// Sets a level; what was set before for the same rules no longer counts.
    pub fn set(&mut self, (selector, level): Setting) {
        for rule in catalogue::all() {
            let meant = match selector {
                Selector::All => true,
                Selector::Group(group) => rule.group == group,
                Selector::Rule(name) => rule.name == name,
            };
            if meant {
                self.0.insert(rule.name, level);
            }
        }
    }

    /// The level of a finding that has one of its own.
    pub fn of(&self, rule: &str, own: Level) -> Level {
        self.0.get(rule).copied().unwrap_or(own)
    }
}

/// A file of settings that has something wrong, with what it is.
pub type Wrong = (Option<SourceFile>, Vec<Failure>);

/// The settings of all folders that were asked about, each file read once.
#[derive(Debug, Default)]
pub struct Configuration {
    files: BTreeMap<PathBuf, Rc<Tables>>,
    folders: BTreeMap<PathBuf, Rc<Levels>>,
    /// What is wrong in the files that were read.
    pub wrong: Vec<Wrong>,
}

/// The settings of one file.
#[derive(Debug, Default)]
struct Tables {
    is_workspace: bool,
    workspace: Vec<Setting>,
    /// `[package.metadata.p2p-check.lints]`, or `[lints]` in a p2p-check.toml.
    own: Vec<Setting>,
}

impl Configuration {
    /// The levels for the files of a folder.
    pub fn levels(&mut self, folder: &Path) -> Rc<Levels> {
        if let Some(levels) = self.folders.get(folder) {
            return Rc::clone(levels);
        }
        let has = |name| folder.join(name).is_file();
        let levels = match folder.parent() {
            Some(parent) if !has(MANIFEST) && !has(SETTINGS) => self.levels(parent),
            _ => Rc::new(self.put_together(folder)),
        };
        self.folders.insert(folder.to_owned(), Rc::clone(&levels));
        levels
    }

    /// The levels of a folder that has a file of settings.
    fn put_together(&mut self, folder: &Path) -> Levels {
        let above = |name: &'static str| {
            folder.ancestors().map(move |folder| folder.join(name)).filter(|path| path.is_file())
        };
        // The nearest manifest is the package's; the workspace's is the same or further up.
        let mut manifests: Vec<Rc<Tables>> = Vec::new();
        for path in above(MANIFEST) {
            manifests.push(self.file(path, true));
            if manifests.last().is_some_and(|tables| tables.is_workspace) {
                break;
            }
        }
        let mut settings: Vec<Setting> = Vec::new();
        settings.extend(manifests.last().iter().flat_map(|tables| &tables.workspace));
        settings.extend(manifests.first().iter().flat_map(|tables| &tables.own));
        if let Some(path) = above(SETTINGS).next() {
            settings.extend(&self.file(path, false).own);
        }
        let mut levels = Levels::default();
        settings.into_iter().for_each(|setting| levels.set(setting));
        levels
    }

    fn file(&mut self, path: PathBuf, manifest: bool) -> Rc<Tables> {
        if let Some(tables) = self.files.get(&path) {
            return Rc::clone(tables);
        }
        let name = display_name(&path);
        let tables = match SourceFile::read(path.clone(), name.clone()) {
            Ok(file) => {
                let mut reader = Reader::default();
                let tables = reader.read(&file.text, manifest);
                if !reader.failures.is_empty() {
                    self.wrong.push((Some(file), reader.failures));
                }
                tables
            }
            Err(reason) => {
                let failure = Failure::new(format!("`{name}` cannot be read: {reason}"));
                self.wrong.push((None, vec![failure]));
                Tables::default()
            }
        };
        let tables = Rc::new(tables);
        self.files.insert(path, Rc::clone(&tables));
        tables
    }
}

/// Reads one file's tables and keeps what is wrong with them.
#[derive(Default)]
struct Reader {
    failures: Vec<Failure>,
}

type Table<'a> = DeTable<'a>;

impl Reader {
    fn read(&mut self, text: &str, manifest: bool) -> Tables {
        let document = match DeTable::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let message = format!("this is not TOML: {}", error.message());
                self.failures.push(Failure { bytes: error.span(), ..Failure::new(message) });
                return Tables::default();
            }
        };
        let document = document.get_ref();
        if !manifest {
            return Tables { own: self.settings(document), ..Tables::default() };
        }
        let mut of = |section: &str| {
            let section = table(document, section)?;
            let ours = table(section, "metadata").and_then(|it| table(it, "p2p-check"));
            Some(ours.map_or_else(Vec::new, |ours| self.settings(ours)))
        };
        let workspace = of("workspace");
        Tables {
            is_workspace: workspace.is_some(),
            workspace: workspace.unwrap_or_default(),
            own: of("package").unwrap_or_default(),
        }
    }

    /// The settings in `lints`, which is all that there is.
    fn settings(&mut self, ours: &Table<'_>) -> Vec<Setting> {
        let mut settings = Vec::new();
        for (key, value) in ours {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("lints", DeValue::Table(lints)) => {
                    settings
                        .extend(lints.iter().filter_map(|(key, value)| self.setting(key, value)));
                }
                ("lints", _) => self.wrong(value.span(), "`lints` is a table of rules and levels"),
                (other, _) => {
                    self.wrong(key.span(), format!("`{other}` is not known here; `lints` is"));
                }
            }
        }
        // A table has no order: what says more counts more.
        settings.sort_unstable_by_key(|&(selector, _)| selector);
        settings
    }

    fn setting(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<Setting> {
        let level = match value.get_ref().as_str() {
            Some("allow") => Some(Level::Allow),
            Some("warn") => Some(Level::Warn),
            Some("deny") => Some(Level::Deny),
            _ => {
                self.wrong(value.span(), "a level is \"allow\", \"warn\" or \"deny\"");
                None
            }
        };
        match Selector::parse(key.get_ref()) {
            Ok(selector) => level.map(|level| (selector, level)),
            Err(message) => {
                self.wrong(key.span(), message);
                None
            }
        }
    }

    fn wrong(&mut self, bytes: Range<usize>, message: impl Into<String>) {
        self.failures.push(Failure::at(bytes, message));
    }
}

fn table<'a, 'i>(table: &'a Table<'i>, key: &str) -> Option<&'a Table<'i>> {
    match table.get(key)?.get_ref() {
        DeValue::Table(inner) => Some(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_more_counts_more_and_what_comes_later_counts() {
        let text = "[lints]\ntag-mismatch = \"deny\"\nall = \"allow\"\npairing = \"warn\"";
        let mut reader = Reader::default();
        let tables = reader.read(text, false);
        assert_eq!(reader.failures, []);
        let mut levels = Levels::default();
        tables.own.into_iter().for_each(|setting| levels.set(setting));
        let of = |levels: &Levels, rule| levels.of(rule, Level::Deny);
        assert_eq!(of(&levels, "tag-mismatch"), Level::Deny);
        assert_eq!(of(&levels, "unmatched-send"), Level::Warn);
        assert_eq!(of(&levels, "missing-wait"), Level::Allow);
        levels.set((Selector::All, Level::Warn));
        assert_eq!(of(&levels, "tag-mismatch"), Level::Warn);
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let text = "[package.metadata.p2p-check]\nlint = 1\n[package.metadata.p2p-check.lints]\n\
                    tag-missmatch = \"deny\"\ndeadlock = \"forbid\"";
        let mut reader = Reader::default();
        reader.read(text, true);
        let places: Vec<&str> =
            reader.failures.iter().map(|it| &text[it.bytes.clone().unwrap()]).collect();
        assert_eq!(places, ["lint", "\"forbid\"", "tag-missmatch"]);
        assert!(reader.failures[2].message.ends_with("did you mean `tag-mismatch`?"));
    }
}
