//! The protocol language as a tree: what was written, and where.
//!
//! Nothing is judged or evaluated here. The macro generates code from this tree and the evaluation
//! makes worlds from it.

use std::{fmt, ops};

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;

use crate::model::{CollectiveKind, Mode, Place};

/// A name of a value, a source, a request or a set, and the declaration that it refers to.
///
/// It can be used as its identifier, in `quote!` too.
#[derive(Clone, Debug)]
pub struct Name {
    /// As written here.
    pub ident: Ident,
    /// The declaration: alike for every use of one declaration, different for two declarations of
    /// one role. Constants, grid extents and parameters, which all roles share, come
    /// first; a parameter is one declaration, whichever roles name it.
    pub id: u32,
}

impl ops::Deref for Name {
    type Target = Ident;

    fn deref(&self) -> &Ident {
        &self.ident
    }
}

impl ToTokens for Name {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.ident.to_tokens(tokens);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ident.fmt(f)
    }
}

/// A whole `#[p2p_protocol]` module.
pub struct Protocol {
    /// The module's name.
    pub name: Ident,
    /// The module's visibility and outer attributes (documentation), as written.
    pub visibility: syn::Visibility,
    /// The module's outer attributes, `#[p2p_protocol]` itself not among them.
    pub attributes: Vec<syn::Attribute>,
    /// The sizes that the protocol is for.
    pub sizes: Sizes,
    /// The grid's extents' names or values, for a protocol on a grid: rank = x * Q + y, as
    /// `MPI_Cart_create` numbers a two-dimensional grid.
    pub grid: Option<Grid>,
    /// What parameters must fulfil, from `require(..)`.
    pub requirements: Vec<Requirement>,
    /// Rules whose findings are not errors here, from `allow(..)`, in kebab-case.
    pub allowed: Vec<(String, Span)>,
    /// The messages, in the order written.
    pub messages: Vec<Message>,
    /// The communicators that messages name, besides the protocol's own (index 0).
    pub communicators: Vec<Ident>,
    /// `const NAME: usize = ..;` items.
    pub constants: Vec<Constant>,
    /// The parameters of all roles, each once, in the order of their first appearance.
    pub parameters: Vec<Parameter>,
    /// The roles, in the order written.
    pub roles: Vec<Role>,
    /// Everything else in the module, which passes through as it is: `use`, helper structs.
    pub items: Vec<syn::Item>,
    /// The names of decisions, each once.
    pub labels: Vec<Ident>,
    /// The source span of each place that statements refer to. A compiler that cannot join spans
    /// has the first token's here.
    pub places: Vec<Span>,
    /// The span of the last token of each place, so that a compiler's error can underline all of
    /// it: from the one to the other.
    pub ends: Vec<Span>,
}

/// For which sizes a protocol is: a range and conditions on it.
pub struct Sizes {
    /// The pattern, over the size.
    pub pattern: Pattern,
    /// Where it is written; the first token's span, where the compiler cannot join spans.
    pub span: Span,
    /// The span of its last token.
    pub end: Span,
}

/// A condition on parameters, the size and constants, without which the protocol is not begun.
pub struct Requirement {
    /// The condition.
    pub condition: Expression,
    /// As written, in one line.
    pub text: String,
}

/// A two-dimensional grid of ranks.
pub struct Grid {
    /// The extent in x: a name, bound to a divisor of the size, or a literal.
    pub rows: Extent,
    /// The extent in y.
    pub columns: Extent,
}

impl Grid {
    /// Whether both extents bear one name, so that only squares are meant.
    pub fn is_square(&self) -> bool {
        matches!((&self.rows, &self.columns), (Extent::Named(one), Extent::Named(other))
            if one.id == other.id)
    }
}

/// One extent of a grid.
#[derive(Clone)]
pub enum Extent {
    /// Any divisor that fits, under this name in expressions.
    Named(Name),
    /// This many.
    Fixed(u32),
}

/// Which ranks (or sizes, or grid coordinates) are meant.
pub enum Pattern {
    /// `_`
    All,
    /// An expression in `size`, such as `0` or `size - 1`.
    Value(Expression),
    /// `a..b`, `a..`, `..b`, `a..=b`.
    Range {
        /// The first, 0 if absent.
        start: Option<Expression>,
        /// The end, the size if absent.
        end: Option<Expression>,
        /// Whether the end belongs to it.
        inclusive: bool,
    },
    /// `p | q`
    Or(Vec<Pattern>),
    /// A name bound to the rank, as in `r if ..`.
    Binding(Name),
    /// `(x, y)`: the coordinates on the grid; each a binding, a value, or a range.
    Pair(Box<Pattern>, Box<Pattern>),
    /// `pattern if condition`
    Guarded(Box<Pattern>, Expression),
}

/// A message type: `#[message(tag = 0)] type Block = [f32];` or a struct.
pub struct Message {
    /// Its name, which is also its type alias in the generated module.
    pub name: Ident,
    /// Its documentation and other attributes, `#[message]` not among them.
    pub attributes: Vec<syn::Attribute>,
    /// Its visibility, as written.
    pub visibility: syn::Visibility,
    /// Its tag: given, or numbered per protocol in order, skipping those given.
    pub tag: i32,
    /// Its communicator: 0 is the protocol's own, `n` is `Protocol::communicators[n - 1]`.
    pub communicator: u16,
    /// `count = EXPR`, in parameters, rank and size: a slice's length.
    pub count: Option<Expression>,
    /// What it carries.
    pub payload: Payload,
    /// The element type's text, as written.
    pub signature: String,
    /// An array's length, where it is written in the language's expressions.
    pub length: Option<Expression>,
    /// Where it is declared.
    pub place: Place,
}

/// What a message carries.
pub enum Payload {
    /// One value of a plain type.
    Scalar(Box<syn::Type>),
    /// `[T]`: a length known only when it is sent, unless `count` says it.
    Slice(Box<syn::Type>),
    /// `[T; K]`
    Array(Box<syn::Type>, Box<syn::Expr>),
    /// A struct declared with `#[message]` itself.
    Struct(Box<syn::ItemStruct>),
}

/// `const ROOT: usize = 0;`
pub struct Constant {
    /// Its name.
    pub name: Name,
    /// The item as written; it passes through.
    pub item: syn::ItemConst,
    /// Its value as an expression of the language.
    pub value: Expression,
}

/// `#[rank(PATTERN)] fn name(parameters) { body }`
pub struct Role {
    /// The function's name in snake case; `Role::Name` in the generated code.
    pub name: Ident,
    /// Its documentation.
    pub attributes: Vec<syn::Attribute>,
    /// The ranks that play it.
    pub pattern: Pattern,
    /// Its run-time parameters, all integers.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Block,
    /// Where it is declared.
    pub place: Place,
    /// How many declarations its names refer to, those that all roles share included: every
    /// [`Name::id`] in it is below.
    pub names: u32,
}

/// A run-time parameter of a role. Roles that name the same parameter mean the same value.
pub struct Parameter {
    /// Its name.
    pub name: Name,
    /// Its type, an unsigned or signed integer type.
    pub ty: syn::Type,
}

/// Statements between braces.
#[derive(Default)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
}

/// One statement of a role.
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it stands: an index into [`Protocol::places`].
    pub place: Place,
    /// Its text as written, in one line: "send(dest, Block)". For a block statement its head:
    /// "for dest in 1..size".
    pub text: String,
}

/// The statements of the language.
pub enum StatementKind {
    /// `send(peer, M)`, `ssend`, `bsend`, `rsend`.
    Send(Mode, Expression, MessageName),
    /// `recv(peer, M)`, `let from = recv(any(a..b), M)`.
    Receive(From, MessageName, Option<Name>),
    /// `sendrecv(dest, M, source, N)`.
    SendReceive {
        /// To whom.
        destination: Expression,
        /// What.
        sent: MessageName,
        /// From whom.
        source: From,
        /// What.
        received: MessageName,
    },
    /// `let name = isend(peer, M)`, `set.push(isend(peer, M))`.
    StartSend(Mode, Expression, MessageName, RequestTarget),
    /// `let name = irecv(peer, M)`, `set.push(irecv(peer, M))`.
    StartReceive(From, MessageName, RequestTarget),
    /// `let name = send_init(peer, M)`.
    PlanSend(Expression, MessageName, Name),
    /// `let name = recv_init(peer, M)`.
    PlanReceive(From, MessageName, Name),
    /// `start(name)`.
    Start(Name),
    /// `let set = requests();`: an empty set, for requests started in a loop or under an `if`.
    RequestSet(Name),
    /// `wait(name)`.
    Wait(Name),
    /// `wait_all(a, b)` or `wait_all(set)`.
    WaitAll(Vec<Name>),
    /// `wait_any(set);`: one of a set, whichever.
    WaitAnyOf(Name),
    /// `match wait_any(a, b) { a => {..} b => {..} }`: the arm of the one that completed.
    WaitAny(Vec<(Name, Block)>),
    /// `if test(name) {..} else {..}`: the first block once it is complete.
    Test(Name, Block, Block),
    /// `probe(peer, M)`, `let from = probe(any(a..b), M)`.
    Probe(From, MessageName, Option<Name>),
    /// `barrier()`, `bcast(root, M)`, `all_reduce(M)`, `fence()`, ...
    Collective(CollectiveKind, Option<Expression>, Option<MessageName>),
    /// `put(peer, M)`.
    Put(Expression, MessageName),
    /// `get(peer, M)`.
    Get(Expression, MessageName),
    /// `for v in a..b`, with `.rev()` and `.step_by(k)`.
    For {
        /// Its label, for `break` and `continue`.
        label: Option<syn::Lifetime>,
        /// The loop variable.
        variable: Name,
        /// What it runs over.
        range: Range,
        /// What is repeated.
        body: Block,
    },
    /// `if condition {..} else {..}`.
    If(Expression, Block, Block),
    /// `loop {..}`.
    Loop(Option<syn::Lifetime>, Block),
    /// `break`, `break 'label`.
    Break(Option<syn::Lifetime>),
    /// `continue`, `continue 'label`.
    Continue(Option<syn::Lifetime>),
    /// `match choose(peers) { Label => {..} }`: decides and tells the peers.
    Choose(Peers, Vec<DecisionArm>),
    /// `match offer(peer) { Label => {..} }`: learns what the peer decided.
    Offer(Expression, Vec<DecisionArm>),
}

/// A message named in an operation.
pub struct MessageName {
    /// As written there.
    pub name: Ident,
    /// Its position in [`Protocol::messages`].
    pub index: usize,
}

/// Where a request goes.
pub enum RequestTarget {
    /// `let name = ..`
    Named(Name),
    /// `set.push(..)`
    Set(Name),
}

/// From whom a receive takes.
pub enum From {
    /// One rank.
    Peer(Expression),
    /// `any(a..b)`: whoever comes first.
    Any {
        /// The first accepted.
        start: Expression,
        /// One past the last accepted.
        end: Expression,
    },
}

/// Whom a decision is told.
pub enum Peers {
    /// One rank.
    One(Expression),
    /// `a..b`, this rank itself left out.
    Range(Expression, Expression),
    /// Several, as an array: `[left, right]`.
    Several(Vec<Expression>),
    /// `choose()`: nobody needs to know.
    Nobody,
}

/// `Label => {..}`
pub struct DecisionArm {
    /// The decision's name, in camel case.
    pub label: Ident,
    /// Its position in [`Protocol::labels`].
    pub index: usize,
    /// What follows it.
    pub body: Block,
}

/// `a..b`, `a..=b`, with `.rev()` and `.step_by(k)`.
pub struct Range {
    /// Where it starts.
    pub start: Expression,
    /// Where it ends.
    pub end: Expression,
    /// Whether the end belongs to it.
    pub inclusive: bool,
    /// From the end to the start.
    pub reversed: bool,
    /// The stride, at least 1.
    pub step: Option<Expression>,
    /// Whether the stride is counted from the end, as in `.rev().step_by(k)`.
    pub step_from_end: bool,
}

/// An integer or a condition in `rank`, `size`, loop variables, parameters and constants.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where; the first token's span, where the compiler cannot join spans.
    pub span: Span,
    /// The span of its last token.
    pub end: Span,
}

/// The expressions of the language. All integers are `i64` when checked and when run; `/` and
/// `%` are Rust's, and an overflow or a division by zero is an error with a place.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A literal.
    Integer(i64),
    /// `true` or `false`.
    Boolean(bool),
    /// `rank`
    Rank,
    /// `size`
    Size,
    /// A loop variable, a parameter, a constant, a grid name, a bound rank, or a source bound by
    /// `let from = recv(any(..), M)` (which may only stand alone, as a peer).
    Variable(Name),
    /// `(x, y)`: the rank at these coordinates of the grid.
    Pair(Box<Expression>, Box<Expression>),
    /// `!c`, `-e`
    Unary(UnaryOperator, Box<Expression>),
    /// `a + b`, ...
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `a.min(b)`, `a.pow(b)`, `a.ilog2()`, `a.is_power_of_two()`, ...
    Method(Method, Box<Expression>, Option<Box<Expression>>),
    /// `if c { a } else { b }`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is Rust's operator")]
pub enum UnaryOperator {
    Not,
    Negate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is Rust's operator")]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Xor,
    And,
    Or,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    LogicalAnd,
    LogicalOr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is Rust's integer method")]
pub enum Method {
    Min,
    Max,
    Pow,
    AbsDiff,
    Ilog2,
    IsPowerOfTwo,
}
