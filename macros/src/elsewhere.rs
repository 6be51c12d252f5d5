//! What a state says to a step that is not its own.
//!
//! Each state can be dereferenced to a type that has every method of the protocol, and none of
//! them can be called: each needs a trait that nothing implements, and that trait's message says
//! what the protocol expects instead. The compiler finds a state's own methods first. For the
//! editor these do not exist, so that it offers the legal steps alone.

use std::collections::{BTreeMap, BTreeSet};

use p2p_protocol::grammar::syntax::Protocol;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::errors::coordinates;
use crate::names::{generated, plain};
use crate::states::Verb;

/// Where a state stands, as the message says it.
pub(crate) struct Position {
    /// The state's type.
    pub(crate) state: String,
    /// How many type parameters it has.
    pub(crate) generics: Vec<proc_macro2::Ident>,
    /// The role's name.
    pub(crate) role: String,
    /// The methods that are legal: "send_block", "for_each_dest_or_next".
    pub(crate) expected: String,
    /// The line of the specification.
    pub(crate) line: u32,
}

/// The types and traits behind all states.
pub(crate) fn items(protocol: &Protocol, verbs: &[Verb], positions: &[Position]) -> TokenStream {
    let verbs: BTreeMap<&str, &Verb> =
        verbs.iter().map(|verb| (verb.name.as_str(), verb)).collect();
    let (file, _, _) = coordinates(protocol.name.span());
    let name = plain(&protocol.name);
    let message =
        format!("protocol `{name}`, role `{{Role}}`: the next step is `{{Step}}`, not `{{Self}}`");
    let note = format!("the specification is at {file}:{{LINE}}");
    let steps: BTreeSet<&str> =
        verbs.keys().copied().chain(positions.iter().map(|it| it.expected.as_str())).collect();
    let steps = steps.iter().map(|step| generated(step));
    let roles: BTreeSet<&str> = positions.iter().map(|it| it.role.as_str()).collect();
    let roles = roles.iter().map(|role| generated(role));
    let stubs = verbs.values().map(|verb| stub(verb));
    let positions = positions.iter().map(position);
    quote! {
        #[allow(unexpected_cfgs)]
        const _: () = {
            #[cfg(not(rust_analyzer))]
            const _: () = {
                #[allow(non_camel_case_types)]
                pub mod steps { #(pub struct #steps;)* }
                #[allow(non_camel_case_types)]
                pub mod roles { #(pub struct #roles;)* }
                #[diagnostic::on_unimplemented(
                    message = #message,
                    label = "the protocol expects `{Step}` here",
                    note = #note
                )]
                pub trait NextStep<Role, Step, const LINE: u32> {}
                // Without any implementation the compiler would suggest one.
                #[diagnostic::do_not_recommend]
                impl NextStep<(), (), 0> for ::core::convert::Infallible {}
                pub struct Elsewhere<Role, Step, const LINE: u32>(
                    ::core::marker::PhantomData<(Role, Step)>,
                );
                impl<Role, Step, const LINE: u32> Elsewhere<Role, Step, LINE> { #(#stubs)* }
                #(#positions)*
            };
        };
    }
}

/// A method that cannot be called. Its span is that of a place where the protocol has this step,
/// which the compiler shows as "required by".
fn stub(verb: &Verb) -> TokenStream {
    let name = generated(&verb.name);
    let span = verb.span.resolved_at(Span::call_site());
    let arguments: Vec<_> = (0..verb.arguments).map(|i| generated(&format!("A{i}"))).collect();
    let bound = quote_spanned!(span=> steps::#name: NextStep<Role, Step, LINE>);
    quote! {
        pub fn #name<#(#arguments,)* Anything>(&self #(, _: #arguments)*) -> Anything
        where
            #bound,
        {
            ::core::unreachable!()
        }
    }
}

fn position(position: &Position) -> TokenStream {
    let state = generated(&position.state);
    let Position { generics, line, .. } = position;
    let (role, step) = (generated(&position.role), generated(&position.expected));
    quote! {
        impl<'s, 'env #(, #generics)*> ::core::ops::Deref for #state<'s, 'env #(, #generics)*> {
            type Target = Elsewhere<roles::#role, steps::#step, #line>;
            fn deref(&self) -> &Self::Target {
                &Elsewhere(::core::marker::PhantomData)
            }
        }
    }
}
