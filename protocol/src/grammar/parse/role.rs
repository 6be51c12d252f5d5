//! Roles: `#[rank(PATTERN)] fn name(parameters) { body }`.

use proc_macro2::{Delimiter, Ident};

use super::items::{ItemKind, RawItem};
use super::payload::is_integer_type;
use super::{Parsed, Parser};
use crate::grammar::scope::Meaning;
use crate::grammar::syntax::{Name, Parameter, Pattern, Role};
use crate::grammar::text;
use crate::grammar::tokens::{Cursor, Region, Token};

/// A role's head.
pub(super) struct RawRole<'i, 't> {
    item: &'i RawItem<'t>,
    name: &'t Ident,
    parameters: Vec<Parameter>,
    body: &'t Token,
}

/// A parameter that some role has, with its type's text.
type Known = (Parameter, String);

impl Parser {
    /// The heads of all roles, and their parameters, each once.
    pub(super) fn signatures<'i, 't>(
        &mut self,
        items: &'i [RawItem<'t>],
    ) -> (Vec<RawRole<'i, 't>>, Vec<Parameter>) {
        let mut roles = Vec::new();
        let mut known: Vec<Known> = Vec::new();
        for item in items.iter().filter(|item| item.kind == ItemKind::Function) {
            if item.attribute("rank").is_none() {
                let help = "say which ranks do this: `#[rank(0)]`, `#[rank(1..)]`, `#[rank(_)]`";
                self.wrong_help(item.head(), "a function here is a role, and needs ranks", help);
            }
            if let Ok(role) = self.signature(item, &mut known) {
                roles.push(role);
            }
        }
        (roles, known.into_iter().map(|(parameter, _)| parameter).collect())
    }

    fn signature<'i, 't>(
        &mut self,
        item: &'i RawItem<'t>,
        known: &mut Vec<Known>,
    ) -> Parsed<RawRole<'i, 't>> {
        let help = "a role is written `fn name(steps: usize) { .. }`";
        let mut cursor = item.content;
        let region = cursor.region();
        if !cursor.take_word("fn") {
            self.wrong_help(region, "a role is a plain function", help);
            cursor.until(|token| token.is_word("fn"));
            cursor.next();
        }
        let Some(name) = cursor.next().and_then(Token::word) else {
            return Err(self.wrong_help(region, "expected the role's name", help));
        };
        if cursor.at("<") {
            self.wrong_help(cursor.region(), "a role has no generic parameters", help);
            cursor.until(|token| token.is_group(Delimiter::Parenthesis));
        }
        let Some(list) = cursor.take_group(Delimiter::Parenthesis) else {
            return Err(self.wrong_help(cursor.region(), "expected `(`", help));
        };
        let parameters = self.parameters(list.enter(), known);
        let extra = cursor.until(|token| token.is_group(Delimiter::Brace));
        if !extra.is_empty() {
            self.wrong_help(extra.remainder(), "a role returns nothing and has no bounds", help);
        }
        let Some(body) = cursor.take_group(Delimiter::Brace) else {
            return Err(self.wrong_help(item.region(), "a role needs a body", help));
        };
        Ok(RawRole { item, name, parameters, body })
    }

    fn parameters(&mut self, mut cursor: Cursor<'_>, known: &mut Vec<Known>) -> Vec<Parameter> {
        let mut parameters: Vec<Parameter> = Vec::new();
        while !cursor.is_empty() {
            let mut part = cursor.until(|token| token.is_mark(','));
            cursor.take(",");
            let Ok(parameter) = self.parameter(&mut part, known) else { continue };
            if parameters.iter().any(|other| other.name.id == parameter.name.id) {
                let message = format!("the parameter `{}` is there twice", parameter.name);
                self.wrong(parameter.name.span().into(), message);
            } else {
                parameters.push(parameter);
            }
        }
        parameters
    }

    fn parameter(&mut self, cursor: &mut Cursor<'_>, known: &mut Vec<Known>) -> Parsed<Parameter> {
        let region = cursor.remainder();
        let ident = cursor.next().and_then(Token::word).cloned();
        let (Some(ident), true) = (ident, cursor.take(":")) else {
            let help = "a parameter is a name with an integer type: `steps: usize`";
            return Err(self.wrong_help(region, "this is not a parameter", help));
        };
        let ty = cursor.rest;
        if !is_integer_type(ty) {
            let help = "use `usize`, or another integer type of at most 64 bits";
            return Err(self.wrong_help(cursor.remainder(), "parameters are integers", help));
        }
        let ty_text = text::line(ty);
        let ty = self.rust(*cursor, syn::parse2::<syn::Type>)?;
        let before = known.iter().find(|(parameter, _)| parameter.name.ident == ident);
        let Some((first, first_type)) = before else {
            let name = self.declare(&ident, Meaning::Parameter);
            known.push((Parameter { name: name.clone(), ty: ty.clone() }, ty_text));
            return Ok(Parameter { name, ty });
        };
        let name = Name { ident, id: first.name.id };
        if first_type != &ty_text {
            let message =
                format!("`{name}` is `{ty_text}` here and `{first_type}` in another role");
            let help = "roles that name the same parameter mean the same value; give it one type";
            self.wrong_help(region, message, help);
        }
        Ok(Parameter { name, ty })
    }

    /// The roles themselves, and of each whether it lacks statements that were wrong.
    pub(super) fn roles(&mut self, heads: Vec<RawRole<'_, '_>>) -> (Vec<Role>, Vec<bool>) {
        let shared = self.scope.declared();
        let mut names: Vec<(String, Region)> =
            self.messages.iter().map(|message| (message.text.clone(), message.region)).collect();
        let messages = names.len();
        let (mut roles, mut lacking) = (Vec::new(), Vec::new());
        for head in heads {
            let camel = camel_case(&head.name.to_string());
            let region = Region::from(head.name.span());
            match names.iter().position(|(other, _)| other == &camel) {
                Some(index) if index < messages => {
                    let message =
                        format!("role `{}` and a message would both be `{camel}`", head.name);
                    self.wrong_help(region, message, "give one of them another name");
                }
                Some(_) => {
                    let message = format!("there are two roles `{}`", head.name);
                    self.wrong_help(region, message, "give one of them another name");
                }
                None => names.push((camel, region)),
            }
            self.scope.recount(shared);
            let left_out = self.left_out;
            roles.push(self.role(head));
            lacking.push(self.left_out > left_out);
        }
        (roles, lacking)
    }

    fn role(&mut self, head: RawRole<'_, '_>) -> Role {
        let mark = self.scope.open();
        for parameter in &head.parameters {
            self.scope.admit(&parameter.name, Meaning::Parameter);
        }
        self.size_known = true;
        let pattern = head.item.attribute("rank").and_then(|attribute| {
            let mut arguments = attribute.arguments();
            if arguments.is_empty() {
                let help = "write `#[rank(0)]`, `#[rank(1..)]`, `#[rank(_)]`";
                self.wrong_help(attribute.region(), "which ranks?", help);
                return None;
            }
            self.pattern(&mut arguments, true).ok()
        });
        self.rank_known = true;
        let body = self.block(head.body.enter());
        self.rank_known = false;
        self.size_known = false;
        let names = self.scope.declared();
        self.scope.close(mark);
        Role {
            name: head.name.clone(),
            attributes: self.item_attributes(&head.item.attributes, "rank"),
            pattern: pattern.unwrap_or(Pattern::All),
            parameters: head.parameters,
            body,
            place: self.place(head.name.span().into()),
            names,
        }
    }
}

/// The name as a type's.
fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    for part in name.split('_') {
        let mut letters = part.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.extend(letters);
    }
    camel
}
