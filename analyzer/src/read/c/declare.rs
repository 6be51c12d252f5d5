//! What files declare: functions, variables, types, and where a run may start.

use tree_sitter::Node;

use super::lower::Lowering;
use super::parse::children;
use super::scope::Named;
use crate::program::{
    Entry, EntryKind, Function, FunctionId, Global, GlobalId, Parameter, Pattern, Place, Type,
    VariableId,
};

/// A function whose body is read once all files have declared what they have.
pub(super) struct Pending<'u> {
    pub(super) id: FunctionId,
    pub(super) name: &'u str,
    pub(super) parameters: Option<Node<'u>>,
    pub(super) body: Node<'u>,
    is_static: bool,
    node: Node<'u>,
}

impl<'u> Lowering<'u> {
    /// The functions that the unit defines, by name: others may use them before they are seen.
    pub(super) fn functions_of_unit(&mut self) -> Vec<Pending<'u>> {
        let mut pending = Vec::new();
        for node in self.file_items() {
            if node.kind() != "function_definition" {
                continue;
            }
            let Some(body) = node.child_by_field_name("body") else { continue };
            let Some(declarator) = node.child_by_field_name("declarator") else { continue };
            let Some((name, parameters)) = function_named(declarator) else { continue };
            let place = self.place(name);
            let name = self.text(name);
            let id = self.add_function(name, place);
            let is_static = children(node, &mut node.walk()).into_iter().any(|child| {
                child.kind() == "storage_class_specifier" && self.text(child) == "static"
            });
            if is_static {
                self.statics.insert((self.number, name), id);
            } else {
                self.externs.entry(name).or_insert(Named::Function(id));
            }
            pending.push(Pending { id, name, parameters, body, is_static, node });
        }
        pending
    }

    /// What stands in the file, without what it stands in: `extern "C" { .. }`.
    fn file_items(&self) -> Vec<Node<'u>> {
        let mut items = Vec::new();
        let mut open = vec![self.unit.tree.root_node()];
        while let Some(node) = open.pop() {
            match node.kind() {
                "translation_unit" | "declaration_list" => {
                    open.extend(children(node, &mut node.walk()).into_iter().rev());
                }
                "linkage_specification" | "namespace_definition" => {
                    open.extend(node.child_by_field_name("body"));
                }
                _ => items.push(node),
            }
        }
        items
    }

    fn add_function(&mut self, name: &str, place: Place) -> FunctionId {
        self.program.functions.push(Function {
            name: name.to_owned(),
            place,
            generics: Vec::new(),
            bounds: Vec::new(),
            parameters: Vec::new(),
            is_method: false,
            result: Type::Unknown,
            variables: Vec::new(),
            body: None,
        });
        FunctionId(u32::try_from(self.program.functions.len() - 1).unwrap_or(u32::MAX))
    }

    /// Declares everything of the unit, in order.
    pub(super) fn declare_unit(&mut self, pending: &mut [Pending<'u>]) {
        for function in pending.iter().filter(|function| function.is_static) {
            self.scopes.bind(function.name, Named::Function(function.id));
        }
        let mut functions = pending.iter();
        let mut next = functions.next();
        for node in self.file_items() {
            if let Some(function) = next
                && function.node == node
            {
                self.declare_function(function);
                next = functions.next();
                continue;
            }
            match node.kind() {
                "declaration" => self.file_declaration(node),
                "type_definition" => self.type_definition(node),
                "alias_declaration" => self.alias_declaration(node),
                "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier" => {
                    self.declare_tag(node);
                    self.note_unread(node);
                }
                _ => self.note_unread(node),
            }
        }
    }

    fn declare_function(&mut self, function: &Pending<'u>) {
        let result = self.specifiers(function.node).ty;
        let declarator = function.node.child_by_field_name("declarator");
        let declared = declarator.map(|declarator| self.declarator(declarator, result));
        let Some(Type::Function(parameters, result)) = declared.map(|it| it.ty) else { return };
        let own = &mut self.program.functions[function.id.0 as usize];
        own.result = *result;
        self.note_aliases(function.id, function.parameters);
        let own = &mut self.program.functions[function.id.0 as usize];
        let parameter = |ty| Parameter { pattern: Pattern::Wildcard, ty };
        own.parameters = parameters.into_iter().map(parameter).collect();
    }

    fn declare_tag(&mut self, node: Node<'u>) {
        // A specifier stands for itself there.
        match node.kind() {
            "enum_specifier" | "struct_specifier" | "union_specifier" | "class_specifier" => {
                self.specified(node);
            }
            _ => {}
        }
    }

    /// `typedef old new;`
    pub(super) fn type_definition(&mut self, node: Node<'u>) {
        let base = self.specifiers(node).ty;
        let declarators: Vec<Node<'u>> =
            node.children_by_field_name("declarator", &mut node.walk()).collect();
        for declarator in declarators {
            let declared = self.declarator(declarator, base.clone());
            if let Some(name) = declared.name {
                let name = self.text(name);
                self.scopes.bind(name, Named::Type(declared.ty));
            }
        }
    }

    /// `using new = old;`
    pub(super) fn alias_declaration(&mut self, node: Node<'u>) {
        let name = node.child_by_field_name("name");
        let ty = node.child_by_field_name("type");
        if let (Some(name), Some(ty)) = (name, ty) {
            let ty = self.described(ty).0;
            self.scopes.bind(self.text(name), Named::Type(ty));
        }
    }

    /// Variables and functions of the file.
    fn file_declaration(&mut self, node: Node<'u>) {
        let specifiers = self.specifiers(node);
        let declarators: Vec<Node<'u>> =
            node.children_by_field_name("declarator", &mut node.walk()).collect();
        for declarator in declarators {
            let declared = self.declarator(declarator, specifiers.ty.clone());
            let Some(name) = declared.name else { continue };
            let text = self.text(name);
            if declared.parameters.is_some() {
                self.declare_prototype(text, declared.ty);
                continue;
            }
            let value = declarator.child_by_field_name("value");
            let id = self.file_variable(name, &specifiers, declared.ty);
            self.scopes.bind(text, Named::Global(id));
            let is_defined = !specifiers.is_extern || value.is_some();
            if is_defined {
                self.define(id, declarator, &declared.lengths, value);
            }
        }
    }

    pub(super) fn declare_prototype(&mut self, name: &'u str, ty: Type) {
        let known = matches!(self.scopes.name(name), Some(Named::Function(_)));
        if !known {
            self.scopes.bind(name, Named::Declared(ty));
        }
    }

    /// The variable of the file, which others may have declared as well.
    fn file_variable(
        &mut self,
        name: Node<'u>,
        specifiers: &super::types::Specifiers,
        ty: Type,
    ) -> GlobalId {
        let text = self.text(name);
        if let Some(Named::Global(known)) = self.scopes.name(text) {
            return *known;
        }
        if !specifiers.is_static
            && let Some(Named::Global(known)) = self.externs.get(text)
        {
            return *known;
        }
        let id = self.add_global(text.to_owned(), name, ty, specifiers.is_const);
        if !specifiers.is_static {
            self.externs.insert(text, Named::Global(id));
        }
        id
    }

    pub(super) fn add_global(
        &mut self,
        name: String,
        node: Node<'u>,
        ty: Type,
        is_const: bool,
    ) -> GlobalId {
        let place = self.place(node);
        // What a constant pointer leads to may change, and it itself is only read.
        let is_mutable = !(is_const && matches!(ty, Type::Scalar(_)));
        self.program.globals.push(Global { name, place, ty, value: None, is_mutable });
        GlobalId(u32::try_from(self.program.globals.len() - 1).unwrap_or(u32::MAX))
    }

    /// Gives a variable of the file, or a static one, its first value.
    pub(super) fn define(
        &mut self,
        id: GlobalId,
        node: Node<'u>,
        lengths: &[Option<Node<'u>>],
        value: Option<Node<'u>>,
    ) {
        if value.is_none() && self.program.global(id).value.is_some() {
            return;
        }
        let ty = self.program.global(id).ty.clone();
        // Its variables are its own.
        let outside = std::mem::take(&mut self.function);
        let value = match value {
            Some(value) => self.initialised(&ty, value),
            None => self.filled("zero", &ty, lengths, node),
        };
        self.function = outside;
        let global = &mut self.program.globals[id.0 as usize];
        // `int a[] = {..}` is as long as its value.
        if let Type::Array(_, None) = global.ty {
            global.ty = value.ty.clone();
        }
        global.value = Some(value);
    }

    /// Variables for the parameters of a function.
    pub(super) fn bind_parameters(&mut self, list: Option<Node<'u>>) -> Vec<Parameter> {
        let Some(list) = list else { return Vec::new() };
        let mut parameters = Vec::new();
        for declared in self.parameters(list) {
            let Some(name) = declared.name else {
                parameters.push(Parameter { pattern: Pattern::Wildcard, ty: declared.ty });
                continue;
            };
            let name = self.text(name);
            let variable = self.bind(name, declared.ty.clone());
            if declared.is_alias {
                self.scopes.bind(name, Named::Alias(variable));
            }
            self.note_lengths(variable, declared.lengths);
            let pattern = Pattern::Variable(variable, None);
            parameters.push(Parameter { pattern, ty: declared.ty });
        }
        parameters
    }

    /// Remembers how long the arrays are that a variable is or points to.
    pub(super) fn note_lengths(&mut self, variable: VariableId, lengths: Vec<Option<Node<'u>>>) {
        if !lengths.is_empty() {
            self.add_lengths(variable, lengths);
        }
    }

    /// Where runs start: at `main`, or, without one, where others hand a communicator in.
    pub(super) fn find_entries(&mut self, functions: &[Pending<'u>]) {
        let entry = |function: &Pending<'_>, kind| Entry {
            function: function.id,
            name: function.name.to_owned(),
            kind,
            given: Vec::new(),
        };
        let main = functions.iter().find(|function| function.name == "main");
        if let Some(main) = main {
            self.program.entries = vec![entry(main, EntryKind::Main)];
            return;
        }
        let takes_communicator = |function: &&Pending<'_>| {
            let parameters = &self.program.function(function.id).parameters;
            parameters.iter().any(|it| is_communicator(it.ty.behind_references()))
        };
        let offered = functions.iter().filter(|function| !function.is_static);
        let entries = offered.filter(takes_communicator).map(|it| entry(it, EntryKind::Public));
        self.program.entries = entries.collect();
    }
}

fn is_communicator(ty: &Type) -> bool {
    matches!(ty, Type::External(name, _) if name == "MPI_Comm")
}

/// The name of the function that a declarator declares, and its parameters.
fn function_named(declarator: Node<'_>) -> Option<(Node<'_>, Option<Node<'_>>)> {
    let (mut node, mut parameters) = (declarator, None);
    loop {
        match node.kind() {
            "identifier" | "field_identifier" => return Some((node, parameters)),
            "function_declarator" => parameters = node.child_by_field_name("parameters"),
            "parenthesized_declarator" | "attributed_declarator" | "reference_declarator" => {
                node = children(node, &mut node.walk())
                    .into_iter()
                    .find(|child| child.kind() != "attribute_declaration")?;
                continue;
            }
            "pointer_declarator" => {}
            _ => return None,
        }
        node = node.child_by_field_name("declarator")?;
    }
}
