//! Type inference: fills in the types of a lowered program, by unification within each body.
//!
//! It is what finds that in `let (x, _) = process.receive(); total += x` an `f32` is received. A
//! type that is found is right; where two readings of the text contradict each other, or something
//! is not understood, it stays unknown. Signatures of functions, fields and constants are taken as
//! they are written; nothing is concluded from one body about another.
//!
//! [`term`] is about equality alone, [`library`] knows the signatures of libraries. The other
//! modules walk over a body: [`body`] and [`flow`] over expressions, [`pattern`] over patterns.
//! What they cannot tell at once are [`question`]s, which [`call`], [`container`], [`operator`],
//! [`place`] and [`iterate`] answer. [`fill`] writes the result into the program.

mod body;
mod call;
mod coerce;
mod container;
mod convert;
mod fill;
mod flow;
mod function;
mod iterate;
mod library;
mod operator;
mod pattern;
mod place;
mod question;
mod term;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use crate::program::{Expression, FunctionId, Pattern, Program, Scalar, Type, VariableId};
use flow::Exit;
use question::Question;
use term::{Kind, TermId, Terms};

/// What the letters of a library's signature stand for at one use.
type Letters = [Option<TermId>; 26];

/// Functions that are not the only ones of their type and name (`impl From<A>` and `impl From<B>`),
/// with the result that all of them have, if it is the same and has no generic parameters.
type Ambiguous = FxHashMap<FunctionId, Option<Type>>;

/// Fills in all types that can be told.
///
/// It calls itself for expressions in expressions: the stack must do for the deepest text that
/// [`crate::read`] lets through.
pub(super) fn infer(program: &mut Program) {
    // Lengths of arrays are read from constants, so these stay where they are meanwhile.
    let mut values: Vec<Option<Expression>> =
        program.globals.iter().map(|global| global.value.clone()).collect();
    let mut bodies: Vec<Option<Expression>> =
        program.functions.iter_mut().map(|function| function.body.take()).collect();
    let mut found = Vec::with_capacity(bodies.len());
    let facts = Facts::of(program);
    for (global, value) in program.globals.iter().zip(&mut values) {
        let Some(value) = value else { continue };
        let mut inference = Inference::new(&facts, &[], &[]);
        let result = inference.written(&global.ty, &[]);
        inference.run(value, result);
    }
    for (number, body) in bodies.iter_mut().enumerate() {
        let id = FunctionId(u32::try_from(number).expect("functions are numbered by u32"));
        found.push(body.as_mut().map(|body| function(&facts, id, body)));
    }
    for (global, value) in program.globals.iter_mut().zip(values) {
        global.value = value;
    }
    for ((function, body), found) in program.functions.iter_mut().zip(bodies).zip(found) {
        function.body = body;
        for (variable, ty) in function.variables.iter_mut().zip(found.unwrap_or_default()) {
            variable.ty = ty;
        }
    }
}

/// Looks at one function; gives the types of its variables.
fn function(facts: &Facts<'_>, id: FunctionId, body: &mut Expression) -> Vec<Type> {
    let function = facts.program.function(id);
    let mut inference = Inference::new(facts, &function.generics, &function.bounds);
    for (number, variable) in function.variables.iter().enumerate() {
        let id = VariableId(u32::try_from(number).expect("variables are numbered by u32"));
        inference.declare_variable(id, &variable.ty);
    }
    for parameter in &function.parameters {
        let mut pattern = parameter.pattern.clone();
        if let Pattern::Variable(variable, _) = &pattern {
            inference.declare_variable(*variable, &parameter.ty);
        }
        let term = inference.written(&parameter.ty, &[]);
        inference.bind(&mut pattern, term);
    }
    let result = inference.written(&function.result, &[]);
    inference.run(body, result);
    inference.types_of_variables(function.variables.len())
}

/// What is known of the whole program.
struct Facts<'p> {
    program: &'p Program,
    ambiguous: Ambiguous,
    /// Whether traits of the program are implemented for numbers, so that a bound may decide what
    /// type a number has.
    traits_for_numbers: bool,
}

impl<'p> Facts<'p> {
    fn of(program: &'p Program) -> Self {
        let is_of_number = |id: &FunctionId| {
            let itself = program.function(*id).parameters.first();
            itself.is_some_and(|itself| is_number(itself.ty.behind_references()))
        };
        let mut methods = program.methods.all();
        let traits_for_numbers = methods
            .any(|(owner, _, functions)| owner.is_none() && functions.iter().any(is_of_number));
        Facts { program, ambiguous: ambiguous(program), traits_for_numbers }
    }
}

fn ambiguous(program: &Program) -> Ambiguous {
    let mut ambiguous = Ambiguous::default();
    let several = program.methods.all().map(|(_, _, functions)| functions);
    for functions in several.filter(|functions| functions.len() > 1) {
        let first = program.function(functions[0]);
        let is_same = first.generics.is_empty()
            && functions.iter().all(|id| program.function(*id).result == first.result);
        let result = is_same.then(|| first.result.clone());
        ambiguous.extend(functions.iter().map(|id| (*id, result.clone())));
    }
    ambiguous
}

fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(scalar) if !matches!(scalar, Scalar::Bool | Scalar::Char))
}

/// The inference of one body.
struct Inference<'p> {
    program: &'p Program,
    ambiguous: &'p Ambiguous,
    traits_for_numbers: bool,
    /// The generic parameters of the function.
    generics: &'p [String],
    /// What they must be.
    bounds: &'p [Type],
    terms: Terms,
    questions: Vec<Option<Question>>,
    variables: Vec<TermId>,
    /// The types of variables that are written out, of which nothing is to be found.
    declared: FxHashMap<VariableId, Type>,
    /// What `return` gives, the innermost function or closure last.
    returns: Vec<TermId>,
    /// What `break` leaves, the innermost last.
    exits: Vec<Exit>,
}

impl<'p> Inference<'p> {
    fn new(facts: &'p Facts<'p>, generics: &'p [String], bounds: &'p [Type]) -> Self {
        Inference {
            program: facts.program,
            ambiguous: &facts.ambiguous,
            traits_for_numbers: facts.traits_for_numbers,
            generics,
            bounds,
            terms: Terms::default(),
            questions: Vec::new(),
            variables: Vec::new(),
            declared: FxHashMap::default(),
            returns: Vec::new(),
            exits: Vec::new(),
        }
    }

    /// Looks at a whole body and fills in its types.
    fn run(&mut self, body: &mut Expression, result: TermId) {
        self.body(body, result);
        self.conclude();
        fill::expression(body, self);
    }

    /// The type of a variable is written out.
    fn declare_variable(&mut self, variable: VariableId, ty: &Type) {
        if self.is_complete(ty) {
            self.declared.insert(variable, ty.clone());
        }
    }

    /// A variable's term. One whose type is written out has a new one at each use, so that nothing
    /// that is misread elsewhere can touch it.
    fn variable(&mut self, variable: VariableId) -> TermId {
        if let Some(ty) = self.declared.get(&variable).cloned() {
            return self.written(&ty, &[]);
        }
        let number = variable.0 as usize;
        while self.variables.len() <= number {
            let term = self.terms.open(Kind::Any);
            self.variables.push(term);
        }
        self.variables[number]
    }

    fn types_of_variables(&mut self, count: usize) -> Vec<Type> {
        let count = u32::try_from(count).expect("variables are numbered by u32");
        (0..count)
            .map(|number| {
                let term = self.variable(VariableId(number));
                self.terms.resolve(term)
            })
            .collect()
    }
}
