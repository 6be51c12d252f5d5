//! Files as trees, with the macros among their items that only wrap items taken off.

use std::collections::HashMap;

use syn::Item;

use super::wrapped;
use crate::source::cfg::Features;

/// A file that was parsed. Its spans mean something only on the thread that parsed it.
#[derive(Default)]
pub(super) struct ParsedFile {
    /// Its items.
    pub(super) items: Vec<Item>,
    /// Where in the text the spans start.
    pub(super) start: usize,
    /// Where the modules are that it declares in other files: by the names of the modules around
    /// them in this file and their own.
    pub(super) modules: HashMap<Vec<String>, usize>,
    /// The features of its package.
    pub(super) features: Features,
    /// It mentions MPI.
    pub(super) mentions_mpi: bool,
}

impl ParsedFile {
    /// Parses a text, on this thread.
    pub(super) fn parse(
        text: &str,
        features: &Features,
    ) -> Result<ParsedFile, crate::diagnostic::Failure> {
        let (file, start) = super::super::parse(text)?;
        let mut items = file.items;
        wrapped::unwrap(&mut items, features);
        Ok(ParsedFile {
            items,
            start,
            modules: HashMap::new(),
            features: features.clone(),
            mentions_mpi: super::mentions_mpi(text),
        })
    }
}
