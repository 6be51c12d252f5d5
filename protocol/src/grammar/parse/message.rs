//! Messages: `#[message(tag = 0)] type Block = [f32];` and `#[message] struct Header { .. }`.

use proc_macro2::TokenTree;

use super::attribute::Argument;
use super::items::{Attribute, ItemKind, RawItem, passed};
use super::payload::Carried;
use super::{MessageHead, Parsed, Parser};
use crate::grammar::syntax::{Expression, Message, Payload};
use crate::grammar::text;
use crate::grammar::tokens::{Cursor, Region, Token};

impl Parser {
    /// All messages: those that carry something the language knows.
    pub(super) fn messages(
        &mut self,
        items: &[RawItem<'_>],
        rest: &mut Vec<syn::Item>,
    ) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        let mut given: Vec<Option<i32>> = Vec::new();
        for item in items {
            let attribute = item.attribute("message");
            let is_message = match item.kind {
                ItemKind::Alias => attribute.is_some() || !is_helper_alias(item),
                ItemKind::Struct => attribute.is_some(),
                _ => false,
            };
            if !is_message {
                if item.kind == ItemKind::Alias {
                    rest.push(passed(item));
                }
            } else if let Ok((message, tag)) = self.message(item, attribute) {
                messages.push(message);
                given.push(tag);
            }
        }
        number_tags(&mut messages, &given);
        messages
    }

    /// One message and the tag given for it.
    fn message(
        &mut self,
        item: &RawItem<'_>,
        attribute: Option<Attribute<'_>>,
    ) -> Parsed<(Message, Option<i32>)> {
        let mut cursor = item.content;
        cursor.next();
        let Some(name) = cursor.next().and_then(Token::word) else {
            return Err(self.wrong(item.region(), "expected the message's name"));
        };
        self.announce(name, &cursor);
        let attributes = self.item_attributes(&item.attributes, "message");
        let arguments =
            attribute.map_or(Vec::new(), |found| self.message_arguments(found.arguments()));
        let (payload, signature, length) = match item.kind {
            ItemKind::Struct => {
                let mut parsed = self.rust(item.content, syn::parse2::<syn::ItemStruct>)?;
                parsed.attrs.clone_from(&attributes);
                parsed.vis = self.visibility(item.visibility);
                (Payload::Struct(Box::new(parsed)), name.to_string(), None)
            }
            _ => {
                let carried = self.alias_payload(name, &mut cursor)?;
                (carried.payload, carried.signature, carried.length)
            }
        };
        let mut message = Message {
            name: name.clone(),
            attributes,
            visibility: self.visibility(item.visibility),
            tag: 0,
            communicator: 0,
            count: None,
            payload,
            signature,
            length,
            place: self.place(item.region()),
        };
        let tag = self.message_details(&mut message, &arguments);
        Ok((message, tag))
    }

    /// Makes the message known, whatever else is wrong with it.
    fn announce(&mut self, name: &proc_macro2::Ident, after: &Cursor<'_>) {
        let text = name.to_string();
        let region = Region::from(name.span());
        if self.messages.iter().any(|other| other.text == text) {
            let message = format!("there are two messages `{text}`");
            self.wrong_help(region, message, "give one of them another name");
        }
        let payload = match after.rest {
            [equals, payload @ .., _] if equals.is_mark('=') => text::line(payload),
            _ => text.clone(),
        };
        self.messages.push(MessageHead { text, payload, region });
    }

    fn alias_payload(
        &mut self,
        name: &proc_macro2::Ident,
        cursor: &mut Cursor<'_>,
    ) -> Parsed<Carried> {
        let help = format!("write `type {name} = [f32];`");
        if !cursor.take("=") {
            return Err(self.wrong_help(cursor.region(), "expected `=`", help));
        }
        let mut payload = cursor.until(|token| token.is_mark(';'));
        if payload.is_empty() {
            return Err(self.wrong_help(cursor.region(), "expected a type", help));
        }
        self.payload(&mut payload)
    }

    /// Takes over what `#[message(..)]` says; gives the tag back.
    fn message_details(
        &mut self,
        message: &mut Message,
        arguments: &[Argument<'_>],
    ) -> Option<i32> {
        let mut tag = None;
        for argument in arguments {
            let mut value = argument.value;
            let region = value.remainder();
            match argument.key {
                "tag" => {
                    let Ok(number) = self.fixed_value(&mut value) else { continue };
                    match i32::try_from(number) {
                        Ok(number) if number >= 0 => tag = Some(number),
                        _ => {
                            let message = format!("{number} cannot be a tag");
                            self.wrong_help(region, message, "tags are 0 to 32767 on every MPI");
                        }
                    }
                }
                "count" => message.count = self.count(value, &message.payload),
                _ => message.communicator = self.communicator(value).unwrap_or(0),
            }
        }
        tag
    }

    fn count(&mut self, mut value: Cursor<'_>, payload: &Payload) -> Option<Expression> {
        let region = value.remainder();
        self.rank_known = true;
        self.size_known = true;
        let count = self.integer(&mut value);
        self.rank_known = false;
        self.size_known = false;
        let count = count.ok()?;
        self.finished(value, "one number").ok()?;
        if matches!(payload, Payload::Slice(_)) {
            return Some(count);
        }
        let help = "leave `count` away, or carry a slice `[T]`";
        self.wrong_help(region, "only a slice has a count of its own", help);
        None
    }

    fn communicator(&mut self, value: Cursor<'_>) -> Parsed<u16> {
        let [Token { tree: TokenTree::Ident(ident), text, .. }] = value.rest else {
            let help = "a communicator is a name: `communicator = halo`";
            return Err(self.wrong_help(value.remainder(), "expected a name", help));
        };
        let known = self.communicators.iter().position(|(_, known)| known == text);
        let index = known.unwrap_or_else(|| {
            self.communicators.push((ident.clone(), text.clone()));
            self.communicators.len() - 1
        });
        u16::try_from(index + 1)
            .map_err(|_| self.wrong(value.remainder(), "there are too many communicators"))
    }
}

/// `type Name<..>`: no message, since its element is not one type.
fn is_helper_alias(item: &RawItem<'_>) -> bool {
    item.content.rest.get(2).is_some_and(|token| token.is_mark('<'))
}

/// Numbers the messages that were given no tag, in order, skipping those given.
fn number_tags(messages: &mut [Message], given: &[Option<i32>]) {
    let mut next = 0;
    for (message, tag) in messages.iter_mut().zip(given) {
        message.tag = tag.unwrap_or_else(|| {
            while given.contains(&Some(next)) {
                next += 1;
            }
            next += 1;
            next - 1
        });
    }
}
