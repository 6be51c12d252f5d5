//! What a function does: an expression, in which everything else stands.

use std::sync::Arc;

use super::{DefinitionId, FunctionId, GlobalId, Pattern, Place, Type, VariableId};

/// An expression with its place and its type.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub place: Place,
    /// Its type, as far as inference can tell.
    pub ty: Type,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A value that is written down.
    Literal(Literal),
    /// A variable.
    Variable(VariableId),
    /// A constant or a static variable.
    Global(GlobalId),
    /// A function of the program, with its turbofish.
    Function(FunctionId, Vec<Type>),
    /// A function, constant or type of a library: its path, as far as `use` tells it, such as
    /// `mpi::request::scope` or `Vec::new`, and the generic arguments of its last two segments.
    /// Also `T::method` of a generic parameter.
    External(Arc<[String]>, Vec<Type>),
    /// A tuple; the empty one is the unit.
    Tuple(Vec<Expression>),
    /// An array, element by element. `vec![a, b]` is a call of `vec` with one of these.
    Array(Vec<Expression>),
    /// An array of equal elements: the element and how many.
    Repeat(Box<Expression>, Box<Expression>),
    /// A struct, or a variant of an enum, field by field.
    Construct {
        /// The struct or enum.
        definition: DefinitionId,
        /// Which variant; 0 for a struct.
        variant: u32,
        /// The fields that are named.
        fields: Vec<(String, Expression)>,
        /// What the others are taken from.
        rest: Option<Box<Expression>>,
    },
    /// An operation on one value.
    Unary(Unary, Box<Expression>),
    /// An operation on two values; `&&` and `||` may leave the second one out.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `target = value`
    Assign(Box<Expression>, Box<Expression>),
    /// `target += value`
    AssignWith(Binary, Box<Expression>, Box<Expression>),
    /// `value as Type`
    Cast(Box<Expression>, Type),
    /// `&value`, `&mut value`, `&raw`
    Reference {
        /// Of what.
        of: Box<Expression>,
        /// Whether it may be written through.
        mutable: bool,
    },
    /// `*value`
    Dereference(Box<Expression>),
    /// A field; tuples' are called `0`, `1`, ..
    Field(Box<Expression>, String),
    /// An element, or, where the index is a range, a slice.
    Index(Box<Expression>, Box<Expression>),
    /// `start..end`, `start..=end`
    Range {
        /// Where it starts.
        start: Option<Box<Expression>>,
        /// Where it ends.
        end: Option<Box<Expression>>,
        /// Whether the end belongs to it.
        inclusive: bool,
    },
    /// A call of a function, a closure, a variant.
    Call(Box<Expression>, Vec<Expression>),
    /// A method call: what it is called on, its name, its turbofish, its arguments.
    Method {
        /// On what.
        receiver: Box<Expression>,
        /// The method.
        name: String,
        /// The types in its turbofish.
        generics: Vec<Type>,
        /// The arguments.
        arguments: Vec<Expression>,
    },
    /// A macro that is known by name, with its arguments as expressions: `println`, `format`,
    /// `panic`, `assert`, `assert_eq`, `vec`, `matches` (as an `If` over a `Condition::Let`
    /// where it can be). Formats are a literal, and their inline arguments follow like others.
    Macro(String, Vec<Expression>),
    /// A closure.
    Closure(Arc<Closure>),
    /// Statements, and the value of the last one if it has no semicolon.
    Block(Block),
    /// A branch.
    If {
        /// What decides.
        condition: Box<Condition>,
        /// If it holds.
        then: Box<Expression>,
        /// If it does not.
        otherwise: Option<Box<Expression>>,
    },
    /// A branch by patterns.
    Match(Box<Expression>, Vec<Arm>),
    /// An endless loop, with its label.
    Loop(Option<String>, Box<Expression>),
    /// A loop while something holds.
    While(Option<String>, Box<Condition>, Box<Expression>),
    /// A loop over an iterator.
    For {
        /// Its label.
        label: Option<String>,
        /// What each element is taken apart with.
        pattern: Pattern,
        /// The elements.
        over: Box<Expression>,
        /// What is done with each.
        body: Box<Expression>,
    },
    /// Leaves a loop or a labelled block, with a value.
    Break(Option<String>, Option<Box<Expression>>),
    /// Goes on with a loop's next turn.
    Continue(Option<String>),
    /// Leaves the function or the closure.
    Return(Option<Box<Expression>>),
    /// `value?`
    Try(Box<Expression>),
    /// What could not be read, and why.
    Unknown(String),
}

/// A condition: expressions, and patterns that must match.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Must be true.
    Holds(Expression),
    /// `let pattern = value`
    Let(Pattern, Expression),
    /// Both must hold, the first one first.
    And(Box<Condition>, Box<Condition>),
}

/// A value that is written down.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A whole number. Its type is the expression's.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A character.
    Char(char),
    /// Text.
    Text(Arc<str>),
    /// Bytes: `b"..."`.
    Bytes(Arc<[u8]>),
}

/// An operation on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Unary {
    Negate,
    Not,
}

/// An operation on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Statements in a scope of their own.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The label that `break` may name.
    pub label: Option<String>,
    /// The statements, in order.
    pub statements: Vec<Statement>,
    /// The value, if the last statement has no semicolon.
    pub value: Option<Box<Expression>>,
    /// Where it closes: its variables are dropped there, in reverse order.
    pub end: Place,
}

/// A statement.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "most statements of a body are of the large kind")]
pub enum Statement {
    /// `let pattern: ty = value else { otherwise }`
    Let {
        /// What it binds.
        pattern: Pattern,
        /// The type that is written there.
        ty: Type,
        /// The value.
        value: Option<Expression>,
        /// What is done if the pattern does not match; never goes on.
        otherwise: Option<Expression>,
    },
    /// An expression whose value is dropped at its end.
    Expression(Expression),
}

/// An arm of a match.
#[derive(Clone, Debug)]
pub struct Arm {
    /// What the value must be.
    pub pattern: Pattern,
    /// What must hold besides.
    pub guard: Option<Condition>,
    /// What is done.
    pub body: Expression,
}

/// A closure. Its variables are those of the function around it.
#[derive(Clone, Debug)]
pub struct Closure {
    /// The parameters, with their types as far as they are known.
    pub parameters: Vec<(Pattern, Type)>,
    /// What it does.
    pub body: Expression,
    /// Whether it takes what it uses.
    pub moves: bool,
}
