//! Which of the files that a walk through a folder found have to be parsed, before any of them is.
//!
//! All that may be judged is in them already, so the modules that a file declares matter only where
//! they may lead out of the folder, or to a file that may be judged: that one is left out if no
//! build contains the modules around it. Everything here is told from words, and rather parses a
//! file too many.

use std::path::{Path, PathBuf};

use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Text;
use super::rust::Manifests;
use crate::source::discover::Input;
use crate::source::modules::Scope;

/// What a text declares, as far as its words say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Declared {
    /// The names of modules in other files.
    names: Vec<Box<str>>,
    /// Where they are, or what they are called, cannot be told from words.
    unclear: bool,
}

/// For each file of a folder whether it has to be parsed. `folder`: all paths that were found.
pub(super) fn to_be_parsed(texts: &[(&Input, &Text)], folder: &FxHashSet<PathBuf>) -> Vec<bool> {
    let mut wanted = may_be_judged(texts);
    let mut open: Vec<usize> = (0..texts.len()).filter(|&at| wanted[at]).collect();
    let mut declaring: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, (_, Text { declared, .. })) in texts.iter().enumerate() {
        for name in &declared.names {
            declaring.entry(name).or_default().push(at);
        }
        let leads_out = declared.unclear
            || declared.names.iter().any(|name| !is_among(folder, texts[at].0, name));
        if leads_out && !std::mem::replace(&mut wanted[at], true) {
            open.push(at);
        }
    }
    while let Some(child) = open.pop() {
        let path = &texts[child].0.path;
        let parents = module_name(path).and_then(|name| declaring.get(name));
        for &parent in parents.into_iter().flatten() {
            let above = texts[parent].0.path.parent().is_some_and(|above| path.starts_with(above));
            if above && !std::mem::replace(&mut wanted[parent], true) {
                open.push(parent);
            }
        }
    }
    wanted
}

/// The files that mention what is judged, and those of the same packages.
fn may_be_judged(texts: &[(&Input, &Text)]) -> Vec<bool> {
    let mentioning = |text: &Text| text.mentions.mpi || text.mentions.protocol;
    let mut manifests = Manifests::default();
    let judged: FxHashSet<PathBuf> = texts
        .iter()
        .filter(|(_, text)| mentioning(text))
        .filter_map(|(_, text)| manifests.of(&text.source.path))
        .collect();
    let in_package = |text: &Text, manifests: &mut Manifests| {
        let manifest = (!judged.is_empty()).then(|| manifests.of(&text.source.path)).flatten();
        manifest.is_some_and(|manifest| judged.contains(&manifest))
    };
    texts.iter().map(|(_, text)| mentioning(text) || in_package(text, &mut manifests)).collect()
}

/// Whether a module is one of the files that were found.
fn is_among(folder: &FxHashSet<PathBuf>, input: &Input, name: &str) -> bool {
    let candidates = Scope::of_file(&input.path, input.kind).candidates(name, None);
    candidates.iter().any(|candidate| folder.contains(&candidate.path))
}

/// What a file is called as a module.
fn module_name(path: &Path) -> Option<&str> {
    let stem = path.file_stem()?.to_str()?;
    if stem == "mod" { path.parent()?.file_name()?.to_str() } else { Some(stem) }
}

impl Declared {
    pub(super) fn of(text: &str) -> Self {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let mut declared = Declared::default();
        for at in memmem::find_iter(text.as_bytes(), "mod") {
            let rest = &text[at + "mod".len()..];
            let after = rest.trim_start();
            if after.len() == rest.len() && !after.starts_with('/') || text[..at].ends_with(is_part)
            {
                continue;
            }
            let name = after.strip_prefix("r#").unwrap_or(after);
            let end = name.find(|letter| !is_part(letter)).unwrap_or(name.len());
            let (name, end) = (&name[..end], name[end..].trim_start());
            match end.as_bytes().first() {
                Some(b'/') => declared.unclear = true,
                Some(b';') if !name.is_empty() => declared.names.push(name.into()),
                _ => {}
            }
        }
        declared.unclear |= !declared.names.is_empty() && has_path(text);
        declared
    }
}

/// Whether some attribute may say where a module is.
fn has_path(text: &str) -> bool {
    memmem::find_iter(text.as_bytes(), "path").any(|at| {
        let after = text[at + "path".len()..].trim_start();
        let before = text[..at].trim_end();
        after.starts_with(['=', '/']) && before.ends_with(['[', ',', '(', '/'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_told_from_words() {
        let names = |text| Declared::of(text).names;
        let wanted = ["a", "b", "d"].map(Box::from);
        assert_eq!(names("mod a; pub mod\nr#b ;\nmod c { mod d; }"), wanted);
        assert_eq!(names("modify; xmod a; mod a {} mod; mod.a;"), []);
        let unclear = |text| Declared::of(text).unclear;
        for text in ["#[path = \"b.rs\"] mod a;", "mod /* x */ a;", "mod a /* x */;", "mod/**/a;"] {
            assert!(unclear(text), "{text}");
        }
        assert!(unclear("#[cfg_attr(unix, path=\"b.rs\")] mod a;"));
        assert!(!unclear("mod a; let path = 1;") && !unclear("#[path = \"b.rs\"] mod a {}"));
    }
}
