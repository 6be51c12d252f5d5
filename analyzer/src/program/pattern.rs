//! What a value is taken apart with.

use super::{DefinitionId, Expression, VariableId};

/// A pattern.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `_`: binds nothing, and a value that is matched with it alone is dropped at once.
    Wildcard,
    /// A variable, with what the value must be besides.
    Variable(VariableId, Option<Box<Pattern>>),
    /// A value, or a constant.
    Value(Box<Expression>),
    /// A range of values, its ends where it has them, and whether the last one belongs to it.
    Range(Option<Box<Expression>>, Option<Box<Expression>>, bool),
    /// A tuple; `Rest` may stand in it once.
    Tuple(Vec<Pattern>),
    /// An array or a slice; `Rest` may stand in it once, also as a variable's pattern.
    Slice(Vec<Pattern>),
    /// `..`
    Rest,
    /// A struct, or a variant of an enum of the program.
    Defined {
        /// The struct or enum.
        definition: DefinitionId,
        /// Which variant; 0 for a struct.
        variant: u32,
        /// The fields; those that are not named may be anything.
        fields: Vec<FieldPattern>,
    },
    /// A variant of a library's enum by its last name: `Some`, `None`, `Ok`, `Err`; or another
    /// struct or variant that only a library knows.
    External(String, Vec<Pattern>),
    /// Behind a reference.
    Reference(Box<Pattern>),
    /// One of these.
    Or(Vec<Pattern>),
    /// Cannot be read; it may match or not.
    Unknown,
}

/// A field of a struct in a pattern.
#[derive(Clone, Debug)]
pub struct FieldPattern {
    /// The field.
    pub name: String,
    /// What its value must be.
    pub pattern: Pattern,
}
