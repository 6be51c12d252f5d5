//! Which variables names stand for, from the innermost block to the function.

use rustc_hash::FxHashMap;

use crate::program::VariableId;

/// The scopes that are open; the last one is the innermost.
#[derive(Debug)]
pub(super) struct Scopes(Vec<FxHashMap<String, VariableId>>);

impl Default for Scopes {
    fn default() -> Self {
        Scopes(vec![FxHashMap::default()])
    }
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.0.push(FxHashMap::default());
    }

    pub(super) fn close(&mut self) {
        self.0.pop();
    }

    pub(super) fn bind(&mut self, name: &str, variable: VariableId) {
        if let Some(innermost) = self.0.last_mut() {
            innermost.insert(name.to_owned(), variable);
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<VariableId> {
        self.0.iter().rev().find_map(|scope| scope.get(name)).copied()
    }
}
