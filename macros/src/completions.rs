//! Statements that go on according to which request is complete: `test` and `wait_any`.

use p2p_protocol::grammar::syntax::Name;
use proc_macro2::TokenStream;
use quote::quote;

use crate::branches::{bounds, way};
use crate::graph::Target;
use crate::method::{ERRORS, operation};
use crate::names::{camel, generated};
use crate::requests::{Completed, completed};
use crate::states::{Parts, StateCode, Way};
use crate::verbs;

/// The way of a request that is complete: what the session's `wait` gives, and the values that go
/// into the variant.
fn completed_way(
    state: &StateCode<'_, '_>,
    variant: &str,
    request: &Name,
    target: Target,
) -> Option<(Way, TokenStream, Vec<TokenStream>)> {
    let transfer = state.state.scope.transfer(request)?;
    let Completed { pattern, values } = completed(state, request.id, transfer);
    let (types, values) = values.into_iter().unzip();
    let way = Way {
        values: types,
        generics: state.code.generic(request.id, transfer).into_iter().collect(),
        ..way(variant, format!("`{request}` is complete."), target)
    };
    Some((way, pattern, values))
}

/// `match s.test_halo()? { Tested::Complete(halo, s) => .., Tested::Pending(s) => .. }`
pub(crate) fn test(state: &StateCode<'_, '_>, request: &Name, arms: &[Target]) -> Parts {
    let &[complete, pending] = arms else { return Parts::default() };
    let complete_way = completed_way(state, "Complete", request, complete);
    let Some((complete_way, pattern, values)) = complete_way else { return Parts::default() };
    let local = state.code.local(request.id);
    let name = generated(&state.state.name.replacen("Test", "Tested", 1));
    let text = &state.state.statement.text;
    let ways = [complete_way, way("Pending", format!("`{request}` is still under way."), pending)];
    let items = state.ways(&name, &format!("What `{text}` has found."), &ways);
    let new = bounds(state, arms);
    let returned = state.ways_type(&name, &ways);
    let (apart, operation) = (state.apart(), operation(state, "OPERATION", None));
    let method_name = verbs::method(&state.state.statement.kind);
    let method = generated(&method_name);
    let (complete, pending) = (state.code.go(complete), state.code.go(pending));
    let documentation = format!("`{text}`: whether it is complete.{ERRORS}");
    let methods = quote! {
        #[doc = #documentation]
        #[inline]
        pub fn #method<#new>(self) -> ::p2p::Result<#returned> {
            #operation
            #apart
            ::core::result::Result::Ok(if session.test(&OPERATION, #local.id())? {
                let #pattern = session.wait(&OPERATION, #local)?;
                #name::Complete(#(#values,)* #complete)
            } else {
                #name::Pending(#pending)
            })
        }
    };
    Parts { methods, items, verbs: vec![state.verb(&method_name, 0)] }
}

/// `match s.wait_any()? { WaitedAny::Left(halo, s) => .., WaitedAny::Right(halo, s) => .. }`
pub(crate) fn wait_any(state: &StateCode<'_, '_>, names: &[&Name], arms: &[Target]) -> Parts {
    let name = generated(&state.state.name.replacen("WaitAny", "WaitedAny", 1));
    let text = &state.state.statement.text;
    let (mut ways, mut cases) = (Vec::new(), TokenStream::new());
    for (index, (request, &arm)) in names.iter().zip(arms).enumerate() {
        let Some(local) = state.code.local(request.id) else { return Parts::default() };
        let completed = completed_way(state, &camel(&local.to_string()), request, arm);
        let Some((way, pattern, values)) = completed else { return Parts::default() };
        let variant = &way.variant;
        let go = state.code.go(arm);
        // The last one is what is left.
        let index = if index + 1 == arms.len() {
            quote!(_)
        } else {
            quote!(::core::option::Option::Some(#index))
        };
        cases.extend(quote! {
            #index => {
                let #pattern = session.wait(&OPERATION, #local)?;
                #name::#variant(#(#values,)* #go)
            }
        });
        ways.push(way);
    }
    let items = state.ways(&name, &format!("Which request `{text}` has found complete."), &ways);
    let new = bounds(state, arms);
    let returned = state.ways_type(&name, &ways);
    let (apart, operation) = (state.apart(), operation(state, "OPERATION", None));
    let locals = names.iter().filter_map(|request| state.code.local(request.id));
    let documentation = format!("`{text}`: waits until one of them is complete.{ERRORS}");
    let methods = quote! {
        #[doc = #documentation]
        #[inline]
        pub fn wait_any<#new>(self) -> ::p2p::Result<#returned> {
            #operation
            #apart
            ::core::result::Result::Ok(match session.wait_any(&OPERATION, &[#(#locals.id()),*])? {
                #cases
            })
        }
    };
    Parts { methods, items, verbs: vec![state.verb("wait_any", 0)] }
}
