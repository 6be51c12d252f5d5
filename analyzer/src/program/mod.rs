//! The small imperative language that front ends lower to: functions, variables, branches, loops,
//! calls. Rust and C end up in the same [`Program`], with names resolved and types filled in where
//! they are known.
//!
//! Nothing is decided here: what a program does is for [`crate::evaluate`] to find out, and what is
//! wrong with it for `p2p_protocol`. What a front end could not read stands in the tree as
//! [`Kind::Unknown`] with its reason, so that it is counted and never guessed at.

mod expression;
mod layout;
mod methods;
mod pattern;
#[cfg(test)]
pub(crate) mod render;
mod types;
mod visit;

pub use expression::{
    Arm, Binary, Block, Closure, Condition, Expression, Kind, Literal, Statement, Unary,
};
pub use methods::Methods;
pub use p2p_protocol::model::{Dialect, Place};
pub use pattern::{FieldPattern, Pattern};
pub use types::{Scalar, Type};

use rustc_hash::FxHashSet;

use crate::source::Location;

/// A function: an index into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A constant or a static variable: an index into [`Program::globals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// A struct or an enum: an index into [`Program::definitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionId(pub u32);

/// A variable of one function, its closures' included: an index into [`Function::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// Everything that one target of a package can run.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The language that it is written in, which says what an assignment does to what it takes,
    /// what happens at a block's end, and in what words is spoken of it.
    pub dialect: Dialect,
    /// Some of it is C++, whose constructors and destructors are not followed.
    pub has_classes: bool,
    /// The functions and methods.
    pub functions: Vec<Function>,
    /// Constants and static variables.
    pub globals: Vec<Global>,
    /// Structs and enums.
    pub definitions: Vec<Definition>,
    /// The methods of its types and traits.
    pub methods: Methods,
    /// The names of its own traits.
    pub traits: FxHashSet<String>,
    /// Where a run may start.
    pub entries: Vec<Entry>,
    /// What [`Place`]s stand for.
    pub places: Vec<Location>,
    /// Every call in the text that looks like communication, for coverage.
    pub calls: Vec<CallSite>,
}

/// Where a run may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The function.
    pub function: FunctionId,
    /// What it is called in reports: `main`, `tests::ring`, `exchange`.
    pub name: String,
    /// Why a run may start here.
    pub kind: EntryKind,
    /// Its parameters that are known, by their names.
    pub given: Vec<(String, i64)>,
}

/// Why a run may start at a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// It is the `main` of a program.
    Main,
    /// It is a test.
    Test,
    /// It is public in a library and takes a communicator.
    Public,
    /// It says that it does what a role of a protocol does: the protocol's and the role's name.
    Role(String, String),
}

/// A call in the text that communicates, or looks as if it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The whole call.
    pub place: Place,
    /// The method or function: `send_with_tag`.
    pub name: String,
    /// It surely communicates; otherwise it only does if evaluation meets something of MPI there
    /// (`x.wait()` on what nobody knows).
    pub is_certain: bool,
}

/// A function, a method, or an associated function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its path: `ring::exchange`, `Solver::step`.
    pub name: String,
    /// Where its name stands.
    pub place: Place,
    /// The names of its generic parameters (of its `impl` first), which [`Type::Parameter`] names.
    pub generics: Vec<String>,
    /// What the generic parameters must be, in the same order, as far as that is written:
    /// [`Type::Trait`], or [`Type::Function`] for what can be called. May be shorter.
    pub bounds: Vec<Type>,
    /// The parameters; `self` is the first one of a method.
    pub parameters: Vec<Parameter>,
    /// Whether the first parameter is `self`.
    pub is_method: bool,
    /// What it returns.
    pub result: Type,
    /// Its variables, parameters included.
    pub variables: Vec<Variable>,
    /// What it does; `None` for one without a body.
    pub body: Option<Expression>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// What it binds.
    pub pattern: Pattern,
    /// Its type. `impl Trait` and `dyn Trait` are [`Type::Trait`].
    pub ty: Type,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// Its type as far as it is known.
    pub ty: Type,
}

/// A constant or a static variable, or an associated constant.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its path.
    pub name: String,
    /// Where its name stands.
    pub place: Place,
    /// Its type.
    pub ty: Type,
    /// Its value; evaluated where it is used. Its variables are numbered on their own.
    pub value: Option<Expression>,
    /// Whether it can change: a `static mut`, or one with interior mutability.
    pub is_mutable: bool,
}

/// A struct or an enum; a struct is an enum with one variant of its own name.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its path.
    pub name: String,
    /// Whether it is an enum.
    pub is_enum: bool,
    /// The names of its generic parameters.
    pub generics: Vec<String>,
    /// Its variants; one for a struct.
    pub variants: Vec<Variant>,
    /// Derives and implemented traits by their last name: `Equivalence`, `Clone`, `Parser`.
    pub traits: Vec<String>,
}

/// A variant of an enum, or the fields of a struct.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The fields, named `0`, `1`, .. where they have no names.
    pub fields: Vec<(String, Type)>,
    /// The number that stands for it, where it is written or can be counted.
    pub discriminant: Option<i128>,
}

impl Function {
    /// What a parameter is called, where it is a variable.
    pub fn name_of(&self, parameter: &Parameter) -> Option<&str> {
        match parameter.pattern {
            Pattern::Variable(variable, None) => {
                self.variables.get(variable.0 as usize).map(|variable| variable.name.as_str())
            }
            _ => None,
        }
    }
}

impl Program {
    /// The function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The constant or static variable.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.0 as usize]
    }

    /// The struct or enum.
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0 as usize]
    }

    /// Where a place is.
    pub fn location(&self, place: Place) -> &Location {
        &self.places[place.0 as usize]
    }
}
