//! Macros that are known by name, as what they are.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Pat, Token};

use super::super::types::name;
use super::Body;
use crate::program::{Condition, Expression, Kind};

impl Body<'_, '_> {
    /// What a macro stands for.
    pub(super) fn invocation(&mut self, mac: &Macro) -> Expression {
        let own = mac.path.segments.last().map(|it| name(&it.ident)).unwrap_or_default();
        let bytes = self.macro_bytes(mac);
        if self.translation.macros.contains(&own) && mac.path.segments.len() == 1 {
            return self.unread_macro(&own, mac, bytes);
        }
        let lowered = match own.as_str() {
            "println" | "print" | "eprintln" | "eprint" | "format" | "format_args" | "panic"
            | "unreachable" | "todo" | "unimplemented" => self.formatted(&own, mac, 0, &bytes),
            "write" | "writeln" | "assert" => self.formatted(&own, mac, 1, &bytes),
            "assert_eq" | "assert_ne" => self.formatted(&own, mac, 2, &bytes),
            "debug_assert" => self.formatted("assert", mac, 1, &bytes),
            "debug_assert_eq" => self.formatted("assert_eq", mac, 2, &bytes),
            "debug_assert_ne" => self.formatted("assert_ne", mac, 2, &bytes),
            "error" | "warn" | "info" | "debug" | "trace" | "log" => self.logged(&own, mac, &bytes),
            "vec" => self.vector(mac, &bytes),
            "matches" => self.matching(mac, &bytes),
            "dbg" => self.formatted("dbg", mac, usize::MAX, &bytes),
            "bail" | "ensure" => self.early_error(&own, mac, &bytes),
            "offset_of" | "env" | "option_env" | "concat" | "stringify" | "include_str"
            | "include_bytes" | "file" | "line" | "column" | "module_path" | "anyhow" | "eyre" => {
                Some(self.make(Kind::Macro(own.clone(), Vec::new()), bytes.clone()))
            }
            "cfg" => {
                let features = &self.translation.files[self.file].features;
                let holds = super::super::cfg::holds(mac.tokens.clone(), features);
                holds.map(|holds| self.bool(holds, bytes.clone()))
            }
            _ => None,
        };
        lowered.unwrap_or_else(|| self.unread_macro(&own, mac, bytes))
    }

    fn macro_bytes(&self, mac: &Macro) -> Range<usize> {
        let end = self.bytes(mac.delimiter.span().close()).end;
        let start = mac.path.segments.first().map(|it| self.bytes(it.ident.span()).start);
        start.unwrap_or(end)..end
    }

    /// A macro that is not known: calls of MPI among its tokens are not understood.
    fn unread_macro(&mut self, own: &str, mac: &Macro, bytes: Range<usize>) -> Expression {
        self.calls_among(mac.tokens.clone());
        self.unknown(format!("the macro `{own}!` is not expanded"), bytes)
    }

    /// Notes the calls among the tokens of a macro.
    fn calls_among(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.calls_among(group.stream()),
                TokenTree::Ident(ident) => {
                    let own = name(ident);
                    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
                    let is_method =
                        matches!(before, Some(TokenTree::Punct(it)) if it.as_char() == '.');
                    if is_method && super::super::calls::is_unmistakable(&own) {
                        let bytes = self.bytes(ident.span());
                        let place = self.place(bytes);
                        self.translation.add_call(place, own);
                    }
                }
                _ => {}
            }
        }
    }

    /// A macro with `leading` arguments before its format; the variables that the format names
    /// follow its arguments.
    fn formatted(
        &mut self,
        own: &str,
        mac: &Macro,
        leading: usize,
        bytes: &Range<usize>,
    ) -> Option<Expression> {
        let written = arguments(mac.tokens.clone())?;
        let mut lowered = Vec::new();
        let mut named = Vec::new();
        for argument in &written {
            match argument {
                Expr::Assign(it) => {
                    if let Expr::Path(path) = &*it.left {
                        named.extend(path.path.get_ident().map(name));
                    }
                    lowered.push(self.expression(&it.right));
                }
                other => lowered.push(self.expression(other)),
            }
        }
        if let Some(Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(format), .. })) =
            written.get(leading)
        {
            for inline in super::format::inline_arguments(&format.value()) {
                if named.contains(&inline) {
                    continue;
                }
                if let Some(variable) = self.scopes.find(&inline) {
                    let at = self.bytes(format.span());
                    lowered.push(self.variable(variable, at));
                }
            }
        }
        Some(self.make(Kind::Macro(own.to_owned(), lowered), bytes.clone()))
    }

    /// A macro of a logging library, whose arguments may have forms of their own.
    fn logged(&mut self, own: &str, mac: &Macro, bytes: &Range<usize>) -> Option<Expression> {
        let lowered = self.formatted(own, mac, 0, bytes);
        if lowered.is_none() && !super::super::calls::mentions_a_call(mac.tokens.clone()) {
            return Some(self.make(Kind::Macro(own.to_owned(), Vec::new()), bytes.clone()));
        }
        lowered
    }

    fn vector(&mut self, mac: &Macro, bytes: &Range<usize>) -> Option<Expression> {
        let mut group = Group::new(Delimiter::Bracket, mac.tokens.clone());
        group.set_span(mac.delimiter.span().join());
        let array = syn::parse2::<Expr>(TokenTree::Group(group).into()).ok()?;
        let array = self.expression(&array);
        Some(self.make(Kind::Macro("vec".to_owned(), vec![array]), bytes.clone()))
    }

    fn matching(&mut self, mac: &Macro, bytes: &Range<usize>) -> Option<Expression> {
        let parse = |input: ParseStream<'_>| {
            let value: Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let guard = if input.peek(Token![if]) {
                input.parse::<Token![if]>()?;
                Some(input.parse::<Expr>()?)
            } else {
                None
            };
            input.parse::<Option<Token![,]>>()?;
            Ok((value, pattern, guard))
        };
        let (value, pattern, guard) = parse.parse2(mac.tokens.clone()).ok()?;
        self.scopes.open();
        let value = self.expression(&value);
        let value = self.matched(value, &pattern);
        let mut condition = Condition::Let(self.pattern(&pattern), value);
        if let Some(guard) = guard {
            let guard = self.condition(&guard);
            condition = Condition::And(Box::new(condition), Box::new(guard));
        }
        self.scopes.close();
        let then = Box::new(self.bool(true, bytes.clone()));
        let otherwise = Some(Box::new(self.bool(false, bytes.clone())));
        let condition = Box::new(condition);
        Some(self.make(Kind::If { condition, then, otherwise }, bytes.clone()))
    }

    /// `bail!(..)` and `ensure!(condition, ..)`, as anyhow and eyre have them.
    fn early_error(&mut self, own: &str, mac: &Macro, bytes: &Range<usize>) -> Option<Expression> {
        let written = arguments(mac.tokens.clone())?;
        let condition = match (own, written.first()) {
            ("ensure", Some(condition)) => Some(self.condition(condition)),
            ("ensure", None) => return None,
            _ => None,
        };
        let error = self.make(Kind::Macro("anyhow".to_owned(), Vec::new()), bytes.clone());
        let path = vec!["Err".to_owned()];
        let callee = self.make(Kind::External(path.into(), Vec::new()), bytes.clone());
        let error = self.make(Kind::Call(Box::new(callee), vec![error]), bytes.clone());
        let leave = self.make(Kind::Return(Some(Box::new(error))), bytes.clone());
        let Some(condition) = condition else { return Some(leave) };
        let then = Box::new(self.unit(bytes.clone()));
        let kind =
            Kind::If { condition: Box::new(condition), then, otherwise: Some(Box::new(leave)) };
        Some(self.make(kind, bytes.clone()))
    }
}

/// The arguments of a macro, if they are expressions with commas between them.
fn arguments(tokens: TokenStream) -> Option<Vec<Expr>> {
    let parse = Punctuated::<Expr, Token![,]>::parse_terminated;
    parse.parse2(tokens).ok().map(|arguments| arguments.into_iter().collect())
}
