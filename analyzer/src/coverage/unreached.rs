//! Why no run comes to a call: the place from which on a rank was not followed, or that nothing
//! calls the function in which it stands.
//!
//! Told from the text: of several places where a rank was lost, the one is named that is nearest
//! before the call, or before the call of its function.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Expression, FunctionId, Kind, Place, Program};

/// Who calls whom in a program, and in which function each expression stands.
pub(super) struct CallGraph<'p> {
    program: &'p Program,
    functions: FxHashMap<Place, FunctionId>,
    callers: FxHashMap<FunctionId, Vec<(FunctionId, Place)>>,
    called: FxHashMap<FunctionId, BTreeSet<FunctionId>>,
}

impl<'p> CallGraph<'p> {
    /// Looks through a program.
    pub(super) fn of(program: &'p Program) -> Self {
        let mut named: FxHashMap<&str, Vec<FunctionId>> = FxHashMap::default();
        for (_, name, methods) in program.methods.all() {
            named.entry(name).or_default().extend(methods);
        }
        let mut graph = CallGraph {
            program,
            functions: FxHashMap::default(),
            callers: FxHashMap::default(),
            called: FxHashMap::default(),
        };
        for (number, function) in (0..).zip(&program.functions) {
            if let Some(body) = &function.body {
                graph.look_through(FunctionId(number), body, &named);
            }
        }
        graph
    }

    fn look_through(
        &mut self,
        function: FunctionId,
        expression: &Expression,
        named: &FxHashMap<&str, Vec<FunctionId>>,
    ) {
        self.functions.insert(expression.place, function);
        let by_name = |name: Option<&str>| name.and_then(|name| named.get(name));
        let called = match &expression.kind {
            Kind::Function(called, _) => std::slice::from_ref(called),
            Kind::Method { name, .. } => by_name(Some(name)).map_or(&[][..], Vec::as_slice),
            // What is made is dropped some time.
            Kind::Construct { definition, .. } => {
                self.program.methods.of(Some(*definition), "drop")
            }
            Kind::External(path, _) => {
                by_name(path.last().map(String::as_str)).map_or(&[][..], Vec::as_slice)
            }
            _ => &[],
        };
        for called in called {
            self.callers.entry(*called).or_default().push((function, expression.place));
            self.called.entry(function).or_default().insert(*called);
        }
        expression.for_each_child(&mut |child| self.look_through(function, child, named));
    }

    /// The functions that may be called where a run starts at one of these.
    pub(super) fn reachable(
        &self,
        from: impl Iterator<Item = FunctionId>,
    ) -> FxHashSet<FunctionId> {
        let mut waiting: Vec<FunctionId> = from.collect();
        let mut found: FxHashSet<FunctionId> = waiting.iter().copied().collect();
        while let Some(function) = waiting.pop() {
            for called in self.called.get(&function).into_iter().flatten() {
                if found.insert(*called) {
                    waiting.push(*called);
                }
            }
        }
        found
    }

    /// The function in which a call stands.
    pub(super) fn function_of(&self, place: Place) -> Option<FunctionId> {
        self.functions.get(&place).copied()
    }

    /// Which of the places where a rank was lost has kept it from coming to a call.
    pub(super) fn kept_by<'l>(
        &self,
        call: Place,
        lost: &'l [(Place, String)],
    ) -> Option<&'l (Place, String)> {
        let function = self.function_of(call)?;
        let mut seen = FxHashSet::from_iter([function]);
        let mut level = vec![(function, call)];
        while !level.is_empty() {
            let nearest =
                level.iter().find_map(|(function, at)| self.nearest(*function, *at, lost));
            if nearest.is_some() {
                return nearest;
            }
            let callers = level.iter().filter_map(|(function, _)| self.callers.get(function));
            level = callers.flatten().filter(|(caller, _)| seen.insert(*caller)).copied().collect();
        }
        lost.first()
    }

    /// The last place in a function before another one, or any in it: loops go round.
    fn nearest<'l>(
        &self,
        function: FunctionId,
        before: Place,
        lost: &'l [(Place, String)],
    ) -> Option<&'l (Place, String)> {
        let start = |place: Place| self.program.location(place).bytes.start;
        let inside = || lost.iter().filter(|(at, _)| self.function_of(*at) == Some(function));
        let earlier = inside().filter(|(at, _)| start(*at) <= start(before));
        earlier.max_by_key(|(at, _)| start(*at)).or_else(|| inside().next())
    }
}
