//! A method that takes a step, from its parts.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};

use p2p_protocol::grammar::syntax::{Message, Protocol, StatementKind};

use crate::graph::Target;
use crate::names::{all_at, plain};
use crate::role::Generic;
use crate::states::{StateCode, Verb};
use crate::verbs;

/// The end of every step's documentation.
pub(crate) const ERRORS: &str = "\n\n# Errors\n\nWhen another rank has left, when all ranks wait, \
                                 or when a length does not fit.";

/// A method of a state, on its way to code.
pub(crate) struct Method {
    /// Its name.
    pub(crate) name: String,
    /// What it does, in one sentence.
    pub(crate) documentation: String,
    /// Type parameters besides those of the next state.
    pub(crate) generics: Vec<Generic>,
    /// Its arguments: `name: Type`.
    pub(crate) arguments: Vec<TokenStream>,
    /// What it does, with the state taken apart into local variables.
    pub(crate) body: TokenStream,
    /// What it gives back besides the next state: types and values.
    pub(crate) values: Vec<(TokenStream, TokenStream)>,
    /// The message of its operation.
    pub(crate) message: Option<usize>,
}

impl Method {
    /// The step of the state's own statement, without arguments or results yet.
    pub(crate) fn of(state: &StateCode<'_, '_>, message: Option<usize>, about: &str) -> Method {
        Method {
            name: verbs::method(&state.state.statement.kind),
            documentation: format!("`{}`: {about}", state.state.statement.text),
            generics: Vec::new(),
            arguments: Vec::new(),
            body: TokenStream::new(),
            values: Vec::new(),
            message,
        }
    }

    /// With this argument.
    pub(crate) fn argument(mut self, argument: TokenStream) -> Method {
        self.arguments.push(argument);
        self
    }

    /// With this result.
    pub(crate) fn value(mut self, ty: TokenStream, value: TokenStream) -> Method {
        self.values.push((ty, value));
        self
    }

    /// With this body.
    pub(crate) fn body(mut self, body: TokenStream) -> Method {
        self.body = body;
        self
    }

    /// The code, and what other states have to know of it.
    pub(crate) fn code(self, state: &StateCode<'_, '_>, after: Target) -> (TokenStream, Verb) {
        let span = state.span();
        let name = Ident::new(&self.name, span);
        let generics = state.new_generics(&[after], self.generics);
        let generics = generics.iter().map(|generic| all_at(generic.declaration(), span));
        let next = state.code.target_type(after);
        let (types, values): (Vec<_>, Vec<_>) = self.values.into_iter().unzip();
        let go = state.code.go(after);
        let (returned, value) = if types.is_empty() {
            (next, go)
        } else {
            (quote!((#(#types,)* #next)), quote!((#(#values,)* #go)))
        };
        let message = self.message.map(|index| state.code.message(index));
        let operation = operation(state, "OPERATION", message);
        let arguments = self.arguments.into_iter().map(|argument| all_at(argument, span));
        let this = quote_spanned!(span=> self);
        let documentation = format!("{}{ERRORS}", self.documentation);
        let body = self.body;
        let apart = state.apart();
        let verb = Verb { name: self.name, arguments: arguments.len(), span };
        let code = quote! {
            #[doc = #documentation]
            #[inline]
            pub fn #name<'data #(, #generics)*>(
                #this #(, #arguments)*
            ) -> ::p2p::Result<#returned> {
                #operation
                #apart
                #body
                ::core::result::Result::Ok(#value)
            }
        };
        (code, verb)
    }
}

/// The `static` that says what the state's operation is called where errors speak of it.
pub(crate) fn operation(
    state: &StateCode<'_, '_>,
    name: &str,
    message: Option<&Message>,
) -> TokenStream {
    let kind = &state.state.statement.kind;
    let name = Ident::new(name, Span::call_site());
    let text = &state.state.statement.text;
    let verb = verbs::verb(kind);
    let (file, line, column) = state.coordinates();
    let (message_name, tag, communicator) = match message {
        Some(message) => (plain(&message.name), message.tag, message.communicator),
        None if matches!(kind, StatementKind::Choose(..) | StatementKind::Offer(..)) => {
            (String::new(), 0, decisions(state.code.protocol))
        }
        None => (String::new(), 0, 0),
    };
    let tag = Literal::i32_suffixed(tag);
    quote! {
        static #name: ::p2p::Operation = ::p2p::Operation::new(
            #text, #verb, #message_name, #tag, #communicator, #file, #line, #column,
        );
    }
}

/// The communicator of decisions, which is the last.
pub(crate) fn decisions(protocol: &Protocol) -> u16 {
    u16::try_from(protocol.communicators.len() + 1).unwrap_or(u16::MAX)
}
