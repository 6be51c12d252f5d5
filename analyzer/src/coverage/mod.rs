//! What of a program's communication was understood: every call that communicates, and how far it
//! was followed.
//!
//! A call counts as it was understood where that went worst. One that no run comes to was not
//! looked at, and counts as not understood: silence about it proves nothing. Only where a program
//! would give up, which is taken not to happen, is nothing to be looked at.

#[cfg(test)]
mod tests;
mod unreached;

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use self::unreached::CallGraph;
use crate::evaluate::Understood;
use crate::program::{Entry, Expression, Kind, Place, Program};
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
    /// It stands where a run gives up, which is taken not to happen.
    is_spared: bool,
    /// Why no run comes there.
    why: Option<Why>,
}

#[derive(Debug)]
enum Why {
    /// A rank is not followed from there on.
    Lost(Location, String),
    /// Nothing that is run calls the function.
    NotCalled(String),
}

/// What the runs of one entry have shown.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// How each call that was reached was understood.
    pub calls: Vec<(Place, Understood)>,
    /// Where a rank was not followed any further, and why.
    pub lost: Vec<(Place, String)>,
    /// Calls that are only made where a run gives up, which is taken not to happen.
    pub spared: Vec<Place>,
}

impl Calls {
    /// Adds the calls of a program, and what the runs of each of its entries have shown of them.
    pub fn add(&mut self, program: &Program, runs: &[(&Entry, &Shown)]) {
        for call in program.calls.iter().filter(|call| call.is_certain) {
            self.entry(program, call.place, || call.name.clone());
        }
        for (_, shown) in runs {
            self.add_reached(program, &shown.calls);
            for place in &shown.spared {
                let Location { file, bytes } = program.location(*place);
                if let Some(seen) = self.0.get_mut(&(*file, bytes.start, bytes.end)) {
                    seen.is_spared = true;
                }
            }
        }
        self.explain(program, runs);
    }

    /// Finds out why no run comes to the calls that none comes to.
    fn explain(&mut self, program: &Program, runs: &[(&Entry, &Shown)]) {
        let reached: FxHashSet<Place> =
            runs.iter().flat_map(|(_, shown)| shown.calls.iter().map(|(at, _)| *at)).collect();
        let missed =
            |call: &&crate::program::CallSite| call.is_certain && !reached.contains(&call.place);
        let missed: Vec<Place> =
            program.calls.iter().filter(missed).map(|call| call.place).collect();
        if missed.is_empty() {
            return;
        }
        let graph = CallGraph::of(program);
        let called: Vec<_> =
            runs.iter().map(|(entry, _)| graph.reachable([entry.function].into_iter())).collect();
        for call in missed {
            let Some(function) = graph.function_of(call) else { continue };
            let coming = || {
                let runs = runs.iter().zip(&called);
                runs.filter(|(_, called)| called.contains(&function)).map(|((_, shown), _)| shown)
            };
            let lost = coming().find_map(|shown| graph.kept_by(call, &shown.lost));
            let why = match lost {
                Some((at, why)) => Why::Lost(program.location(*at).clone(), why.clone()),
                None if coming().next().is_some() => continue,
                None => Why::NotCalled(program.function(function).name.clone()),
            };
            self.entry(program, call, || "call".to_owned()).why.get_or_insert(why);
        }
    }

    fn add_reached(&mut self, program: &Program, reached: &[(Place, Understood)]) {
        let names: BTreeMap<Place, &str> =
            program.calls.iter().map(|call| (call.place, call.name.as_str())).collect();
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
        self.0.entry(key).or_insert_with(|| Seen {
            name: name(),
            understood: None,
            is_spared: false,
            why: None,
        })
    }

    /// The calls, by file and place. `place`: what a place is called in reports.
    pub fn list(self, place: impl Fn(&Location) -> String) -> Vec<Call> {
        let call = |((file, start, end), seen): ((FileId, usize, usize), Seen)| Call {
            at: Location { file, bytes: start..end },
            understood: seen.understood(&place),
            name: seen.name,
        };
        self.0.into_iter().map(call).collect()
    }
}

impl Seen {
    fn understood(&self, place: impl Fn(&Location) -> String) -> Understood {
        if let Some(understood) = &self.understood {
            return understood.clone();
        }
        if self.is_spared {
            return Understood::Fully;
        }
        Understood::Not(match &self.why {
            Some(Why::Lost(at, why)) => {
                format!("not reached: from {} on the rank is not followed: {why}", place(at))
            }
            Some(Why::NotCalled(name)) => format!("nothing that was run calls `{name}`"),
            None => "no run that was looked at comes here".to_owned(),
        })
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
