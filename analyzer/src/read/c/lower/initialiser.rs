//! First values: of variables that have none, and lists in braces, also where inner braces are left
//! out and where fields and elements are named.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::super::parse::children;
use super::convert::{convert, integer};
use super::expression::{block_of, element, let_be};
use super::operator::without_parentheses;
use super::{Lowering, of_c};
use crate::program::{DefinitionId, Expression, Kind, Literal, Place, Scalar, Statement, Type};

/// Elements that are written out one by one.
const WRITTEN: u64 = 4096;

/// Letters of a text that are.
const LETTERS: u64 = 1 << 16;

/// Lists in lists.
const DEPTH: u32 = 64;

/// What stands in a list, as far as it was not used up.
struct Items<'u> {
    nodes: std::vec::IntoIter<Node<'u>>,
    next: Option<Node<'u>>,
    /// The next one's value, where it was read already.
    ready: Option<Expression>,
}

impl<'u> Items<'u> {
    fn of(nodes: Vec<Node<'u>>) -> Self {
        let mut nodes = nodes.into_iter();
        let next = nodes.next();
        Items { nodes, next, ready: None }
    }

    fn take(&mut self) -> Option<Node<'u>> {
        self.ready = None;
        std::mem::replace(&mut self.next, self.nodes.next())
    }
}

impl<'u> Lowering<'u> {
    /// A value for every part of a variable: `uninitialized` or `zero`. `lengths`: those of its
    /// arrays, as they are written.
    pub(in crate::read::c) fn filled(
        &mut self,
        with: &str,
        ty: &Type,
        lengths: &[Option<Node<'u>>],
        node: Node<'u>,
    ) -> Expression {
        let place = self.place(node);
        self.filled_at(with, ty, lengths, place, DEPTH)
    }

    fn filled_at(
        &mut self,
        with: &str,
        ty: &Type,
        lengths: &[Option<Node<'u>>],
        place: Place,
        depth: u32,
    ) -> Expression {
        let (Type::Array(inner, known), Some(depth)) = (ty, depth.checked_sub(1)) else {
            return of_c(with, ty.clone(), place);
        };
        let (first, others) = match lengths.split_first() {
            Some((first, others)) => (*first, others),
            None => (None, lengths),
        };
        let length = match (known, first) {
            (Some(length), _) => integer((*length).into(), Scalar::U64, place),
            (None, Some(length)) => {
                let length = self.value(length);
                convert(length, &Type::Scalar(Scalar::U64))
            }
            (None, None) => return of_c(with, ty.clone(), place),
        };
        let inner = self.filled_at(with, inner, others, place, depth);
        let kind = Kind::Repeat(Box::new(inner), Box::new(length));
        Expression { kind, place, ty: ty.clone() }
    }

    /// The first value that a variable of a type is given.
    pub(in crate::read::c) fn initialised(&mut self, ty: &Type, node: Node<'u>) -> Expression {
        self.deeper(node, |lowering, node| lowering.initialised_here(ty, node))
    }

    fn initialised_here(&mut self, ty: &Type, node: Node<'u>) -> Expression {
        let inner = without_parentheses(node);
        match (inner.kind(), ty) {
            ("initializer_list", _) => {
                let mut items = Items::of(children(inner, &mut inner.walk()));
                self.list(ty, &mut items, true, inner)
            }
            ("compound_literal_expression", Type::Array(..)) => {
                match inner.child_by_field_name("value") {
                    Some(list) => self.initialised(ty, list),
                    None => self.unreadable(node),
                }
            }
            ("string_literal" | "concatenated_string", Type::Array(element, length))
                if is_letter(element) =>
            {
                self.text_array(element, *length, inner)
            }
            _ => {
                let value = self.value(node);
                convert(value, ty)
            }
        }
    }

    /// `char name[n] = "text"`
    fn text_array(&mut self, element: &Type, length: Option<u64>, node: Node<'u>) -> Expression {
        let text = self.string(node);
        let Kind::Literal(Literal::Bytes(bytes)) = &text.kind else { return text };
        let length = length.unwrap_or(bytes.len() as u64);
        let ty = Type::Array(Box::new(element.clone()), Some(length));
        if length > LETTERS {
            let is_empty = bytes.iter().all(|byte| *byte == 0);
            return self.filled(if is_empty { "zero" } else { "uninitialized" }, &ty, &[], node);
        }
        let mut bytes = bytes.to_vec();
        bytes.resize(length as usize, 0);
        Expression { kind: Kind::Literal(Literal::Bytes(bytes.into())), ty, ..text }
    }

    /// A value of a type from a list, or from as much of one as it takes.
    fn list(
        &mut self,
        ty: &Type,
        items: &mut Items<'u>,
        in_braces: bool,
        node: Node<'u>,
    ) -> Expression {
        match ty {
            Type::Array(inner, length) => self.array(inner, *length, items, in_braces, node),
            Type::Defined(definition, _) => self.construct(*definition, items, in_braces, node),
            Type::Scalar(_) | Type::Reference(_) | Type::Function(..) => match items.take() {
                Some(item) => self.initialised(ty, item),
                None => self.filled("zero", ty, &[], node),
            },
            _ => {
                let mut statements = Vec::new();
                while let Some(item) = items.take() {
                    let (_, value) = designated(item);
                    if value.kind() != "initializer_list" {
                        self.effect(value, &mut statements);
                    }
                    if !in_braces {
                        break;
                    }
                }
                let is_empty = statements.is_empty();
                let value =
                    self.filled(if is_empty { "zero" } else { "uninitialized" }, ty, &[], node);
                block_of(statements, value)
            }
        }
    }

    /// One part of what a list is for: a list of its own, a value, or as many as it has parts.
    fn part(&mut self, ty: &Type, items: &mut Items<'u>, node: Node<'u>) -> Expression {
        let Some(item) = items.next else { return self.filled("zero", ty, &[], node) };
        let is_list = item.kind() == "initializer_list";
        let is_whole = is_list || !matches!(ty, Type::Array(..) | Type::Defined(..));
        let is_text = matches!(ty, Type::Array(element, _) if is_letter(element))
            && matches!(item.kind(), "string_literal" | "concatenated_string");
        if is_whole || is_text {
            let ready = items.ready.take();
            items.take();
            return match ready {
                Some(value) => convert(value, ty),
                None => self.initialised(ty, item),
            };
        }
        if let Type::Defined(..) = ty {
            let value = match items.ready.take() {
                Some(value) => value,
                None => self.value(item),
            };
            if value.ty == *ty {
                items.take();
                return value;
            }
            items.ready = Some(value);
        }
        self.deeper(node, |lowering, node| lowering.list(ty, items, false, node))
    }

    fn array(
        &mut self,
        inner: &Type,
        length: Option<u64>,
        items: &mut Items<'u>,
        in_braces: bool,
        node: Node<'u>,
    ) -> Expression {
        let mut entries: BTreeMap<u64, Expression> = BTreeMap::new();
        let (mut position, mut end) = (0u64, 0u64);
        while let Some(item) = items.next {
            let (designators, value) = designated(item);
            if !designators.is_empty() {
                if !in_braces {
                    break;
                }
                items.take();
                let Some(range) = self.index_range(designators[0]) else { continue };
                let entry = self.named_part(inner, &designators[1..], value);
                for index in range.clone().take(WRITTEN as usize) {
                    entries.insert(index, entry.clone());
                }
                position = range.end;
            } else if length.is_some_and(|length| position >= length) {
                if !in_braces {
                    break;
                }
                items.take();
                continue;
            } else {
                let entry = self.part(inner, items, node);
                entries.insert(position, entry);
                position = position.saturating_add(1);
            }
            end = end.max(position);
        }
        let length = length.unwrap_or(end);
        self.array_of(inner, length, entries, node)
    }

    fn array_of(
        &mut self,
        inner: &Type,
        length: u64,
        mut entries: BTreeMap<u64, Expression>,
        node: Node<'u>,
    ) -> Expression {
        let ty = Type::Array(Box::new(inner.clone()), Some(length));
        entries.retain(|index, entry| *index < length && !is_nothing(entry));
        if entries.is_empty() {
            return self.filled("zero", &ty, &[], node);
        }
        if length <= WRITTEN {
            let mut parts = Vec::new();
            for index in 0..length {
                parts.push(match entries.remove(&index) {
                    Some(entry) => entry,
                    None => self.filled("zero", inner, &[], node),
                });
            }
            return self.make(Kind::Array(parts), ty, node);
        }
        let zero = self.filled("zero", &ty, &[], node);
        let place = zero.place;
        let variable = self.hidden("array", ty.clone());
        let mut statements = vec![let_be(variable, ty, zero)];
        for (index, entry) in entries {
            let index = integer(index.into(), Scalar::I64, place);
            let target = element(self.variable(variable, place), index, place);
            let kind = Kind::Assign(Box::new(target), Box::new(entry));
            statements.push(Statement::Expression(Expression { kind, place, ty: Type::unit() }));
        }
        block_of(statements, self.variable(variable, place))
    }

    fn construct(
        &mut self,
        definition: DefinitionId,
        items: &mut Items<'u>,
        in_braces: bool,
        node: Node<'u>,
    ) -> Expression {
        let variants = &self.program.definition(definition).variants;
        let fields = variants.first().map(|variant| variant.fields.clone()).unwrap_or_default();
        let mut values: Vec<Option<Expression>> = vec![None; fields.len()];
        let mut position = 0;
        while let Some(item) = items.next {
            let (designators, value) = designated(item);
            if let Some(designator) = designators.first() {
                if !in_braces {
                    break;
                }
                items.take();
                let name = field_name(*designator).map(|name| self.text(name));
                let found = fields.iter().position(|(field, _)| Some(field.as_str()) == name);
                if let Some(found) = found {
                    values[found] =
                        Some(self.named_part(&fields[found].1, &designators[1..], value));
                    position = found + 1;
                } else if let Some(found) = self.field_around(&fields, name) {
                    // A field of a struct that has no name itself.
                    let ty = fields[found].1.clone();
                    let whole = values[found].take();
                    values[found] = Some(self.with_part(whole, &ty, &designators, value));
                    position = found + 1;
                }
            } else if position >= fields.len() {
                if !in_braces {
                    break;
                }
                items.take();
            } else {
                values[position] = Some(self.part(&fields[position].1, items, node));
                position += 1;
            }
        }
        let mut parts = Vec::new();
        for ((name, ty), value) in fields.into_iter().zip(values) {
            let value = match value {
                Some(value) => self.cut_for((definition, &name), value),
                None => self.filled("zero", &ty, &[], node),
            };
            parts.push((name, value));
        }
        let kind = Kind::Construct { definition, variant: 0, fields: parts, rest: None };
        self.make(kind, Type::Defined(definition, Vec::new()), node)
    }

    /// What `.a[1].b = value` gives the part that is named first.
    fn named_part(&mut self, ty: &Type, rest: &[Node<'u>], value: Node<'u>) -> Expression {
        let Some((first, rest)) = rest.split_first() else { return self.initialised(ty, value) };
        match ty {
            Type::Array(inner, length) => {
                let index = self.index_range(*first).map_or(0, |range| range.start);
                let entry = self.named_part(inner, rest, value);
                let length = length.unwrap_or(index.saturating_add(1));
                self.array_of(inner, length, BTreeMap::from([(index, entry)]), value)
            }
            Type::Defined(..) => {
                let designators: Vec<Node<'u>> =
                    std::iter::once(*first).chain(rest.iter().copied()).collect();
                self.with_part(None, ty, &designators, value)
            }
            _ => self.initialised(ty, value),
        }
    }

    /// A struct with one of its fields as it is named; `None`: the others are zero.
    fn with_part(
        &mut self,
        whole: Option<Expression>,
        ty: &Type,
        designators: &[Node<'u>],
        value: Node<'u>,
    ) -> Expression {
        let (Type::Defined(definition, _), Some((first, rest))) = (ty, designators.split_first())
        else {
            return self.initialised(ty, value);
        };
        let mut whole = whole.unwrap_or_else(|| {
            self.construct(*definition, &mut Items::of(Vec::new()), true, value)
        });
        let name = field_name(*first).map(|name| self.text(name));
        let known = self.program.definition(*definition).variants.first();
        let known = known.map(|variant| variant.fields.clone()).unwrap_or_default();
        let direct = known.iter().position(|(field, _)| Some(field.as_str()) == name);
        let found = direct.or_else(|| self.field_around(&known, name));
        if let (Kind::Construct { fields, .. }, Some(found)) = (&mut whole.kind, found)
            && let Some((_, part)) = fields.get_mut(found)
        {
            let ty = known[found].1.clone();
            *part = match direct {
                Some(_) => {
                    let value = self.named_part(&ty, rest, value);
                    self.cut_for((*definition, &known[found].0), value)
                }
                None => {
                    let inner = is_construct(part).then(|| part.clone());
                    self.with_part(inner, &ty, designators, value)
                }
            };
        }
        whole
    }

    /// The field without a name in which there is one of this name.
    fn field_around(&self, fields: &[(String, Type)], name: Option<&str>) -> Option<usize> {
        let name = name?;
        fields.iter().position(|(field, ty)| {
            field.starts_with(|letter: char| letter.is_ascii_digit())
                && self.path_to(ty, name, 16).is_some()
        })
    }

    /// `[index]`, `[first ... last]`
    fn index_range(&mut self, designator: Node<'u>) -> Option<std::ops::Range<u64>> {
        let bound = |lowering: &mut Self, node: Node<'u>| {
            let value = lowering.without_effect(|lowering| lowering.value(node));
            u64::try_from(lowering.fold(&value)?).ok()
        };
        let parts = children(designator, &mut designator.walk());
        let start = bound(self, *parts.first()?)?;
        let last = match parts.get(1) {
            Some(last) => bound(self, *last)?,
            None => start,
        };
        Some(start..last.checked_add(1)?)
    }
}

fn is_construct(value: &Expression) -> bool {
    matches!(value.kind, Kind::Construct { .. })
}

/// What an item of a list is for, and its value.
fn designated(item: Node<'_>) -> (Vec<Node<'_>>, Node<'_>) {
    if item.kind() != "initializer_pair" {
        return (Vec::new(), item);
    }
    let value = item.child_by_field_name("value").unwrap_or(item);
    let designators = item.children_by_field_name("designator", &mut item.walk()).collect();
    (designators, value)
}

fn field_name(designator: Node<'_>) -> Option<Node<'_>> {
    match designator.kind() {
        "field_identifier" => Some(designator),
        _ => children(designator, &mut designator.walk()).first().copied(),
    }
}

fn is_letter(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(Scalar::I8 | Scalar::U8))
}

/// Whether an element is what it is without being named.
fn is_nothing(entry: &Expression) -> bool {
    match &entry.kind {
        Kind::Literal(Literal::Integer(0)) => true,
        Kind::Literal(Literal::Float(number)) => *number == 0.0,
        Kind::Repeat(inner, _) => is_nothing(inner),
        _ => super::is_of_c(entry, "zero"),
    }
}
