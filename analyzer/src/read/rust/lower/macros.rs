//! Macros that are known by name, as what they are.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Pat, Stmt, Token};

use super::super::expand::DEPTH;
use super::super::types::name;
use super::Body;
use crate::program::{Condition, Expression, Kind, Literal};

impl Body<'_, '_> {
    /// What a macro stands for.
    pub(super) fn invocation(&mut self, mac: &Macro) -> Expression {
        let own = mac.path.segments.last().map(|it| name(&it.ident)).unwrap_or_default();
        let bytes = self.macro_bytes(mac);
        if let Some(own) = self.translation.macros.named(mac) {
            let expanded = self.expanded(&own, mac, &bytes);
            return expanded.unwrap_or_else(|| self.unread_macro(&own, mac, bytes));
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

    /// What a macro of the program stands for, as an expression.
    fn expanded(&mut self, own: &str, mac: &Macro, bytes: &Range<usize>) -> Option<Expression> {
        if self.translation.expanding.len() >= DEPTH {
            return None;
        }
        let expansion = self.translation.macros.expand(own, mac)?;
        let expression = syn::parse2::<Expr>(expansion.clone()).ok().or_else(|| {
            let stmts = syn::Block::parse_within.parse2(expansion).ok()?;
            let brace_token = syn::token::Brace(mac.path.segments.last()?.ident.span());
            let block = syn::Block { brace_token, stmts };
            Some(Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block }))
        })?;
        self.translation.expanding.push(bytes.clone());
        let lowered = self.expression(&expression);
        self.translation.expanding.pop();
        Some(lowered)
    }

    /// The statements that a macro of the program stands for, if what it declares is meant for
    /// those that follow it.
    pub(super) fn declared_by(&self, statement: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Macro(invocation) = statement else { return None };
        let own = self.translation.macros.named(&invocation.mac)?;
        if !self.translation.macros.declares(&own) {
            return None;
        }
        let expansion = self.translation.macros.expand(&own, &invocation.mac)?;
        syn::Block::parse_within.parse2(expansion).ok()
    }

    /// A macro that is not known: calls of MPI among its tokens are not understood, and what it
    /// gets that communicates it may use as a function could that nobody knows.
    fn unread_macro(&mut self, own: &str, mac: &Macro, bytes: Range<usize>) -> Expression {
        self.calls_among(mac.tokens.clone());
        let mut given = Vec::new();
        self.variables_among(mac.tokens.clone(), &mut given);
        let definition = self.translation.macros.definition(own);
        let communicates = super::super::calls::mentions_mpi;
        let by_itself = definition.is_some_and(communicates);
        if by_itself {
            let place = self.place(bytes.clone());
            self.translation.add_call(place, format!("{own}!"));
        }
        if by_itself || communicates(mac.tokens.clone()) {
            given.push(self.world(bytes.clone()));
        }
        if given.is_empty() {
            return self.unknown(format!("the macro `{own}!` is not expanded"), bytes);
        }
        let path = vec![format!("{own}!")];
        let callee = self.make(Kind::External(path.into(), Vec::new()), bytes.clone());
        self.make(Kind::Call(Box::new(callee), given), bytes)
    }

    /// The communicator of all ranks.
    fn world(&mut self, bytes: Range<usize>) -> Expression {
        let path = vec!["SimpleCommunicator".to_owned(), "world".to_owned()];
        let callee = self.make(Kind::External(path.into(), Vec::new()), bytes.clone());
        self.make(Kind::Call(Box::new(callee), Vec::new()), bytes)
    }

    /// The variables among the tokens of a macro; what only asks for a rank or a size communicates
    /// nothing.
    fn variables_among(&mut self, tokens: TokenStream, found: &mut Vec<Expression>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.variables_among(group.stream(), found),
                TokenTree::Ident(ident) => {
                    let asks = matches!(tokens.get(at + 2), Some(TokenTree::Ident(it)) if it == "rank" || it == "size");
                    if let (Some(variable), false) = (self.scopes.find(&name(ident)), asks) {
                        let bytes = self.bytes(ident.span());
                        let of = Box::new(self.variable(variable, bytes.clone()));
                        found.push(self.make(Kind::Reference { mutable: false, of }, bytes));
                    }
                }
                _ => {}
            }
        }
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
            let at = self.bytes(format.span());
            if own == "format"
                && named.is_empty()
                && let Some(filled) = self.filled(&format.value(), &at, &lowered[leading + 1..])
            {
                return Some(self.make(Kind::Macro(own.to_owned(), filled), bytes.clone()));
            }
            for inline in super::format::inline_arguments(&format.value()) {
                if named.contains(&inline) {
                    continue;
                }
                if let Some(variable) = self.scopes.find(&inline) {
                    lowered.push(self.variable(variable, at.clone()));
                }
            }
        }
        Some(self.make(Kind::Macro(own.to_owned(), lowered), bytes.clone()))
    }

    /// A format whose holes are plain, with what stands in them, hole by hole.
    fn filled(
        &mut self,
        format: &str,
        at: &Range<usize>,
        given: &[Expression],
    ) -> Option<Vec<Expression>> {
        let (text, holes) = super::format::plain(format)?;
        let mut given = given.iter();
        let mut filled = vec![self.make(Kind::Literal(Literal::Text(text.into())), at.clone())];
        for hole in holes {
            filled.push(match hole {
                None => given.next()?.clone(),
                Some(name) => {
                    let variable = self.scopes.find(&name)?;
                    self.variable(variable, at.clone())
                }
            });
        }
        given.next().is_none().then_some(filled)
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
