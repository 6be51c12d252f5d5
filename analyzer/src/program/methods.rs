//! The methods of a program, by their names and by whose they are.

use rustc_hash::FxHashMap;

use super::{DefinitionId, FunctionId};

/// The methods of each definition by name; those of traits for other types are nobody's.
///
/// More than one candidate: several traits or types have a method of that name.
#[derive(Clone, Debug, Default)]
pub struct Methods(FxHashMap<String, Vec<Candidates>>);

/// The methods of one name that a definition has, or nobody.
type Candidates = (Option<DefinitionId>, Vec<FunctionId>);

impl Methods {
    /// Adds a method, once.
    pub fn add(&mut self, owner: Option<DefinitionId>, name: &str, function: FunctionId) {
        let owners = match self.0.get_mut(name) {
            Some(owners) => owners,
            None => self.0.entry(name.to_owned()).or_default(),
        };
        match owners.iter_mut().find(|(known, _)| *known == owner) {
            Some((_, functions)) if functions.contains(&function) => {}
            Some((_, functions)) => functions.push(function),
            None => owners.push((owner, vec![function])),
        }
    }

    /// The methods of this name that a definition has, or nobody; none if there are none.
    pub fn of(&self, owner: Option<DefinitionId>, name: &str) -> &[FunctionId] {
        let mut owners = self.0.get(name).into_iter().flatten();
        owners.find(|(known, _)| *known == owner).map_or(&[], |(_, functions)| functions)
    }

    /// The methods of this name, whosever they are.
    pub fn named(&self, name: &str) -> impl Iterator<Item = FunctionId> {
        let owners = self.0.get(name).into_iter().flatten();
        owners.flat_map(|(_, functions)| functions.iter().copied())
    }

    /// Whether there is one of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// All of them: whose, the name, which.
    pub fn all(&self) -> impl Iterator<Item = (Option<DefinitionId>, &str, &[FunctionId])> {
        self.0.iter().flat_map(|(name, owners)| {
            owners.iter().map(|(owner, functions)| (*owner, name.as_str(), functions.as_slice()))
        })
    }
}
