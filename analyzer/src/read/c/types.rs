//! Types as they are written: specifiers, declarators, structs and enums.

use tree_sitter::Node;

use super::lower::Lowering;
use super::parse::children;
use super::scope::{Named, Tag};
use crate::program::{Definition, DefinitionId, Expression, Scalar, Type, Variant};

/// What stands before the declarators.
#[derive(Clone, Debug, Default)]
pub(super) struct Specifiers {
    pub(super) ty: Type,
    pub(super) is_static: bool,
    pub(super) is_extern: bool,
    pub(super) is_const: bool,
    /// `auto` of C++: the type is that of the initial value.
    pub(super) is_auto: bool,
}

/// What a declarator declares.
#[derive(Clone, Debug)]
pub(super) struct Declared<'u> {
    /// The name, where it has one.
    pub(super) name: Option<Node<'u>>,
    pub(super) ty: Type,
    /// The parameters, if a function is declared.
    pub(super) parameters: Option<Node<'u>>,
    /// The lengths of an array, the outermost first, as they are written.
    pub(super) lengths: Vec<Option<Node<'u>>>,
    /// `&` of C++.
    pub(super) is_alias: bool,
    /// It is a pointer to an array of these lengths.
    pub(super) is_pointer: bool,
}

impl<'u> Lowering<'u> {
    /// What a declaration, a parameter, a field or a function begins with.
    pub(super) fn specifiers(&mut self, node: Node<'u>) -> Specifiers {
        let mut found = Specifiers::default();
        for child in children(node, &mut node.walk()) {
            match child.kind() {
                "storage_class_specifier" => match self.text(child) {
                    "static" => found.is_static = true,
                    "extern" => found.is_extern = true,
                    _ => {}
                },
                "type_qualifier" => {
                    let word = self.text(child);
                    found.is_const |= word == "const" || word == "constexpr";
                }
                _ => {}
            }
        }
        if let Some(ty) = node.child_by_field_name("type") {
            found.is_auto = ty.kind() == "placeholder_type_specifier";
            found.ty = self.specified(ty);
        }
        found
    }

    /// The type that a specifier stands for.
    pub(super) fn specified(&mut self, node: Node<'u>) -> Type {
        match node.kind() {
            "primitive_type" => self.named_type(self.text(node)),
            "sized_type_specifier" => self.sized(node),
            "type_identifier" | "identifier" => self.named_type(self.text(node)),
            "struct_specifier" | "class_specifier" => self.structure(node),
            "union_specifier" => self.union(node),
            "enum_specifier" => self.enumeration(node),
            "type_descriptor" => self.described(node).0,
            "placeholder_type_specifier" | "decltype" => Type::Unknown,
            "qualified_identifier" => match node.child_by_field_name("name") {
                Some(name) => self.specified(name),
                None => Type::Unknown,
            },
            "template_type" if self.is_vector(node) => {
                let inner = self.template_argument(node).unwrap_or_default();
                Type::External("Vec".to_owned(), vec![inner])
            }
            "template_type" => {
                let name = node.child_by_field_name("name").map(|name| self.text(name));
                Type::External(name.unwrap_or_default().to_owned(), Vec::new())
            }
            _ => Type::Unknown,
        }
    }

    fn is_vector(&self, node: Node<'u>) -> bool {
        node.child_by_field_name("name").is_some_and(|name| self.text(name) == "vector")
    }

    /// The type of this name.
    pub(super) fn named_type(&self, name: &str) -> Type {
        if name == "void" {
            return Type::unit();
        }
        match self.scopes.name(name) {
            Some(Named::Type(ty)) => return ty.clone(),
            Some(_) => return Type::Unknown,
            None => {}
        }
        // Structs have their names without `struct` in C++.
        match self.scopes.tag(name) {
            Some(Tag::Struct(definition)) => return Type::Defined(*definition, Vec::new()),
            Some(Tag::Other(ty)) => return ty.clone(),
            None => {}
        }
        let known = super::library::type_named(name);
        known.unwrap_or_else(|| Type::External(name.to_owned(), Vec::new()))
    }

    /// Whether a name is that of a type here.
    pub(super) fn is_type(&self, name: &str) -> bool {
        match self.scopes.name(name) {
            Some(Named::Type(_)) => true,
            Some(_) => false,
            None => {
                name == "void"
                    || super::library::type_named(name).is_some()
                    || is_handle(name)
                    || self.unit.is_cpp() && self.scopes.tag(name).is_some()
            }
        }
    }

    fn sized(&mut self, node: Node<'u>) -> Type {
        let (mut unsigned, mut signed, mut longs, mut shorts) = (false, false, 0, 0);
        for word in self.text(node).split_whitespace() {
            match word {
                "unsigned" => unsigned = true,
                "signed" => signed = true,
                "long" => longs += 1,
                "short" => shorts += 1,
                _ => {}
            }
        }
        let base = node.child_by_field_name("type").map(|base| self.specified(base));
        let scalar = match base {
            Some(Type::Scalar(Scalar::F64)) if longs > 0 => {
                return Type::External("long double".to_owned(), Vec::new());
            }
            Some(Type::Scalar(Scalar::I8)) if unsigned => Scalar::U8,
            Some(Type::Scalar(scalar)) if scalar != Scalar::I32 => scalar,
            _ if shorts > 0 && unsigned => Scalar::U16,
            _ if shorts > 0 => Scalar::I16,
            _ if longs > 0 && unsigned => Scalar::U64,
            _ if longs > 0 => Scalar::I64,
            _ if unsigned => Scalar::U32,
            _ if signed => Scalar::I32,
            other => return other.unwrap_or_default(),
        };
        Type::Scalar(scalar)
    }

    /// A type as casts and `sizeof` have it, and the lengths of arrays in it.
    pub(super) fn described(&mut self, node: Node<'u>) -> (Type, Vec<Option<Node<'u>>>) {
        let base = self.specifiers(node).ty;
        match node.child_by_field_name("declarator") {
            Some(declarator) => {
                let declared = self.declarator(declarator, base);
                let lengths = if declared.is_pointer { Vec::new() } else { declared.lengths };
                (declared.ty, lengths)
            }
            None => (base, Vec::new()),
        }
    }

    /// What a declarator makes of the type before it.
    pub(super) fn declarator(&mut self, node: Node<'u>, base: Type) -> Declared<'u> {
        let mut declared = Declared {
            name: None,
            ty: base,
            parameters: None,
            lengths: Vec::new(),
            is_alias: false,
            is_pointer: false,
        };
        let mut next = Some(node);
        while let Some(node) = next {
            next = match node.kind() {
                "pointer_declarator" | "abstract_pointer_declarator" => {
                    declared.ty = pointer_to(declared.ty);
                    declared.parameters = None;
                    if declared.is_pointer {
                        declared.lengths.clear();
                    }
                    declared.is_pointer = true;
                    node.child_by_field_name("declarator")
                }
                "array_declarator" | "abstract_array_declarator" => {
                    if declared.is_pointer {
                        declared.lengths.clear();
                    }
                    declared.is_pointer = false;
                    let length = node.child_by_field_name("size");
                    let length = length.filter(|length| length.kind() != "*");
                    let known = length.and_then(|length| self.length(length));
                    declared.ty = Type::Array(Box::new(declared.ty), known);
                    declared.lengths.insert(0, length);
                    node.child_by_field_name("declarator")
                }
                "function_declarator" | "abstract_function_declarator" => {
                    let parameters = node.child_by_field_name("parameters");
                    let types = parameters.map(|list| self.parameter_types(list));
                    declared.ty = Type::Function(types.unwrap_or_default(), Box::new(declared.ty));
                    declared.parameters = parameters;
                    declared.lengths.clear();
                    declared.is_pointer = false;
                    node.child_by_field_name("declarator")
                }
                "reference_declarator" | "abstract_reference_declarator" => {
                    declared.is_alias = true;
                    last_child(node)
                }
                "parenthesized_declarator"
                | "abstract_parenthesized_declarator"
                | "attributed_declarator"
                | "init_declarator" => {
                    let inner = node.child_by_field_name("declarator");
                    inner.or_else(|| first_declarator(node))
                }
                "identifier" | "field_identifier" | "type_identifier" => {
                    declared.name = Some(node);
                    None
                }
                "qualified_identifier" => node.child_by_field_name("name"),
                _ => None,
            };
        }
        declared
    }

    /// The length of an array, if it is a constant.
    fn length(&mut self, node: Node<'u>) -> Option<u64> {
        let length = self.without_effect(|lowering| lowering.value(node));
        u64::try_from(self.fold(&length)?).ok()
    }

    /// Reads an expression for what it is alone.
    pub(super) fn without_effect(
        &mut self,
        read: impl FnOnce(&mut Self) -> Expression,
    ) -> Expression {
        let calls = self.program.calls.len();
        let expression = read(self);
        self.program.calls.truncate(calls);
        expression
    }

    /// The types of parameters as a function has them: arrays are pointers.
    pub(super) fn parameter_types(&mut self, list: Node<'u>) -> Vec<Type> {
        let parameters = self.parameters(list);
        parameters.into_iter().map(|parameter| parameter.ty).collect()
    }

    /// The parameters of a function.
    pub(super) fn parameters(&mut self, list: Node<'u>) -> Vec<Declared<'u>> {
        let mut parameters = Vec::new();
        for node in children(list, &mut list.walk()) {
            if !matches!(node.kind(), "parameter_declaration" | "optional_parameter_declaration") {
                continue;
            }
            let base = self.specifiers(node).ty;
            let declarator = node.child_by_field_name("declarator");
            let mut declared = match declarator {
                Some(declarator) => self.declarator(declarator, base),
                None if base == Type::unit() => continue,
                None => Declared {
                    name: None,
                    ty: base,
                    parameters: None,
                    lengths: Vec::new(),
                    is_alias: false,
                    is_pointer: false,
                },
            };
            if let Type::Array(element, _) = declared.ty {
                declared.ty = pointer_to(*element);
                // A type that is an array by name has no length here.
                declared.lengths = declared.lengths.into_iter().skip(1).collect();
                declared.is_pointer = true;
            }
            if declared.is_alias {
                declared.ty = pointer_to(declared.ty);
            }
            parameters.push(declared);
        }
        parameters
    }

    /// `struct name { .. }`, `struct name`
    fn structure(&mut self, node: Node<'u>) -> Type {
        let name = node.child_by_field_name("name");
        let tag = name.map(|name| self.text(name));
        let Some(body) = node.child_by_field_name("body") else {
            let Some(tag) = tag else { return Type::Unknown };
            match self.scopes.tag(tag) {
                Some(Tag::Struct(definition)) => return Type::Defined(*definition, Vec::new()),
                Some(Tag::Other(ty)) => return ty.clone(),
                None => {}
            }
            let definition = self.add_definition(tag);
            self.scopes.bind_tag(tag, Tag::Struct(definition));
            return Type::Defined(definition, Vec::new());
        };
        let declared = tag.and_then(|tag| match self.scopes.own_tag(tag) {
            Some(Tag::Struct(definition)) => Some(*definition),
            _ => None,
        });
        let definition = declared.unwrap_or_else(|| self.add_definition(tag.unwrap_or("struct")));
        if let Some(tag) = tag {
            self.scopes.bind_tag(tag, Tag::Struct(definition));
        }
        let fields = self.fields(body);
        if let Some(same) = self.same_structure(tag.unwrap_or_default(), definition, &fields) {
            if let Some(tag) = tag {
                self.scopes.bind_tag(tag, Tag::Struct(same));
            }
            return Type::Defined(same, Vec::new());
        }
        self.note_bit_fields(definition, body);
        if let Some(variant) = self.program.definitions[definition.0 as usize].variants.first_mut()
        {
            variant.fields = fields;
        }
        Type::Defined(definition, Vec::new())
    }

    /// A struct of another file that is the same, as it is where both have it from one header; one
    /// without a tag (`typedef struct { .. } grid;`) is the same as any that has the same fields.
    fn same_structure(
        &mut self,
        tag: &'u str,
        own: DefinitionId,
        fields: &[(String, Type)],
    ) -> Option<DefinitionId> {
        if !self.scopes.is_file() {
            return None;
        }
        // A pointer to itself names the new one.
        let similar = |(name, ty): &(String, Type), (other, their): &(String, Type)| {
            name == other
                && (ty == their || matches!((ty, their), (Type::Reference(_), Type::Reference(_))))
        };
        let candidates = self.structures.entry(tag).or_default();
        let found = candidates.iter().copied().find(|candidate| {
            let known = &self.program.definitions[candidate.0 as usize].variants;
            known.first().is_some_and(|known| {
                known.fields.len() == fields.len()
                    && known.fields.iter().zip(fields).all(|(one, other)| similar(one, other))
            })
        });
        if found.is_none() {
            candidates.push(own);
        }
        found.filter(|found| *found != own)
    }

    fn add_definition(&mut self, name: &str) -> DefinitionId {
        let variant = Variant { name: name.to_owned(), fields: Vec::new(), discriminant: None };
        self.program.definitions.push(Definition {
            name: name.to_owned(),
            is_enum: false,
            generics: Vec::new(),
            variants: vec![variant],
            traits: Vec::new(),
        });
        DefinitionId(u32::try_from(self.program.definitions.len() - 1).unwrap_or(u32::MAX))
    }

    /// The fields of a struct; one without a name has a number.
    fn fields(&mut self, body: Node<'u>) -> Vec<(String, Type)> {
        let mut fields = Vec::new();
        for node in children(body, &mut body.walk()) {
            if node.kind() != "field_declaration" {
                continue;
            }
            let specifiers = self.specifiers(node);
            let mut has_declarator = false;
            let declarators: Vec<Node<'u>> =
                node.children_by_field_name("declarator", &mut node.walk()).collect();
            for declarator in declarators {
                has_declarator = true;
                let declared = self.declarator(declarator, specifiers.ty.clone());
                // What C++ declares as a function takes no room.
                let is_function = declared.parameters.is_some();
                if let Some(name) = declared.name
                    && !is_function
                {
                    fields.push((self.text(name).to_owned(), declared.ty));
                }
            }
            if !has_declarator {
                fields.push((format!("{}", fields.len()), specifiers.ty));
            }
        }
        fields
    }

    /// `union name { .. }`: what is in it is not followed.
    fn union(&mut self, node: Node<'u>) -> Type {
        let name = node.child_by_field_name("name").map(|name| self.text(name));
        let ty = Type::External(format!("union {}", name.unwrap_or_default()), Vec::new());
        if let Some(body) = node.child_by_field_name("body") {
            // It may define structs and enums.
            self.fields(body);
        }
        if let Some(name) = name {
            self.scopes.bind_tag(name, Tag::Other(ty.clone()));
        }
        ty
    }

    /// `enum name { .. }`
    fn enumeration(&mut self, node: Node<'u>) -> Type {
        let ty = Type::Scalar(Scalar::I32);
        if let Some(name) = node.child_by_field_name("name") {
            self.scopes.bind_tag(self.text(name), Tag::Other(ty.clone()));
        }
        let Some(body) = node.child_by_field_name("body") else { return ty };
        let mut next = Some(0i128);
        for enumerator in children(body, &mut body.walk()) {
            let Some(name) = enumerator.child_by_field_name("name") else { continue };
            if let Some(value) = enumerator.child_by_field_name("value") {
                let value = self.without_effect(|lowering| lowering.value(value));
                next = self.fold(&value);
            }
            match next {
                Some(number) => {
                    self.scopes.bind(self.text(name), Named::Constant(number));
                    next = number.checked_add(1);
                }
                None => self.scopes.bind(self.text(name), Named::Declared(ty.clone())),
            }
        }
        ty
    }
}

/// Names of MPI that are types.
fn is_handle(name: &str) -> bool {
    matches!(
        name.strip_prefix("MPI_"),
        Some(
            "Comm"
                | "Request"
                | "Status"
                | "Datatype"
                | "Op"
                | "Group"
                | "Win"
                | "File"
                | "Info"
                | "Message"
                | "Errhandler"
                | "Session"
                | "User_function"
        )
    )
}

/// A pointer; one to a function is the function.
pub(super) fn pointer_to(ty: Type) -> Type {
    match ty {
        Type::Function(..) => ty,
        // `void` is nothing that could be looked at.
        ty if ty == Type::unit() => Type::Reference(Box::new(Type::Unknown)),
        ty => Type::Reference(Box::new(ty)),
    }
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    children(node, &mut node.walk()).pop()
}

/// The declarator in parentheses or beside attributes.
fn first_declarator(node: Node<'_>) -> Option<Node<'_>> {
    children(node, &mut node.walk())
        .into_iter()
        .find(|child| child.kind().ends_with("declarator") || child.kind().ends_with("identifier"))
}
