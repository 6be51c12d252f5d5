//! The module and what is in it: messages, constants, roles, and the rest, which passes through.

use proc_macro2::Delimiter;
use syn::parse::Parser as _;

use super::{Parsed, Parser};
use crate::grammar::tokens::{Cursor, Region, Token, region_of, stream_of};

const WHERE: &str = "`#[p2p_protocol]` stands on a module with its content: `mod name { .. }`";

/// `#[..]`
#[derive(Clone, Copy)]
pub(super) struct Attribute<'t> {
    /// The mark.
    mark: &'t Token,
    /// The brackets with what is between them.
    brackets: &'t Token,
}

impl<'t> Attribute<'t> {
    /// Whether it is `#[name]` or `#[name(..)]`.
    pub(super) fn is(self, name: &str) -> bool {
        self.brackets.inside.first().is_some_and(|first| first.is_word(name))
    }

    /// The inside of `#[name(..)]`, empty for `#[name]`.
    pub(super) fn arguments(self) -> Cursor<'t> {
        let end = self.region();
        match &self.brackets.inside[..] {
            [_, group] if group.is_group(Delimiter::Parenthesis) => group.enter(),
            [_, rest @ ..] => Cursor { rest, end },
            [] => Cursor { rest: &[], end },
        }
    }

    /// All of it.
    pub(super) fn region(self) -> Region {
        self.mark.region().to(self.brackets.region())
    }
}

/// What kind of item begins with a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Alias,
    Struct,
    Constant,
    Function,
    Other,
}

/// An item, taken apart as far as its kind.
pub(super) struct RawItem<'t> {
    pub(super) attributes: Vec<Attribute<'t>>,
    pub(super) visibility: &'t [Token],
    pub(super) kind: ItemKind,
    /// From the keyword to the end.
    pub(super) content: Cursor<'t>,
    /// All of it, attributes included.
    pub(super) all: &'t [Token],
}

impl<'t> RawItem<'t> {
    /// Where it stands, without its attributes.
    pub(super) fn region(&self) -> Region {
        self.content.remainder()
    }

    /// All of it, for Rust's parser.
    pub(super) fn whole(&self) -> Cursor<'t> {
        Cursor { rest: self.all, end: self.region() }
    }

    /// Where its head stands: all but its body.
    pub(super) fn head(&self) -> Region {
        let mut content = self.content;
        content.until(|token| token.is_group(Delimiter::Brace)).remainder()
    }

    /// The attribute of this name.
    pub(super) fn attribute(&self, name: &str) -> Option<Attribute<'t>> {
        self.attributes.iter().copied().find(|attribute| attribute.is(name))
    }
}

/// The module, taken apart as far as its items.
pub(super) struct RawModule<'t> {
    pub(super) attributes: Vec<Attribute<'t>>,
    pub(super) visibility: &'t [Token],
    pub(super) name: &'t proc_macro2::Ident,
    /// Attributes of the module that stand inside it, as its documentation may.
    pub(super) inner: Vec<Attribute<'t>>,
    pub(super) items: Vec<RawItem<'t>>,
}

impl Parser {
    /// The attribute as Rust's; nothing if it is not even that.
    pub(super) fn rust_attribute(&mut self, attribute: Attribute<'_>) -> Option<syn::Attribute> {
        self.rust_depth(&attribute.brackets.inside, attribute.region()).ok()?;
        let stream = stream_of([attribute.mark, attribute.brackets]);
        // What is wrong with an attribute of somebody else's is for rustc to say.
        let mut parsed = syn::Attribute::parse_outer.parse2(stream).ok()?;
        parsed.pop()
    }

    /// Takes the module apart.
    pub(super) fn raw_module<'t>(&mut self, tokens: &'t [Token]) -> Parsed<RawModule<'t>> {
        let end = region_of(tokens).unwrap_or_else(|| proc_macro2::Span::call_site().into());
        let mut cursor = Cursor { rest: tokens, end };
        let attributes = outer_attributes(&mut cursor);
        let visibility = visibility(&mut cursor);
        let start = cursor.region();
        if !cursor.take_word("mod") {
            return Err(self.wrong_help(start, "this is not a module", WHERE));
        }
        let Some(name) = cursor.next().and_then(Token::word) else {
            return Err(self.wrong_help(start, "expected the module's name", WHERE));
        };
        let Some(body) = cursor.take_group(Delimiter::Brace) else {
            let message = "the module's content must stand here, not in another file";
            return Err(self.wrong_help(start.to(name.span().into()), message, WHERE));
        };
        self.finished(cursor, WHERE)?;
        let mut inside = body.enter();
        let inner = inner_attributes(&mut inside);
        let mut items = Vec::new();
        while !inside.is_empty() {
            items.extend(self.raw_item(&mut inside));
        }
        Ok(RawModule { attributes, visibility, name, inner, items })
    }

    fn raw_item<'t>(&mut self, cursor: &mut Cursor<'t>) -> Option<RawItem<'t>> {
        let start = *cursor;
        let attributes = outer_attributes(cursor);
        let visibility = visibility(cursor);
        if cursor.is_empty() {
            self.wrong(start.remainder(), "expected an item after this");
            return None;
        }
        let kind = item_kind(*cursor);
        let body = *cursor;
        let semicolon = matches!(kind, ItemKind::Alias | ItemKind::Constant)
            || cursor.at_word("use")
            || cursor.at_word("static");
        cursor.until(|token| token.is_mark(';') || !semicolon && token.is_group(Delimiter::Brace));
        cursor.next();
        let content = Cursor { rest: cursor.since(body), end: cursor.region() };
        Some(RawItem { attributes, visibility, kind, content, all: cursor.since(start) })
    }
}

/// Reads `#[..]` as often as it follows.
fn outer_attributes<'t>(cursor: &mut Cursor<'t>) -> Vec<Attribute<'t>> {
    let mut attributes = Vec::new();
    while let [mark, brackets, ..] = cursor.rest
        && mark.is_mark('#')
        && brackets.is_group(Delimiter::Bracket)
    {
        attributes.push(Attribute { mark, brackets });
        cursor.rest = &cursor.rest[2..];
    }
    attributes
}

/// Reads `#![..]` as often as it follows.
fn inner_attributes<'t>(cursor: &mut Cursor<'t>) -> Vec<Attribute<'t>> {
    let mut attributes = Vec::new();
    while let [mark, inner, brackets, ..] = cursor.rest
        && mark.is_mark('#')
        && inner.is_mark('!')
        && brackets.is_group(Delimiter::Bracket)
    {
        attributes.push(Attribute { mark, brackets });
        cursor.rest = &cursor.rest[3..];
    }
    attributes
}

/// Reads `pub`, `pub(crate)`.
fn visibility<'t>(cursor: &mut Cursor<'t>) -> &'t [Token] {
    let start = *cursor;
    if cursor.take_word("pub") {
        cursor.take_group(Delimiter::Parenthesis);
    }
    cursor.since(start)
}

fn item_kind(cursor: Cursor<'_>) -> ItemKind {
    let word = |index: usize| cursor.rest.get(index).map_or("", |token| token.text.as_str());
    match word(0) {
        "type" => ItemKind::Alias,
        "struct" => ItemKind::Struct,
        "fn" => ItemKind::Function,
        "const" | "async" | "unsafe" | "extern" if (1..4).any(|index| word(index) == "fn") => {
            ItemKind::Function
        }
        "const" => ItemKind::Constant,
        _ => ItemKind::Other,
    }
}

/// An item that passes through as it is; whether it is right is for rustc to say.
pub(super) fn passed(item: &RawItem<'_>) -> syn::Item {
    syn::Item::Verbatim(stream_of(item.all))
}
