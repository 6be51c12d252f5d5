//! The declarations of a protocol, in the order in which they depend on each other: constants,
//! parameters, the grid, the sizes, messages, roles.

use super::attribute::Argument;
use super::items::{Attribute, ItemKind, RawItem, RawModule, passed};
use super::payload::is_integer_type;
use super::{Parsed, Parser};
use crate::grammar::evaluate::Numbers;
use crate::grammar::flow;
use crate::grammar::scope::Meaning;
use crate::grammar::syntax::{Constant, Expression, Name, Pattern, Protocol, Sizes};
use crate::grammar::tokens::{Cursor, Region, Token, region_of, stream_of};

impl Parser {
    /// All of it.
    pub(super) fn protocol(&mut self, attribute: &[Token], module: &[Token]) -> Parsed<Protocol> {
        let end = region_of(attribute).unwrap_or_else(|| proc_macro2::Span::call_site().into());
        let arguments = self.protocol_arguments(Cursor { rest: attribute, end });
        let argument = |key: &str| arguments.iter().find(|argument| argument.key == key);
        let module = self.raw_module(module)?;
        self.misplaced_attributes(&module.items);

        let (constants, mut items) = self.constants(&module.items);
        self.grid_known = argument("grid").is_some();
        let grid = argument("grid").and_then(|grid| self.grid(grid.value).ok());
        let around = self.scope.open();
        let (functions, parameters) = self.signatures(&module.items);
        let messages = self.messages(&module.items, &mut items);
        let requirements = argument("require").map_or(Vec::new(), |it| self.requirements(it.value));
        self.scope.close(around);
        let sizes = self.sizes(argument("ranks"), module.name.span().into());
        let allowed = argument("allow").map_or(Vec::new(), |allow| self.allowed(allow.value));
        let (roles, lacking) = self.roles(functions);
        if roles.is_empty() {
            let help = "write what each rank does: `#[rank(0)] fn root() { send(1, Message); }`";
            self.wrong_help(module.name.span().into(), "this protocol has no role", help);
        }

        let protocol = Protocol {
            name: module.name.clone(),
            visibility: self.visibility(module.visibility),
            attributes: self.module_attributes(&module),
            sizes,
            grid,
            requirements,
            allowed,
            messages,
            communicators: std::mem::take(&mut self.communicators)
                .into_iter()
                .map(|(ident, _)| ident)
                .collect(),
            constants,
            parameters,
            roles,
            items,
            labels: std::mem::take(&mut self.labels).into_iter().map(|(ident, _)| ident).collect(),
            places: std::mem::take(&mut self.places),
            ends: std::mem::take(&mut self.ends),
        };
        self.errors.extend(flow::check(&protocol, &lacking));
        Ok(protocol)
    }

    /// The module's attributes, those that stand inside it too.
    fn module_attributes(&mut self, module: &RawModule<'_>) -> Vec<syn::Attribute> {
        let mut attributes = self.item_attributes(&module.attributes, "p2p_protocol");
        attributes.extend(self.item_attributes(&module.inner, "p2p_protocol"));
        attributes
    }

    pub(super) fn visibility(&mut self, tokens: &[Token]) -> syn::Visibility {
        match tokens {
            [] => syn::Visibility::Inherited,
            _ => syn::parse2(stream_of(tokens)).unwrap_or(syn::Visibility::Inherited),
        }
    }

    /// `#[rank]` and `#[message]` on what can have neither.
    fn misplaced_attributes(&mut self, items: &[RawItem<'_>]) {
        for item in items {
            let fits = |name: &str| match name {
                "rank" => item.kind == ItemKind::Function,
                _ => matches!(item.kind, ItemKind::Alias | ItemKind::Struct),
            };
            for (name, what) in [
                ("rank", "a role is a function: `#[rank(0)] fn root() { .. }`"),
                ("message", "a message is a type or a struct: `#[message] type Block = [f32];`"),
            ] {
                let mut found = item.attributes.iter().filter(|attribute| attribute.is(name));
                let Some(first) = found.next() else { continue };
                if !fits(name) {
                    let message = format!("`#[{name}]` does not belong here");
                    self.wrong_help(first.region(), message, what);
                }
                if let Some(second) = found.next() {
                    let message = format!("`#[{name}]` is given twice");
                    self.wrong_help(second.region(), message, "keep one of them");
                }
            }
            let ours = item.kind == ItemKind::Function || item.attribute("message").is_some();
            if let Some(condition) = item.attribute("cfg").filter(|_| ours) {
                self.wrong_help(
                    condition.region(),
                    "a part of a protocol cannot depend on how it is compiled",
                    "put `#[cfg(..)]` on the module, and write one module for each case",
                );
            }
        }
    }

    /// Integer constants are known to the language. The others pass through, and so does all that
    /// the language does not know.
    fn constants(&mut self, items: &[RawItem<'_>]) -> (Vec<Constant>, Vec<syn::Item>) {
        let mut rest = Vec::new();
        let mut open = Vec::new();
        for item in items {
            match item.kind {
                ItemKind::Constant => match self.constant_head(item) {
                    Some(head) => open.push((item, head)),
                    None => rest.push(passed(item)),
                },
                ItemKind::Other => rest.push(passed(item)),
                ItemKind::Struct if item.attribute("message").is_none() => rest.push(passed(item)),
                _ => {}
            }
        }
        (self.constant_values(open, &mut rest), rest)
    }

    /// The name and value of `const NAME: integer = value;`.
    fn constant_head<'t>(&mut self, item: &RawItem<'t>) -> Option<(Name, Cursor<'t>)> {
        let mut cursor = item.content;
        cursor.next();
        let ident = cursor.next()?.word()?;
        let ty = cursor.take(":").then(|| cursor.until(|token| token.is_mark('=')))?;
        if ident == "_" || !is_integer_type(ty.rest) || !cursor.take("=") {
            return None;
        }
        let value = cursor.until(|token| token.is_mark(';'));
        Some((self.declare(ident, Meaning::Opaque), value))
    }

    /// Reads the values in the order in which they depend on each other.
    fn constant_values<'t>(
        &mut self,
        mut open: Vec<(&RawItem<'t>, (Name, Cursor<'t>))>,
        rest: &mut Vec<syn::Item>,
    ) -> Vec<Constant> {
        let mut constants = Vec::new();
        self.constants = vec![0; self.scope.declared() as usize];
        loop {
            let before = open.len();
            open.retain(|(item, (name, value))| {
                let Some(value) = self.understood(*value) else { return true };
                let Ok(number) = self.constant_number(&value) else { return false };
                self.constants[name.id as usize] = number;
                self.scope.admit(name, Meaning::Constant);
                match self.rust(item.whole(), syn::parse2::<syn::ItemConst>) {
                    Ok(item) => constants.push(Constant { name: name.clone(), item, value }),
                    Err(_) => rest.push(passed(item)),
                }
                false
            });
            if open.len() == before {
                rest.extend(open.iter().map(|(item, _)| passed(item)));
                return constants;
            }
        }
    }

    fn constant_number(&mut self, value: &Expression) -> Parsed<i64> {
        let number = Numbers::fixed(&self.constants).integer(value);
        number.map_err(|fault| self.report(fault.error()))
    }

    /// An integer made of constants alone, which takes up all that is left.
    pub(super) fn fixed_value(&mut self, cursor: &mut Cursor<'_>) -> Parsed<i64> {
        let known = std::mem::take(&mut self.size_known);
        let value = self.integer(cursor);
        self.size_known = known;
        let value = value?;
        self.finished(*cursor, "one number")?;
        self.constant_number(&value)
    }

    /// The sizes that the protocol is for.
    fn sizes(&mut self, ranks: Option<&Argument<'_>>, name: Region) -> Sizes {
        let Some(ranks) = ranks else {
            return Sizes { pattern: Pattern::All, span: name.first, end: name.last };
        };
        let region = ranks.value.remainder();
        let mark = self.scope.open();
        self.size_known = true;
        let mut value = ranks.value;
        let pattern = self.pattern(&mut value, false);
        self.size_known = false;
        self.scope.close(mark);
        let pattern = pattern.unwrap_or(Pattern::All);
        Sizes { pattern, span: region.joined(), end: region.last }
    }

    /// The attributes of an item but for the one that is ours.
    pub(super) fn item_attributes(
        &mut self,
        attributes: &[Attribute<'_>],
        ours: &str,
    ) -> Vec<syn::Attribute> {
        let others = attributes.iter().filter(|attribute| !attribute.is(ours));
        others.filter_map(|attribute| self.rust_attribute(*attribute)).collect()
    }
}
