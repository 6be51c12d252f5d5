//! What of a program's communication was understood: every call that communicates, and how far it
//! was followed.
//!
//! A call counts as it was understood where that went worst. One that no run comes to was not
//! looked at, and counts as not understood: silence about it proves nothing.

use std::collections::BTreeMap;

use crate::evaluate::Understood;
use crate::program::{Expression, Kind, Place, Program};
use crate::source::{FileId, Location};

/// A call that communicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Where it stands.
    pub at: Location,
    /// The method or function.
    pub name: String,
    /// How it was understood.
    pub understood: Understood,
}

/// All calls, each once, however many programs have it.
#[derive(Debug, Default)]
pub struct Calls(BTreeMap<(FileId, usize, usize), Seen>);

#[derive(Debug)]
struct Seen {
    name: String,
    /// `None`: no run comes there.
    understood: Option<Understood>,
}

impl Calls {
    /// Adds the calls of a program, and how those were understood that its runs came to.
    pub fn add(&mut self, program: &Program, reached: &[(Place, Understood)]) {
        let names: BTreeMap<Place, &str> =
            program.calls.iter().map(|call| (call.place, call.name.as_str())).collect();
        for call in program.calls.iter().filter(|call| call.is_certain) {
            self.entry(program, call.place, || call.name.clone());
        }
        for (place, how) in reached {
            let name = || match names.get(place) {
                Some(name) => (*name).to_owned(),
                None => name_at(program, *place).unwrap_or_else(|| "call".to_owned()),
            };
            let seen = self.entry(program, *place, name);
            if seen.understood.as_ref().is_none_or(|known| known < how) {
                seen.understood = Some(how.clone());
            }
        }
    }

    fn entry(
        &mut self,
        program: &Program,
        place: Place,
        name: impl FnOnce() -> String,
    ) -> &mut Seen {
        let Location { file, bytes } = program.location(place);
        let key = (*file, bytes.start, bytes.end);
        self.0.entry(key).or_insert_with(|| Seen { name: name(), understood: None })
    }

    /// The calls, by file and place.
    pub fn list(self) -> Vec<Call> {
        let call = |((file, start, end), seen): ((FileId, usize, usize), Seen)| Call {
            at: Location { file, bytes: start..end },
            name: seen.name,
            understood: seen.understood.unwrap_or_else(|| {
                Understood::Not("no run that was looked at comes here".to_owned())
            }),
        };
        self.0.into_iter().map(call).collect()
    }
}

/// The name of the call that stands at a place.
fn name_at(program: &Program, place: Place) -> Option<String> {
    fn find(expression: &Expression, place: Place) -> Option<String> {
        if expression.place == place {
            match &expression.kind {
                Kind::Method { name, .. } => return Some(name.clone()),
                Kind::Call(callee, _) => {
                    if let Kind::External(path, _) = &callee.kind {
                        return path.last().cloned();
                    }
                }
                _ => {}
            }
        }
        let mut found = None;
        expression.for_each_child(&mut |child| {
            if found.is_none() {
                found = find(child, place);
            }
        });
        found
    }
    let bodies = program.functions.iter().filter_map(|function| function.body.as_ref());
    let values = program.globals.iter().filter_map(|global| global.value.as_ref());
    bodies.chain(values).find_map(|body| find(body, place))
}
