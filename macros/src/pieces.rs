//! Messages of varying length that are made or used piece by piece.

use p2p_protocol::grammar::syntax::{Expression, From, MessageName, Name};
use p2p_protocol::model::Mode;
use proc_macro2::{Ident, Span};
use quote::quote;

use crate::messages::{self, Shape};
use crate::method::Method;
use crate::operations::{bound_source, mode, source};
use crate::role::Generic;
use crate::states::StateCode;

/// The end of the methods' names.
pub(crate) const SUFFIX: &str = "_with";

/// The method that sends what a closure makes.
pub(crate) fn send(
    state: &StateCode<'_, '_>,
    mode: Mode,
    peer: &Expression,
    name: &MessageName,
) -> Option<Method> {
    let message = state.code.message(name.index);
    if !matches!(messages::shape(message), Shape::Slice) {
        return None;
    }
    let element = messages::element(message);
    let (mode, peer) = (self::mode(mode), state.code.values.code(peer));
    let check = message.count.as_ref().map(|count| {
        let count = state.code.values.code(count);
        quote!(session.check_length(&OPERATION, length, #count)?;)
    });
    let about = "sends `length` elements, which `fill` makes: piece by piece in their order, while \
                 earlier ones travel. Each call gets the index of its first element; what is in a \
                 piece before is of no meaning. `fill` may return a `Result`.";
    let mut method = Method::of(state, Some(name.index), about)
        .argument(quote!(length: usize))
        .argument(quote!(fill: impl ::core::ops::FnMut(usize, &mut [#element]) -> PieceOutcome))
        .body(quote! {
            #check
            let peer = #peer;
            session.send_with(&OPERATION, #mode, peer, length, fill)?;
        });
    method.name.push_str(SUFFIX);
    method.generics.push(each());
    Some(method)
}

/// What the closure gives back for each piece.
fn each() -> Generic {
    let name = Ident::new("PieceOutcome", Span::call_site());
    Generic { name, bound: quote!(::p2p::session::Fallible) }
}

/// The method that receives what a closure uses.
pub(crate) fn receive(
    state: &StateCode<'_, '_>,
    from: &From,
    name: &MessageName,
    binds: Option<&Name>,
) -> Option<Method> {
    let message = state.code.message(name.index);
    if !matches!(messages::shape(message), Shape::Slice) {
        return None;
    }
    let element = messages::element(message);
    let bound = bound_source(state, binds);
    let source = source(state, from);
    let about = "receives it piece by piece: `take` gets each in its order, with the index of its \
                 first element, while later ones travel. Returns how many elements there were. \
                 `take` may return a `Result`.";
    let mut method = Method::of(state, Some(name.index), about)
        .argument(quote!(take: impl ::core::ops::FnMut(usize, &[#element]) -> PieceOutcome))
        .body(quote! {
            let source = #source;
            let status = session.recv_with(&OPERATION, source, take)?;
            #bound
        });
    method.name.push_str(SUFFIX);
    method.generics.push(each());
    if matches!(from, From::Any { .. }) {
        method = method.value(quote!(usize), quote!(status.source));
    }
    Some(method.value(quote!(usize), quote!(status.count)))
}
