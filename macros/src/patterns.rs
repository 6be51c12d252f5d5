//! Patterns over ranks and sizes as conditions that run.

use std::collections::HashMap;

use p2p_protocol::grammar::syntax::Pattern;
use proc_macro2::TokenStream;
use quote::quote;

use crate::expressions::Values;

/// Whether `value` matches.
pub(crate) fn condition(
    pattern: &Pattern,
    value: &TokenStream,
    end: &TokenStream,
    values: &Values,
) -> TokenStream {
    match pattern {
        Pattern::All | Pattern::Binding(_) => quote!(true),
        Pattern::Value(expected) => {
            let expected = values.code(expected);
            quote!((#value == #expected))
        }
        Pattern::Range { start, end: last, inclusive } => {
            let start = start.as_ref().map(|start| values.code(start));
            let start = start.unwrap_or_else(|| quote!(0i64));
            let last = last.as_ref().map(|last| values.code(last));
            match (last, inclusive) {
                (Some(last), true) => quote!((#start..=#last).contains(&#value)),
                (Some(last), false) => quote!((#start..#last).contains(&#value)),
                (None, _) => quote!((#start..#end).contains(&#value)),
            }
        }
        Pattern::Or(several) => {
            let several = several.iter().map(|one| condition(one, value, end, values));
            quote!((#(#several)||*))
        }
        Pattern::Pair(row, column) => {
            let row = condition(row, &row_of(value), &quote!(grid.rows), values);
            let column = condition(column, &column_of(value), &quote!(grid.columns), values);
            quote!((#row && #column))
        }
        Pattern::Guarded(inner, guard) => {
            let inner = condition(inner, value, end, values);
            let guard = values.code(guard);
            quote!((#inner && #guard))
        }
    }
}

/// What the names in a pattern stand for.
pub(crate) fn bind(pattern: &Pattern, value: &TokenStream, names: &mut HashMap<u32, TokenStream>) {
    match pattern {
        Pattern::Binding(name) => {
            names.insert(name.id, value.clone());
        }
        Pattern::Pair(row, column) => {
            bind(row, &row_of(value), names);
            bind(column, &column_of(value), names);
        }
        Pattern::Guarded(inner, _) => bind(inner, value, names),
        Pattern::Or(several) => several.iter().for_each(|one| bind(one, value, names)),
        Pattern::All | Pattern::Value(_) | Pattern::Range { .. } => {}
    }
}

fn row_of(rank: &TokenStream) -> TokenStream {
    quote!((#rank / grid.columns))
}

fn column_of(rank: &TokenStream) -> TokenStream {
    quote!((#rank % grid.columns))
}
