//! Operations that are started now and complete later: a buffer goes in by value, and the wait
//! hands the very same one back.

use p2p_protocol::grammar::syntax::{Name, RequestTarget, StatementKind};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::flow::transfer;
use crate::messages::{self, Shape};
use crate::method::Method;
use crate::operations::{mode, source};
use crate::scope::{Direction, Transfer};
use crate::states::StateCode;
use crate::verbs;

/// The methods of a step that starts, plans or completes requests.
pub(crate) fn methods(state: &StateCode<'_, '_>) -> Vec<Method> {
    let kind = &state.state.statement.kind;
    match kind {
        StatementKind::StartSend(_, _, _, target) | StatementKind::StartReceive(_, _, target) => {
            transfer(kind).map(|transfer| start(state, target, transfer)).into_iter().collect()
        }
        StatementKind::PlanSend(_, _, name) | StatementKind::PlanReceive(_, _, name) => {
            transfer(kind).map(|transfer| plan(state, name, transfer)).into_iter().collect()
        }
        StatementKind::Start(name) => resume(state, name).into_iter().collect(),
        StatementKind::Wait(name) => wait(state, name),
        StatementKind::WaitAll(names) => match names.as_slice() {
            [set] if state.state.scope.is_set(set) => vec![wait_all_of(state, set)],
            names => vec![wait_all(state, names)],
        },
        StatementKind::WaitAnyOf(set) => vec![wait_any_of(state, set)],
        _ => Vec::new(),
    }
}

/// What a completed request gives back.
pub(crate) struct Completed {
    /// The pattern for what the session's `wait` gives back.
    pub(crate) pattern: TokenStream,
    /// The types and values of what the step gives back.
    pub(crate) values: Vec<(TokenStream, TokenStream)>,
}

/// What this request gives back when it has completed: its buffer, for a single value that was
/// received the value, and first the source where that was open.
pub(crate) fn completed(state: &StateCode<'_, '_>, id: u32, transfer: Transfer) -> Completed {
    let Some(local) = state.code.local(id) else {
        return Completed { pattern: quote!(_), values: Vec::new() };
    };
    let status = Ident::new(&format!("{local}_status"), local.span());
    let message = state.code.message(transfer.message);
    let mut values = Vec::new();
    if transfer.wildcard {
        values.push((quote!(usize), quote!(#status.source)));
    }
    match (messages::shape(message), transfer.direction) {
        (Shape::Value, Direction::Send) => {}
        (Shape::Value, Direction::Receive) => {
            values.push((messages::element(message), quote!(#local.into_inner())));
        }
        _ => values.push((state.code.buffer(id, transfer), quote!(#local))),
    }
    Completed { pattern: quote!((#local, #status)), values }
}

/// What a non-blocking step takes: the argument if there is one, and code that leaves the buffer
/// in `buffer`.
fn buffer(
    state: &StateCode<'_, '_>,
    id: u32,
    transfer: Transfer,
) -> (Option<TokenStream>, TokenStream) {
    let message = state.code.message(transfer.message);
    let element = messages::element(message);
    let ty = state.code.buffer(id, transfer);
    let count = match (messages::shape(message), transfer.direction) {
        (Shape::Value, Direction::Send) => {
            return (
                Some(quote!(value: #element)),
                quote!(let buffer = ::p2p::Single::new(value);),
            );
        }
        (Shape::Value, Direction::Receive) => {
            return (None, quote!(let buffer = ::p2p::Single::<#element>::empty();));
        }
        (_, Direction::Receive) => None,
        (Shape::Array(array), _) => Some(quote! {
            (::core::mem::size_of::<#array>() / ::core::mem::size_of::<#element>().max(1)) as i64
        }),
        (Shape::Slice, _) => message.count.as_ref().map(|count| state.code.values.code(count)),
    };
    let check = count.map(|count| {
        quote!(let buffer = session.exactly_buffer::<#element, _>(&OPERATION, buffer, #count)?;)
    });
    (Some(quote!(buffer: #ty)), quote!(#check))
}

/// `let halo = irecv(..)`, `pending.push(isend(..))`
fn start(state: &StateCode<'_, '_>, target: &RequestTarget, transfer: Transfer) -> Method {
    let (RequestTarget::Named(name) | RequestTarget::Set(name)) = target;
    let about = match transfer.direction {
        Direction::Send => "starts to send it; the wait hands the buffer back.",
        Direction::Receive => "starts to receive it; the wait hands the buffer back.",
    };
    let mut method = Method::of(state, Some(transfer.message), about);
    let (argument, prepared) = buffer(state, name.id, transfer);
    method.arguments.extend(argument);
    method.generics.extend(state.code.generic(name.id, transfer));
    let begun = match &state.state.statement.kind {
        StatementKind::StartSend(with, peer, ..) => {
            let (mode, peer) = (mode(*with), state.code.values.code(peer));
            quote! {
                let peer = #peer;
                let request = session.isend(&OPERATION, #mode, peer, buffer)?;
            }
        }
        StatementKind::StartReceive(from, ..) => {
            let source = source(state, from);
            quote! {
                let source = #source;
                let request = session.irecv(&OPERATION, source, buffer)?;
            }
        }
        _ => TokenStream::new(),
    };
    let local = state.code.local(name.id);
    let kept = match target {
        RequestTarget::Named(_) => quote!(let #local = request;),
        RequestTarget::Set(_) => quote! {
            let mut #local = #local;
            #local.push(request);
        },
    };
    method.body(quote!(#prepared #begun #kept))
}

/// `let halo = send_init(..)`: where it goes is settled now, and with which buffer when it starts.
fn plan(state: &StateCode<'_, '_>, name: &Name, transfer: Transfer) -> Method {
    let local = state.code.plan(name.id);
    let about = "settles where it goes; `start` gives it a buffer, any number of times.";
    let planned = match &state.state.statement.kind {
        StatementKind::PlanSend(peer, ..) => {
            let peer = state.code.values.code(peer);
            quote!(let peer = #peer; let #local = session.plan_send(&OPERATION, peer)?;)
        }
        StatementKind::PlanReceive(from, ..) => {
            let source = source(state, from);
            quote!(let source = #source; let #local = session.plan_recv(&OPERATION, source)?;)
        }
        _ => TokenStream::new(),
    };
    Method::of(state, Some(transfer.message), about).body(planned)
}

/// `start(halo)`
fn resume(state: &StateCode<'_, '_>, name: &Name) -> Option<Method> {
    let transfer = state.state.scope.transfer(name)?;
    let (local, plan) = (state.code.local(name.id), state.code.plan(name.id));
    let about = "starts what was planned, with this buffer; the wait hands it back.";
    let mut method = Method::of(state, Some(transfer.message), about);
    let (argument, prepared) = buffer(state, name.id, transfer);
    method.arguments.extend(argument);
    method.generics.extend(state.code.generic(name.id, transfer));
    let call = match transfer.direction {
        Direction::Send => quote!(start_send),
        Direction::Receive => quote!(start_recv),
    };
    Some(method.body(quote! {
        #prepared
        let #local = session.#call(&OPERATION, &#plan, buffer)?;
    }))
}

/// `wait(halo)`, which is also plain `wait` where no other request could be meant.
fn wait(state: &StateCode<'_, '_>, name: &Name) -> Vec<Method> {
    let Some(transfer) = state.state.scope.transfer(name) else { return Vec::new() };
    let local = state.code.local(name.id);
    let Completed { pattern, values } = completed(state, name.id, transfer);
    let method = |name: String| {
        let about = "waits until it is complete.";
        let mut method = Method::of(state, Some(transfer.message), about);
        method.name = name;
        method.values = values.clone();
        method.body(quote!(let #pattern = session.wait(&OPERATION, #local)?;))
    };
    let mut methods = vec![method(verbs::method(&state.state.statement.kind))];
    if state.state.scope.requests() == 1 {
        methods.push(method("wait".to_owned()));
    }
    methods
}

/// `wait_all(left, right)`
fn wait_all(state: &StateCode<'_, '_>, names: &[Name]) -> Method {
    let mut method = Method::of(state, None, "waits until all are complete.");
    let locals = names.iter().filter_map(|name| state.code.local(name.id));
    let locals: Vec<_> = locals.collect();
    let mut taken = TokenStream::new();
    for (name, local) in names.iter().zip(&locals) {
        if let Some(transfer) = state.state.scope.transfer(name) {
            let Completed { pattern, values } = completed(state, name.id, transfer);
            taken.extend(quote!(let #pattern = session.wait(&OPERATION, #local)?;));
            method.values.extend(values);
        }
    }
    method.body(quote! {
        session.wait_all(&OPERATION, &[#(#locals.id()),*])?;
        #taken
    })
}

/// `wait_all(pending)` of a set: gives back the buffers, in the order in which they were started.
fn wait_all_of(state: &StateCode<'_, '_>, set: &Name) -> Method {
    let about = "waits until all are complete; what they give back is in the order of starting.";
    let mut method = Method::of(state, None, about);
    let Some(transfer) = state.state.scope.transfer(set) else { return method };
    let local = state.code.local(set.id);
    let each = each_of_set(state, set, transfer);
    let (collected, push) = match &each {
        Some((ty, value)) => {
            method = method.value(quote!(::std::vec::Vec<#ty>), quote!(completed));
            (
                quote!(let mut completed = ::std::vec::Vec::with_capacity(#local.len());),
                quote!(completed.push(#value);),
            )
        }
        None => (TokenStream::new(), TokenStream::new()),
    };
    let pattern = completed(state, set.id, transfer).pattern;
    method.body(quote! {
        let mut #local = #local;
        #collected
        session.wait_each(&OPERATION, &mut #local, |#pattern| { #push })?;
    })
}

/// `wait_any(pending)` of a set: one that is complete, or nothing if the set is empty.
fn wait_any_of(state: &StateCode<'_, '_>, set: &Name) -> Method {
    let about = "waits until one of them is complete; nothing if there are none.";
    let mut method = Method::of(state, None, about);
    let Some(transfer) = state.state.scope.transfer(set) else { return method };
    let local = state.code.local(set.id);
    let pattern = completed(state, set.id, transfer).pattern;
    let (ty, value) = each_of_set(state, set, transfer).unwrap_or_else(|| (quote!(()), quote!(())));
    method = method.value(quote!(::core::option::Option<#ty>), quote!(completed));
    method.body(quote! {
        let mut #local = #local;
        let ids: ::std::vec::Vec<_> = #local.iter().map(|request| request.id()).collect();
        let completed = match session.wait_any(&OPERATION, &ids)? {
            ::core::option::Option::Some(index) => {
                let request = #local.remove(index);
                let #pattern = session.wait(&OPERATION, request)?;
                ::core::option::Option::Some(#value)
            }
            ::core::option::Option::None => ::core::option::Option::None,
        };
    })
}

/// Type and value of what each request of a set gives back.
fn each_of_set(
    state: &StateCode<'_, '_>,
    set: &Name,
    transfer: Transfer,
) -> Option<(TokenStream, TokenStream)> {
    let mut values = completed(state, set.id, transfer).values;
    match values.len() {
        0 | 1 => values.pop(),
        _ => {
            let (types, values): (Vec<_>, Vec<_>) = values.into_iter().unzip();
            Some((quote!((#(#types),*)), quote!((#(#values),*))))
        }
    }
}
