//! Tokens as one line of source text, spaced as rustfmt would.

use proc_macro2::{Delimiter, Spacing, TokenTree};

use super::tokens::Token;

/// The tokens in one line: "for dest in 1..size", "send(rank + 1, Block)".
pub(super) fn line(tokens: &[Token]) -> String {
    let mut text = String::new();
    write(&mut text, tokens);
    text
}

/// What a token is to its neighbours.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Start,
    /// A name, a literal, or something in brackets.
    Operand,
    /// `(..)` or `[..]`, which a call or an index sets close.
    Brackets,
    Braces,
    Keyword,
    Binary,
    Unary,
    /// `.`, `..`, `::`: close on both sides.
    Tight,
    /// `,`, `;`, `:`: close on the left.
    Separator,
}

fn write(text: &mut String, tokens: &[Token]) {
    let mut before = Shape::Start;
    let mut position = 0;
    while let Some(token) = tokens.get(position) {
        let length = operator_length(&tokens[position..]);
        let shape = shape_of(&tokens[position..position + length], before);
        if spaced(before, shape) {
            text.push(' ');
        }
        for part in &tokens[position..position + length] {
            match &part.tree {
                TokenTree::Group(group) => write_group(text, group.delimiter(), &token.inside),
                TokenTree::Ident(_) => text.push_str(&part.text),
                TokenTree::Literal(literal) => text.push_str(&literal.to_string()),
                TokenTree::Punct(punct) => text.push(punct.as_char()),
            }
        }
        before =
            if matches!(shape, Shape::Brackets | Shape::Braces) { Shape::Operand } else { shape };
        position += length;
    }
}

fn write_group(text: &mut String, delimiter: Delimiter, inside: &[Token]) {
    let (open, close) = match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::Brace if inside.is_empty() => ("{", "}"),
        Delimiter::Brace => ("{ ", " }"),
        Delimiter::None => ("", ""),
    };
    text.push_str(open);
    write(text, inside);
    text.push_str(close);
}

/// How many tokens the operator has that starts here; 1 for everything else.
fn operator_length(tokens: &[Token]) -> usize {
    let joint = |token: &&Token| {
        matches!(&token.tree, TokenTree::Punct(punct)
            if punct.spacing() == Spacing::Joint && punct.as_char() != '\'')
    };
    let joined = tokens.iter().take_while(joint).count();
    let ends = tokens.get(joined).is_some_and(|token| matches!(token.tree, TokenTree::Punct(_)));
    (joined + usize::from(ends)).clamp(1, tokens.len())
}

fn shape_of(tokens: &[Token], before: Shape) -> Shape {
    match &tokens[0].tree {
        TokenTree::Literal(_) => Shape::Operand,
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Shape::Braces,
        TokenTree::Group(_) => Shape::Brackets,
        TokenTree::Ident(_) => match tokens[0].text.as_str() {
            "as" | "break" | "continue" | "else" | "for" | "if" | "in" | "let" | "loop"
            | "match" => Shape::Keyword,
            _ => Shape::Operand,
        },
        TokenTree::Punct(punct) => match punct.as_char() {
            '.' | '\'' | '?' => Shape::Tight,
            ':' if tokens.len() > 1 => Shape::Tight,
            ',' | ';' | ':' => Shape::Separator,
            '!' | '-' | '&' | '*' if before != Shape::Operand => Shape::Unary,
            _ => Shape::Binary,
        },
    }
}

/// Whether there is a space between the two. A label's tick has one before it.
fn spaced(before: Shape, shape: Shape) -> bool {
    match (before, shape) {
        (Shape::Start | Shape::Tight | Shape::Unary, _) => false,
        (Shape::Keyword, Shape::Tight) => true,
        (_, Shape::Separator | Shape::Tight) => false,
        (Shape::Operand, Shape::Brackets) => false,
        _ => true,
    }
}
