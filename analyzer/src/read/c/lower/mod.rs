//! From trees to the program: declarations, statements and expressions, with every name resolved and
//! every conversion written out.
//!
//! What cannot be read becomes [`Kind::Unknown`] with its reason, or, where it may communicate or go
//! on elsewhere, a call of `c::lost`. Every expression has its type, as far as it is declared.

mod ambiguity;
mod assign;
mod bit_fields;
mod call;
mod constant;
mod convert;
mod counting;
mod cpp;
mod expression;
mod initialiser;
mod jumps;
mod literal;
mod loops;
mod operator;
mod scan;
mod statement;
mod switch;
mod unread;
mod vector;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::declare::Pending;
use super::parse::Unit;
use super::scope::{Named, Scope, Scopes};
use crate::program::{
    DefinitionId, Dialect, Expression, FunctionId, GlobalId, Kind, Literal, Place, Program, Scalar,
    Statement, Type, Variable, VariableId,
};
use loops::Around;
use scan::Mentioned;

/// Nodes in nodes that are followed: what is deeper has been written to overflow a stack.
const DEPTH: u32 = 1_000;

/// A program while it is put together.
pub(super) struct Lowering<'u> {
    pub(super) program: Program,
    /// The file that is being read, and its number among the units.
    pub(super) unit: &'u Unit,
    pub(super) number: usize,
    pub(super) scopes: Scopes<'u>,
    /// The functions and variables that all files see.
    pub(super) externs: FxHashMap<&'u str, Named>,
    /// The functions that each file defines for itself.
    pub(super) statics: FxHashMap<(usize, &'u str), FunctionId>,
    /// Functions of which nobody knows which definition is meant, and why.
    pub(super) unclear: FxHashMap<&'u str, &'u str>,
    /// Which parameters of a function of C++ are references.
    aliases: FxHashMap<FunctionId, Vec<bool>>,
    /// What is not read and may communicate: functions, methods and classes, by name.
    pub(super) unread: Names<'u>,
    /// Structs that files declare, by their tags.
    pub(super) structures: FxHashMap<&'u str, Vec<DefinitionId>>,
    /// How wide bit-fields are.
    widths: bit_fields::Widths<'u>,
    pub(super) function: FunctionState<'u>,
    depth: u32,
}

/// A function while it is read.
#[derive(Default)]
pub(super) struct FunctionState<'u> {
    pub(super) name: String,
    pub(super) variables: Vec<Variable>,
    pub(super) result: Type,
    /// The loops and switches around.
    around: Vec<Around>,
    /// How many labels were made up.
    labels: u32,
    /// Where a `goto` leads, for the labels that one can go to here.
    targets: FxHashMap<&'u str, jumps::Target>,
    /// What the function does with its variables.
    mentioned: Mentioned<'u>,
    /// The lengths of the arrays that a variable is or points to, where they are no constants.
    lengths: FxHashMap<VariableId, Vec<Option<Node<'u>>>>,
}

/// The program of these files, the first of which has `main`, or else the functions that are called
/// from outside. `unclear`: functions that several files define and of which nobody knows which one
/// is meant, with the reason.
pub(in crate::read) fn program(units: &[&Unit], unclear: &[(String, String)]) -> Program {
    let Some(first) = units.first() else {
        return Program { dialect: Dialect::C, ..Program::default() };
    };
    let mut lowering = Lowering {
        program: Program { dialect: Dialect::C, ..Program::default() },
        unit: first,
        number: 0,
        scopes: Scopes::default(),
        externs: FxHashMap::default(),
        statics: FxHashMap::default(),
        unclear: unclear.iter().map(|(name, why)| (name.as_str(), why.as_str())).collect(),
        aliases: FxHashMap::default(),
        unread: Names::default(),
        structures: FxHashMap::default(),
        widths: FxHashMap::default(),
        function: FunctionState::default(),
        depth: 0,
    };
    let mut pending: Vec<Vec<Pending<'_>>> = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        lowering.begin(number, unit, Scope::default());
        pending.push(lowering.functions_of_unit());
    }
    let mut scopes = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        lowering.begin(number, unit, Scope::default());
        lowering.declare_unit(&mut pending[number]);
        scopes.push(std::mem::take(&mut lowering.scopes).into_file());
    }
    for (number, (scope, pending)) in scopes.into_iter().zip(&pending).enumerate() {
        lowering.begin(number, units[number], scope);
        pending.iter().for_each(|function| lowering.body(function));
    }
    lowering.find_entries(&pending[0]);
    lowering.program.has_classes = units.iter().any(|unit| unit.is_cpp());
    lowering.program
}

impl<'u> Lowering<'u> {
    fn begin(&mut self, number: usize, unit: &'u Unit, scope: Scope<'u>) {
        (self.number, self.unit) = (number, unit);
        self.scopes = Scopes::of_file(scope);
    }

    /// What a node says.
    pub(super) fn text(&self, node: Node<'u>) -> &'u str {
        self.unit.text().get(node.byte_range()).unwrap_or("")
    }

    // ---- places

    /// A place of its own for a node.
    pub(super) fn place(&mut self, node: Node<'u>) -> Place {
        let location = self.unit.expanded.origins.locate(node.byte_range());
        self.program.places.push(location);
        Place(u32::try_from(self.program.places.len() - 1).unwrap_or(u32::MAX))
    }

    /// One more place where another one is.
    fn again(&mut self, place: Place) -> Place {
        let location = self.program.location(place).clone();
        self.program.places.push(location);
        Place(u32::try_from(self.program.places.len() - 1).unwrap_or(u32::MAX))
    }

    // ---- expressions

    fn make(&mut self, kind: Kind, ty: Type, node: Node<'u>) -> Expression {
        let place = self.place(node);
        Expression { kind, place, ty }
    }

    fn unknown(&mut self, why: impl Into<String>, node: Node<'u>) -> Expression {
        self.make(Kind::Unknown(why.into()), Type::Unknown, node)
    }

    /// From here on nothing is known.
    fn lost(&mut self, why: &str, node: Node<'u>) -> Expression {
        self.note_calls(node);
        let place = self.place(node);
        let reason =
            Expression { kind: Kind::Literal(Literal::Text(why.into())), place, ty: Type::Text };
        self.call_of_c("lost", vec![reason], Type::Unknown, place)
    }

    /// A call of what only this language means: `c::offset`.
    fn call_of_c(
        &mut self,
        name: &str,
        arguments: Vec<Expression>,
        ty: Type,
        place: Place,
    ) -> Expression {
        let callee = of_c(name, Type::Unknown, place);
        Expression { kind: Kind::Call(Box::new(callee), arguments), place, ty }
    }

    fn variable(&self, variable: VariableId, place: Place) -> Expression {
        let ty = self.function.variables.get(variable.0 as usize).map(|it| it.ty.clone());
        Expression { kind: Kind::Variable(variable), place, ty: ty.unwrap_or_default() }
    }

    fn global(&self, global: GlobalId, place: Place) -> Expression {
        let ty = self.program.global(global).ty.clone();
        Expression { kind: Kind::Global(global), place, ty }
    }

    // ---- variables

    /// A new variable of this name, visible from here on.
    pub(super) fn bind(&mut self, name: &'u str, ty: Type) -> VariableId {
        let variable = self.hidden(name, ty);
        self.scopes.bind(name, Named::Variable(variable));
        variable
    }

    /// A new variable that no name leads to.
    fn hidden(&mut self, name: &str, ty: Type) -> VariableId {
        let variable = VariableId(u32::try_from(self.function.variables.len()).unwrap_or(u32::MAX));
        self.function.variables.push(Variable { name: name.to_owned(), ty });
        variable
    }

    /// A label that nobody has written.
    fn new_label(&mut self, what: &str) -> String {
        self.function.labels += 1;
        format!("{what} {}", self.function.labels)
    }

    // ---- functions

    /// Reads a function's body.
    fn body(&mut self, pending: &Pending<'u>) {
        self.scopes.open();
        let result = self.program.function(pending.id).result.clone();
        self.function = FunctionState {
            name: self.program.function(pending.id).name.clone(),
            result,
            mentioned: self.mentioned_in(pending.body),
            ..FunctionState::default()
        };
        let parameters = self.bind_parameters(pending.parameters);
        let mut body = self.block(pending.body);
        if pending.name == "main" {
            self.end_of_main(&mut body, pending.body);
        }
        self.scopes.close();
        let FunctionState { variables, .. } = std::mem::take(&mut self.function);
        let function = &mut self.program.functions[pending.id.0 as usize];
        function.parameters = parameters;
        function.variables = variables;
        function.body = Some(body);
    }

    /// `main` gives 0 back where it comes to its end. A `return` there is that end: the program has
    /// not given up.
    fn end_of_main(&mut self, body: &mut Expression, node: Node<'u>) {
        let Kind::Block(block) = &mut body.kind else { return };
        if block.value.is_some() {
            return;
        }
        if let Some(Statement::Expression(last)) = block.statements.last_mut()
            && let Kind::Return(value @ Some(_)) = &mut last.kind
        {
            block.value = value.take();
            block.statements.pop();
        } else {
            block.value = Some(Box::new(self.integer(0, Scalar::I32, node)));
        }
    }

    /// Does something one level deeper; what is too deep is not read.
    fn deeper(
        &mut self,
        node: Node<'u>,
        read: impl FnOnce(&mut Self, Node<'u>) -> Expression,
    ) -> Expression {
        if self.depth >= DEPTH {
            return self.lost("this is nested too deeply to be read", node);
        }
        self.depth += 1;
        let expression = read(self, node);
        self.depth -= 1;
        expression
    }
}

/// What only this language means, as a value: `c::null`.
fn of_c(name: &str, ty: Type, place: Place) -> Expression {
    let path = ["c".to_owned(), name.to_owned()];
    Expression { kind: Kind::External(path.into(), Vec::new()), place, ty }
}

/// Whether an expression is `c::name`.
fn is_of_c(expression: &Expression, name: &str) -> bool {
    matches!(&expression.kind, Kind::External(path, _)
        if matches!(&path[..], [c, own] if c == "c" && own == name))
}

/// The names of a set.
pub(super) type Names<'u> = FxHashSet<&'u str>;
