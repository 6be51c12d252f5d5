//! The arms of a `macro_rules!`: a pattern that arguments match, and what takes their place.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use rustc_hash::FxHashMap;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};

use super::{hygiene, placed};

/// `(pattern) => { body };`
pub(super) struct Arm {
    pattern: Vec<Part>,
    body: Vec<Part>,
    /// The variables that the body binds and that are its own.
    pub(super) binds: Vec<String>,
    /// The body declares items, or variables that its arguments name.
    pub(super) declares: bool,
}

/// A piece of a pattern or of a body.
enum Part {
    Token(TokenTree),
    Group(Delimiter, Vec<Part>),
    /// `$name:fragment`, in a body without the fragment.
    Variable(String, String),
    /// `$( .. ) separator op`
    Repeat {
        parts: Vec<Part>,
        separator: Option<TokenTree>,
        operator: char,
    },
}

/// What arguments a macro has, by the names of its pattern.
pub(super) type Bindings = FxHashMap<String, Binding>;

#[derive(Clone)]
pub(super) enum Binding {
    One(TokenStream),
    /// For each repetition.
    Many(Vec<Binding>),
}

/// The arms of a definition, if all of it is understood.
pub(super) fn arms(definition: TokenStream) -> Option<Vec<Arm>> {
    let tokens: Vec<TokenTree> = definition.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut arms = Vec::new();
    while !rest.is_empty() {
        let [TokenTree::Group(pattern), TokenTree::Punct(a), TokenTree::Punct(b), after @ ..] =
            rest
        else {
            return None;
        };
        let [TokenTree::Group(body), after @ ..] = after else { return None };
        if (a.as_char(), b.as_char()) != ('=', '>') {
            return None;
        }
        arms.push(Arm {
            pattern: parts(pattern.stream(), true)?,
            body: parts(body.stream(), false)?,
            binds: hygiene::bound(body.stream()),
            declares: hygiene::declares(body.stream()),
        });
        rest = match after {
            [TokenTree::Punct(end), after @ ..] if end.as_char() == ';' => after,
            [] => after,
            _ => return None,
        };
    }
    Some(arms)
}

fn parts(tokens: TokenStream, in_pattern: bool) -> Option<Vec<Part>> {
    let mut tokens = tokens.into_iter().peekable();
    let mut parts = Vec::new();
    while let Some(token) = tokens.next() {
        let part = match token {
            TokenTree::Group(group) => {
                Part::Group(group.delimiter(), self::parts(group.stream(), in_pattern)?)
            }
            TokenTree::Punct(it) if it.as_char() == '$' => match tokens.next()? {
                TokenTree::Ident(word) if word == "crate" => Part::Token(word.into()),
                TokenTree::Ident(own) if in_pattern => {
                    let TokenTree::Punct(colon) = tokens.next()? else { return None };
                    let TokenTree::Ident(fragment) = tokens.next()? else { return None };
                    let named = (own.to_string(), fragment.to_string());
                    (colon.as_char() == ':').then_some(Part::Variable(named.0, named.1))?
                }
                TokenTree::Ident(own) => Part::Variable(own.to_string(), String::new()),
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                    let parts = self::parts(group.stream(), in_pattern)?;
                    let first = tokens.next()?;
                    let (separator, operator) = match operator(&first) {
                        Some(operator) => (None, operator),
                        None => (Some(first), operator(&tokens.next()?)?),
                    };
                    Part::Repeat { parts, separator, operator }
                }
                _ => return None,
            },
            other => Part::Token(other),
        };
        parts.push(part);
    }
    Some(parts)
}

fn operator(token: &TokenTree) -> Option<char> {
    match token {
        TokenTree::Punct(it) => Some(it.as_char()).filter(|it| matches!(it, '*' | '+' | '?')),
        _ => None,
    }
}

impl Arm {
    /// What the names of the pattern stand for, if the arguments match it.
    pub(super) fn bindings(&self, arguments: &TokenStream) -> Option<Bindings> {
        let parse = |input: ParseStream<'_>| {
            let mut bindings = Bindings::default();
            matches(&self.pattern, input, &mut bindings)?;
            Ok(bindings)
        };
        parse.parse2(arguments.clone()).ok()
    }

    /// The body, with what the names stand for, as it stands where the macro is used.
    pub(super) fn transcribe(&self, bindings: &Bindings, at: Span) -> Option<TokenStream> {
        transcribe(&self.body, bindings, at)
    }
}

fn matches(parts: &[Part], input: ParseStream<'_>, bindings: &mut Bindings) -> syn::Result<()> {
    for part in parts {
        match part {
            Part::Token(wanted) => {
                let token: TokenTree = input.parse()?;
                if !is_same(&token, wanted) {
                    return Err(input.error("another token"));
                }
            }
            Part::Group(delimiter, inner) => {
                let group: Group = input.parse()?;
                if group.delimiter() != *delimiter {
                    return Err(input.error("other brackets"));
                }
                let parse = |input: ParseStream<'_>| matches(inner, input, bindings);
                parse.parse2(group.stream())?;
            }
            Part::Variable(own, fragment) => {
                let tokens = self::fragment(fragment, input)?;
                bindings.insert(own.clone(), Binding::One(tokens));
            }
            Part::Repeat { parts, separator, operator } => {
                let rounds = rounds(parts, separator.as_ref(), *operator, input)?;
                for own in names(parts) {
                    let of = rounds.iter().filter_map(|round| round.get(own).cloned());
                    bindings.insert(own.to_owned(), Binding::Many(of.collect()));
                }
            }
        }
    }
    Ok(())
}

/// As many repetitions as there are.
fn rounds(
    parts: &[Part],
    separator: Option<&TokenTree>,
    operator: char,
    input: ParseStream<'_>,
) -> syn::Result<Vec<Bindings>> {
    let mut rounds = Vec::new();
    while !input.is_empty() && (operator != '?' || rounds.is_empty()) {
        let ahead = input.fork();
        if let (Some(separator), false) = (separator, rounds.is_empty()) {
            let token: TokenTree = ahead.parse()?;
            if !is_same(&token, separator) {
                break;
            }
        }
        let mut round = Bindings::default();
        let matched = matches(parts, &ahead, &mut round).is_ok();
        if !matched || ahead.cursor() == input.cursor() {
            break;
        }
        input.advance_to(&ahead);
        rounds.push(round);
    }
    if operator == '+' && rounds.is_empty() {
        return Err(input.error("at least one is needed"));
    }
    Ok(rounds)
}

/// The names in a repetition.
fn names(parts: &[Part]) -> Vec<&str> {
    let inner = |part| match part {
        &Part::Token(_) => Vec::new(),
        Part::Variable(own, _) => vec![own.as_str()],
        Part::Group(_, parts) | Part::Repeat { parts, .. } => names(parts),
    };
    parts.iter().flat_map(inner).collect()
}

fn is_same(token: &TokenTree, wanted: &TokenTree) -> bool {
    match (token, wanted) {
        (TokenTree::Group(_), _) | (_, TokenTree::Group(_)) => false,
        _ => token.to_string() == wanted.to_string(),
    }
}

/// Takes a piece of the arguments. Expressions and types stay one, whatever stands around them.
fn fragment(kind: &str, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    fn of<T: Parse + ToTokens>(input: ParseStream<'_>) -> syn::Result<TokenStream> {
        input.parse::<T>().map(ToTokens::into_token_stream)
    }
    let one = |tokens| TokenTree::Group(Group::new(Delimiter::None, tokens)).into();
    match kind {
        "expr" | "expr_2021" => of::<syn::Expr>(input).map(one),
        "ty" => of::<syn::Type>(input).map(one),
        "ident" => input.call(Ident::parse_any).map(ToTokens::into_token_stream),
        "tt" => of::<TokenTree>(input),
        "literal" => of::<syn::Lit>(input),
        "block" => of::<syn::Block>(input),
        "path" => of::<syn::Path>(input),
        "lifetime" => of::<syn::Lifetime>(input),
        "vis" => of::<syn::Visibility>(input),
        "item" => of::<syn::Item>(input),
        "meta" => of::<syn::Meta>(input),
        "pat" => {
            input.call(syn::Pat::parse_multi_with_leading_vert).map(ToTokens::into_token_stream)
        }
        "pat_param" => input.call(syn::Pat::parse_single).map(ToTokens::into_token_stream),
        _ => Err(input.error("this kind of fragment is not read")),
    }
}

fn transcribe(parts: &[Part], bindings: &Bindings, at: Span) -> Option<TokenStream> {
    let mut made = TokenStream::new();
    for part in parts {
        match part {
            Part::Token(token) => made.extend([placed(token.clone(), at)]),
            Part::Group(delimiter, inner) => {
                let group = Group::new(*delimiter, transcribe(inner, bindings, at)?);
                made.extend([placed(group.into(), at)]);
            }
            Part::Variable(own, _) => match bindings.get(own)? {
                Binding::One(tokens) => made.extend(tokens.clone()),
                Binding::Many(_) => return None,
            },
            Part::Repeat { parts, separator, .. } => {
                for (number, round) in repeated(parts, bindings)?.iter().enumerate() {
                    let between = separator.clone().filter(|_| number > 0);
                    made.extend(between.map(|token| placed(token, at)));
                    made.extend(transcribe(parts, round, at)?);
                }
            }
        }
    }
    Some(made)
}

/// What the names stand for in each repetition: as many as all that are repeated have.
fn repeated(parts: &[Part], bindings: &Bindings) -> Option<Vec<Bindings>> {
    let repeated = |own: &str| match bindings.get(own) {
        Some(Binding::Many(all)) => Some((own.to_owned(), all)),
        _ => None,
    };
    let many: Vec<(String, &Vec<Binding>)> =
        names(parts).into_iter().filter_map(repeated).collect();
    let count = many.first()?.1.len();
    if many.iter().any(|(_, all)| all.len() != count) {
        return None;
    }
    // What is not repeated is the same in each.
    let plain = names(parts).into_iter().filter_map(|own| match bindings.get(own) {
        Some(Binding::One(tokens)) => Some((own.to_owned(), Binding::One(tokens.clone()))),
        _ => None,
    });
    let plain: Bindings = plain.collect();
    let round = |number: usize| {
        let mut round = plain.clone();
        round.extend(many.iter().map(|(own, all)| (own.clone(), all[number].clone())));
        round
    };
    Some((0..count).map(round).collect())
}
