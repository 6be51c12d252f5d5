//! Messages that are over when the step returns, and one-sided operations.

use p2p_protocol::grammar::syntax::{Expression, From, MessageName, Name, StatementKind};
use p2p_protocol::model::Mode;
use proc_macro2::TokenStream;
use quote::quote;

use crate::graph::Target;
use crate::messages::{self, Shape};
use crate::method::{self, Method};
use crate::states::{Parts, StateCode};
use crate::{collectives, pieces, requests};

/// The methods of a state whose statement leads to one place.
pub(crate) fn parts(state: &StateCode<'_, '_>, after: Target) -> Parts {
    let methods = match &state.state.statement.kind {
        StatementKind::Send(mode, peer, message) => {
            let in_pieces = pieces::send(state, *mode, peer, message);
            std::iter::once(send(state, *mode, peer, message)).chain(in_pieces).collect()
        }
        StatementKind::Receive(from, message, binds) => {
            let mut methods = receive(state, from, message, binds.as_ref());
            methods.extend(pieces::receive(state, from, message, binds.as_ref()));
            methods
        }
        StatementKind::SendReceive { destination, sent, source, received } => {
            send_receive(state, (destination, sent), (source, received))
        }
        StatementKind::Probe(from, message, binds) => {
            vec![probe(state, from, message, binds.as_ref())]
        }
        StatementKind::Put(peer, message) => vec![put(state, peer, message)],
        StatementKind::Get(peer, message) => vec![get(state, peer, message)],
        StatementKind::Collective(kind, root, message) => {
            vec![collectives::method(state, *kind, root.as_ref(), message.as_ref())]
        }
        _ => requests::methods(state),
    };
    let mut parts = Parts::default();
    for method in methods {
        let (code, verb) = method.code(state, after);
        parts.methods.extend(code);
        parts.verbs.push(verb);
    }
    parts
}

/// A mode of sending.
pub(crate) fn mode(mode: Mode) -> TokenStream {
    match mode {
        Mode::Standard => quote!(::p2p::session::Mode::Standard),
        Mode::Synchronous => quote!(::p2p::session::Mode::Synchronous),
        Mode::Buffered => quote!(::p2p::session::Mode::Buffered),
        Mode::Ready => quote!(::p2p::session::Mode::Ready),
    }
}

/// A source as the session takes it.
pub(crate) fn source(state: &StateCode<'_, '_>, from: &From) -> TokenStream {
    match from {
        From::Peer(peer) => {
            let peer = state.code.values.code(peer);
            quote!(::p2p::Source::Rank(#peer))
        }
        From::Any { start, end } => {
            let (start, end) = (state.code.values.code(start), state.code.values.code(end));
            quote!(::p2p::Source::Any(#start..#end))
        }
    }
}

/// What a blocking step takes to send a message: the argument, and code that leaves it in `data`,
/// of the length that the specification states.
pub(crate) fn outgoing(state: &StateCode<'_, '_>, message: usize) -> (TokenStream, TokenStream) {
    let message = state.code.message(message);
    let element = messages::element(message);
    match messages::shape(message) {
        Shape::Value => (quote!(value: #element), quote!(let data = &[value];)),
        Shape::Array(array) => (quote!(data: &'data #array), TokenStream::new()),
        Shape::Slice => {
            let argument = quote! {
                data: impl ::core::convert::Into<::p2p::Outgoing<'data, #element>>
            };
            let check = message.count.as_ref().map(|count| {
                let count = state.code.values.code(count);
                quote!(let data = session.exactly(&OPERATION, data, #count)?;)
            });
            (argument, quote!(#check))
        }
    }
}

fn send(state: &StateCode<'_, '_>, mode: Mode, peer: &Expression, message: &MessageName) -> Method {
    let (argument, data) = outgoing(state, message.index);
    let (mode, peer) = (self::mode(mode), state.code.values.code(peer));
    Method::of(state, Some(message.index), "sends it.").argument(argument).body(quote! {
        #data
        let peer = #peer;
        session.send(&OPERATION, #mode, peer, data)?;
    })
}

/// Where a received message goes.
pub(crate) struct Landing {
    /// What the method's name ends with.
    pub(crate) suffix: &'static str,
    /// The argument, where it goes into something of the caller's.
    pub(crate) argument: Option<TokenStream>,
    /// What the session receives into.
    pub(crate) buffer: TokenStream,
    /// The type of what the step gives back, where it gives back the message.
    pub(crate) value: Option<TokenStream>,
}

/// The ways to receive a message: a single value by value, others into a buffer of the caller's,
/// and where the length may vary also into a new `Vec`.
pub(crate) fn landings(state: &StateCode<'_, '_>, message: usize) -> Vec<Landing> {
    let message = state.code.message(message);
    let element = messages::element(message);
    let into = |ty: TokenStream| Landing {
        suffix: "",
        argument: Some(quote!(buffer: #ty)),
        buffer: quote!(buffer),
        value: None,
    };
    match messages::shape(message) {
        Shape::Value => vec![Landing {
            suffix: "",
            argument: None,
            buffer: quote!(::p2p::One::<#element>::new()),
            value: Some(element),
        }],
        Shape::Array(array) => vec![into(quote!(&mut #array))],
        Shape::Slice => vec![
            into(quote!(impl ::p2p::Receive<#element, Output = ()>)),
            Landing {
                suffix: "_vec",
                argument: None,
                buffer: quote!(::p2p::Fresh::<#element>::new()),
                value: Some(quote!(::std::vec::Vec<#element>)),
            },
        ],
    }
}

impl Landing {
    /// The method of the state's own statement for this landing; `received` is what it gives back.
    fn method(&self, state: &StateCode<'_, '_>, message: usize) -> Method {
        let about = match (&self.argument, self.suffix) {
            (Some(_), _) => "receives it into `buffer`.",
            (None, "") => "receives it.",
            (None, _) => "receives it into a new `Vec`; one that was sent away arrives as it is.",
        };
        let mut method = Method::of(state, Some(message), about);
        method.name.push_str(self.suffix);
        method.arguments.extend(self.argument.clone());
        method
    }

    /// The pattern that takes what the session gives back.
    fn pattern(&self) -> TokenStream {
        if self.value.is_some() { quote!(received) } else { quote!(()) }
    }
}

fn receive(
    state: &StateCode<'_, '_>,
    from: &From,
    message: &MessageName,
    binds: Option<&Name>,
) -> Vec<Method> {
    let source = source(state, from);
    let bound = bound_source(state, binds);
    let landings = landings(state, message.index).into_iter();
    landings
        .map(|landing| {
            let mut method = landing.method(state, message.index);
            let (received, buffer) = (landing.pattern(), &landing.buffer);
            method.body = quote! {
                let source = #source;
                let (#received, status) = session.recv(&OPERATION, source, #buffer)?;
                #bound
            };
            if matches!(from, From::Any { .. }) {
                method = method.value(quote!(usize), quote!(status.source));
            }
            match landing.value {
                Some(ty) => method.value(ty, quote!(received)),
                None => method,
            }
        })
        .chain(counted(state, from, message, binds))
        .collect()
}

/// The end of the name of a receive that says how many elements have come.
pub(crate) const COUNTED: &str = "_counted";

/// The receive into a buffer that may be longer than the message.
fn counted(
    state: &StateCode<'_, '_>,
    from: &From,
    name: &MessageName,
    binds: Option<&Name>,
) -> Option<Method> {
    let message = state.code.message(name.index);
    if !matches!(messages::shape(message), Shape::Slice) {
        return None;
    }
    let (source, bound) = (source(state, from), bound_source(state, binds));
    let element = messages::element(message);
    let about = "receives it into the first elements of `buffer`, and returns how many have come.";
    let mut method = Method::of(state, Some(name.index), about)
        .argument(quote!(buffer: impl ::p2p::Receive<#element, Output = ()>))
        .body(quote! {
            let source = #source;
            let ((), status) = session.recv(&OPERATION, source, buffer)?;
            #bound
        });
    method.name.push_str(COUNTED);
    if matches!(from, From::Any { .. }) {
        method = method.value(quote!(usize), quote!(status.source));
    }
    Some(method.value(quote!(usize), quote!(status.count)))
}

/// Keeps the source that a wildcard has met, where the specification gives it a name.
pub(crate) fn bound_source(state: &StateCode<'_, '_>, binds: Option<&Name>) -> TokenStream {
    let local = binds.and_then(|name| state.code.local(name.id));
    local.map_or_else(TokenStream::new, |local| quote!(let #local = status.source as i64;))
}

fn send_receive(
    state: &StateCode<'_, '_>,
    (destination, sent): (&Expression, &MessageName),
    (from, received): (&From, &MessageName),
) -> Vec<Method> {
    let (argument, data) = outgoing(state, sent.index);
    let destination = state.code.values.code(destination);
    let source = source(state, from);
    let second = method::operation(state, "RECEIVE", Some(state.code.message(received.index)));
    let landings = landings(state, received.index).into_iter();
    landings
        .map(|landing| {
            let mut method = landing.method(state, sent.index);
            method.documentation =
                format!("`{}`: sends and receives at once.", state.state.statement.text);
            method.arguments.insert(0, argument.clone());
            let (received, buffer) = (landing.pattern(), &landing.buffer);
            method.body = quote! {
                #second
                #data
                let (destination, source) = (#destination, #source);
                let (#received, status) = session.sendrecv(
                    (&OPERATION, destination),
                    data,
                    (&RECEIVE, source),
                    #buffer,
                )?;
            };
            if matches!(from, From::Any { .. }) {
                method = method.value(quote!(usize), quote!(status.source));
            }
            match landing.value {
                Some(ty) => method.value(ty, quote!(received)),
                None => method,
            }
        })
        .collect()
}

fn probe(
    state: &StateCode<'_, '_>,
    from: &From,
    message: &MessageName,
    binds: Option<&Name>,
) -> Method {
    let source = source(state, from);
    let bound = bound_source(state, binds);
    let element = messages::element(state.code.message(message.index));
    let about = "waits until it could be received, and says from whom and how long it is.";
    let method = Method::of(state, Some(message.index), about).body(quote! {
        let source = #source;
        let status = session.probe::<#element>(&OPERATION, source)?;
        #bound
    });
    method.value(quote!(::p2p::Status), quote!(status))
}

fn put(state: &StateCode<'_, '_>, peer: &Expression, message: &MessageName) -> Method {
    let (argument, data) = outgoing(state, message.index);
    let peer = state.code.values.code(peer);
    let shape = messages::shape(state.code.message(message.index));
    let about = "writes it into the other's window, where it is after the next fence.";
    let mut method = Method::of(state, Some(message.index), about);
    let first = if matches!(shape, Shape::Slice) {
        method = method.argument(quote!(first: usize));
        quote!(first)
    } else {
        quote!(0usize)
    };
    method.argument(argument).body(quote! {
        #data
        let peer = #peer;
        session.put(&OPERATION, peer, #first, data)?;
    })
}

fn get(state: &StateCode<'_, '_>, peer: &Expression, message: &MessageName) -> Method {
    let declared = state.code.message(message.index);
    let element = messages::element(declared);
    let peer = state.code.values.code(peer);
    let about = "asks for it; after the next fence it is what `fetched` gives.";
    let mut method = Method::of(state, Some(message.index), about);
    let (first, count) = match messages::shape(declared) {
        Shape::Value => (quote!(0usize), quote!(1usize)),
        Shape::Array(array) => {
            let elements = quote!(::core::mem::size_of::<#array>());
            let one = quote!(::core::mem::size_of::<#element>().max(1));
            (quote!(0usize), quote!(#elements / #one))
        }
        Shape::Slice => {
            method = method.argument(quote!(first: usize)).argument(quote!(count: usize));
            (quote!(first), quote!(count))
        }
    };
    method.body(quote! {
        let peer = #peer;
        session.get::<#element>(&OPERATION, peer, #first, #count)?;
    })
}
