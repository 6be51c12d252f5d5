//! `for`: a closure over the states of the body, and one turn at a time where the body jumps away.

use p2p_protocol::grammar::syntax::{Expression, ExpressionKind, Name, Range, StatementKind};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::graph::Target;
use crate::names::generated;
use crate::role::Generic;
use crate::states::{Parts, StateCode, Way};
use crate::verbs;

/// The methods of a loop's head.
pub(crate) fn parts(state: &StateCode<'_, '_>, item: Target, end: Target, closed: bool) -> Parts {
    let StatementKind::For { variable, range, .. } = &state.state.statement.kind else {
        return Parts::default();
    };
    let each = generated(&state.state.name.replacen("ForEach", "Each", 1));
    let ways = [
        Way {
            variant: generated("Item"),
            documentation: "Another turn: the loop's variable, and the body's first state."
                .to_owned(),
            values: vec![number_type(range)],
            generics: Vec::new(),
            target: item,
        },
        Way {
            variant: generated("End"),
            documentation: "No more turns: what follows the loop.".to_owned(),
            values: Vec::new(),
            generics: Vec::new(),
            target: end,
        },
    ];
    let text = &state.state.statement.text;
    let documentation = format!("What comes next in `{text}`.");
    let items = state.ways(&each, &documentation, &ways);
    let next = next(state, &each, &ways, variable, range);
    let closure = closed.then(|| for_each(state, &each, item, end, range));
    let for_each = closed.then(|| state.verb(&verbs::method(&state.state.statement.kind), 1));
    let verbs = for_each.into_iter().chain([state.verb("next", 0)]).collect();
    Parts { methods: quote!(#closure #next), items, verbs }
}

/// `match s.next() { Item(dest, s) => .., End(s) => .. }`
fn next(
    state: &StateCode<'_, '_>,
    each: &Ident,
    ways: &[Way],
    variable: &Name,
    range: &Range,
) -> TokenStream {
    let (item, end) = (ways[0].target, ways[1].target);
    let (Some(value), Some(rest)) = (state.code.local(variable.id), state.code.rest(variable.id))
    else {
        return TokenStream::new();
    };
    let new = state.new_generics(&[item, end], Vec::new());
    let new = new.iter().map(Generic::declaration);
    let returned = state.ways_type(each, ways);
    let apart = state.apart();
    let number = number_type(range);
    let (item, end) = (state.code.go(item), state.code.go(end));
    quote! {
        /// The next turn of the loop, or its end: for bodies that need `break` or `?`.
        #[inline]
        pub fn next<#(#new),*>(self) -> #returned {
            #apart
            let mut #rest = #rest;
            match ::core::iter::Iterator::next(&mut #rest) {
                ::core::option::Option::Some(#value) => #each::Item(#value as #number, #item),
                ::core::option::Option::None => #each::End(#end),
            }
        }
    }
}

/// `s.for_each_dest(|dest, s| ..)`
fn for_each(
    state: &StateCode<'_, '_>,
    each: &Ident,
    item: Target,
    end: Target,
    range: &Range,
) -> TokenStream {
    let method = Ident::new(&verbs::method(&state.state.statement.kind), state.span());
    let new = state.new_generics(&[item, end], Vec::new());
    let new = new.iter().map(Generic::declaration);
    let (item, end) = (state.code.target_type(item), state.code.target_type(end));
    let number = number_type(range);
    let documentation = format!(
        "`{}`: calls `body` for each turn with the loop's variable and the body's first state; it \
         gives back the state at the body's end.\n\n# Errors\n\nThe first error of `body`.",
        state.state.statement.text
    );
    quote! {
        #[doc = #documentation]
        #[inline]
        pub fn #method<#(#new),*>(
            self,
            mut body: impl ::core::ops::FnMut(#number, #item) -> ::p2p::Result<Self>,
        ) -> ::p2p::Result<#end> {
            let mut head = self;
            loop {
                match head.next() {
                    #each::Item(index, next) => head = body(index, next)?,
                    #each::End(next) => return ::core::result::Result::Ok(next),
                }
            }
        }
    }
}

/// The type in which the user gets the loop's variable: an index, unless the range starts with
/// something that may be below zero.
fn number_type(range: &Range) -> TokenStream {
    if may_be_negative(&range.start) { quote!(i64) } else { quote!(usize) }
}

fn may_be_negative(expression: &Expression) -> bool {
    use p2p_protocol::grammar::syntax::{BinaryOperator, UnaryOperator};
    match &expression.kind {
        ExpressionKind::Unary(UnaryOperator::Negate, _)
        | ExpressionKind::Binary(BinaryOperator::Subtract, ..) => true,
        ExpressionKind::Unary(_, inner) => may_be_negative(inner),
        ExpressionKind::Binary(_, left, right) => may_be_negative(left) || may_be_negative(right),
        ExpressionKind::Method(_, receiver, argument) => {
            may_be_negative(receiver) || argument.as_deref().is_some_and(may_be_negative)
        }
        ExpressionKind::Conditional(_, then, otherwise) => {
            may_be_negative(then) || may_be_negative(otherwise)
        }
        ExpressionKind::Integer(value) => *value < 0,
        _ => false,
    }
}
