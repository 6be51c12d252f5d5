//! Files as trees: a crate's root and the modules that it declares in other files.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta};

use super::cfg::{Built, built};
use super::types::name;
use super::wrapped;
use crate::diagnostic::Failure;
use crate::read::Reading;
use crate::source::cfg::Features;
use crate::source::modules::{Kind, Scope};
use crate::source::{SourceFile, display_name};

/// A file that was parsed. Its spans mean something only on the thread that parsed it.
#[derive(Default)]
pub(super) struct ParsedFile {
    /// Its items.
    pub(super) items: Vec<Item>,
    /// Where in the text the spans start.
    pub(super) start: usize,
    /// Where the modules are that it declares in other files: by the names of the modules around
    /// them in this file and their own.
    pub(super) modules: FxHashMap<Vec<String>, usize>,
    /// The features of its package.
    pub(super) features: Features,
    /// It mentions MPI.
    pub(super) mentions_mpi: bool,
}

impl ParsedFile {
    /// Parses a text, on this thread.
    pub(super) fn parse(text: &str, features: &Features) -> Result<ParsedFile, Failure> {
        let (file, start) = super::super::parse(text)?;
        let mut items = file.items;
        wrapped::unwrap(&mut items, features);
        Ok(ParsedFile {
            items,
            start,
            modules: FxHashMap::default(),
            features: features.clone(),
            mentions_mpi: super::mentions_mpi(text),
        })
    }
}

/// Where a file's text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Among the files that were read before, by its number.
    Read(usize),
    /// Among [`Files::more`].
    More(usize),
}

/// The files of a package, each parsed once, however many targets have it.
pub(super) struct Files<'r> {
    readings: &'r [Reading],
    /// The numbers of those files, by path.
    read: &'r FxHashMap<PathBuf, usize>,
    /// The files that are parsed, in the order of a program's file numbers.
    pub(super) parsed: Vec<ParsedFile>,
    /// Where the text of each is.
    pub(super) origins: Vec<Origin>,
    /// Files that nobody had read before.
    pub(super) more: Vec<SourceFile>,
    /// What could not be parsed though it mentions MPI.
    pub(super) failures: Vec<(usize, Failure)>,
    numbers: FxHashMap<PathBuf, Option<usize>>,
}

impl<'r> Files<'r> {
    pub(super) fn new(readings: &'r [Reading], read: &'r FxHashMap<PathBuf, usize>) -> Self {
        Files {
            readings,
            read,
            parsed: Vec::new(),
            origins: Vec::new(),
            more: Vec::new(),
            failures: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    /// The text of a parsed file.
    pub(super) fn text(&self, number: usize) -> &str {
        match self.origins[number] {
            Origin::Read(number) => &self.readings[number].source.text,
            Origin::More(number) => &self.more[number].text,
        }
    }

    /// Parses a file and the modules that it leads to. `None` if it cannot be read.
    pub(super) fn load(&mut self, path: &Path, kind: Kind, features: &Features) -> Option<usize> {
        let path = path.canonicalize().ok()?;
        if let Some(known) = self.numbers.get(&path) {
            return *known;
        }
        self.numbers.insert(path.clone(), None);
        let origin = match self.read.get(&path) {
            Some(&number) if self.readings[number].kept => Origin::Read(number),
            _ => {
                let source = SourceFile::read(path.clone(), display_name(&path)).ok()?;
                self.more.push(source);
                Origin::More(self.more.len() - 1)
            }
        };
        let text = match origin {
            Origin::Read(number) => &self.readings[number].source.text,
            Origin::More(number) => &self.more[number].text,
        };
        let parsed = match ParsedFile::parse(text, features) {
            Ok(parsed) => parsed,
            Err(failure) => {
                if let Origin::Read(number) = origin
                    && self.readings[number].failures.is_empty()
                    && super::mentions_mpi(text)
                {
                    self.failures.push((number, failure));
                }
                return None;
            }
        };
        let number = self.parsed.len();
        let mut declared = Vec::new();
        let scope = Scope::of_file(&path, kind);
        declared_modules(&parsed.items, &scope, &[], features, &mut declared);
        self.parsed.push(parsed);
        self.origins.push(origin);
        self.numbers.insert(path, Some(number));
        for module in declared {
            if self.parsed[number].modules.contains_key(&module.names) {
                continue;
            }
            let loaded = module
                .candidates
                .iter()
                .find(|(path, _)| path.is_file())
                .and_then(|(path, kind)| self.load(path, *kind, features));
            if let Some(child) = loaded {
                self.parsed[number].modules.insert(module.names, child);
            }
        }
        Some(number)
    }
}

/// `mod name;`
struct DeclaredModule {
    /// The modules around it in the file, and itself.
    names: Vec<String>,
    candidates: Vec<(PathBuf, Kind)>,
}

fn declared_modules(
    items: &[Item],
    scope: &Scope,
    around: &[String],
    features: &Features,
    found: &mut Vec<DeclaredModule>,
) {
    for item in items {
        let Item::Mod(module) = item else { continue };
        if built(&module.attrs, features) == Built::Never {
            continue;
        }
        let own = name(&module.ident);
        let path = path_attribute(&module.attrs, features);
        let mut names = around.to_vec();
        names.push(own.clone());
        match &module.content {
            Some((_, items)) => {
                let inside = scope.inside(&own, path.as_deref());
                declared_modules(items, &inside, &names, features, found);
            }
            None => {
                let candidates = scope.candidates(&own, path.as_deref());
                let candidates = candidates.into_iter().map(|it| (it.path, it.kind)).collect();
                found.push(DeclaredModule { names, candidates });
            }
        }
    }
}

/// What `#[path = ".."]` says, or `#[cfg_attr(.., path = "..")]` where its condition holds.
fn path_attribute(attributes: &[Attribute], features: &Features) -> Option<String> {
    let of = |meta: &Meta| match meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    };
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg_attr") => {
            let tokens: Vec<_> = list.tokens.clone().into_iter().collect();
            let comma = tokens.iter().position(
                |it| matches!(it, proc_macro2::TokenTree::Punct(it) if it.as_char() == ','),
            )?;
            let condition = tokens[..comma].iter().cloned().collect();
            let rest: proc_macro2::TokenStream = tokens[comma + 1..].iter().cloned().collect();
            let holds = super::cfg::holds(condition, features)?;
            of(&syn::parse2(rest).ok()?).filter(|_| holds)
        }
        meta => of(meta),
    })
}
