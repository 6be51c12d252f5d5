//! What a state says to a step that is not its own.
//!
//! Each state can be dereferenced to a type that has every method of the protocol, and none of
//! them can be called: each needs a trait that nothing implements, and that trait's message says
//! what the protocol expects instead. The compiler finds a state's own methods first. For the
//! editor these do not exist, so that it offers the legal steps alone.

use std::collections::{BTreeMap, BTreeSet};

use p2p_protocol::grammar::syntax::Protocol;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use crate::errors::coordinates;
use crate::names::{generated, plain};
use crate::states::Verb;

/// Where a state stands, as the message says it.
pub(crate) struct Position {
    /// The state's type.
    pub(crate) state: String,
    /// Its type parameters.
    pub(crate) generics: Vec<Ident>,
    /// The role's name.
    pub(crate) role: Ident,
    /// The methods that are legal: "send_block", "for_each_dest_or_next".
    pub(crate) expected: String,
    /// The line of the specification.
    pub(crate) line: u32,
}

/// The types and traits behind all states.
///
/// The compiler prints the steps as types, by their path where the name alone is not unique. So
/// they stand in a module that is called as the role is: `ring::member::send_token`.
pub(crate) fn items(protocol: &Protocol, verbs: &[Verb], positions: &[Position]) -> TokenStream {
    let (file, _, _) = coordinates(protocol.name.span());
    let message = format!("protocol `{}`: the next step is `{{Step}}`", plain(&protocol.name));
    let note = format!("the specification is at {file}:{{LINE}}");
    let steps = steps(positions);
    let verbs: BTreeMap<&str, &Verb> = verbs.iter().map(|verb| (&*verb.name, verb)).collect();
    let refusals = verbs.values().map(|verb| refusal(verb));
    let positions = positions.iter().map(position);
    quote! {
        #steps
        #[cfg(not(rust_analyzer))]
        const _: () = {
            #[diagnostic::on_unimplemented(
                message = #message,
                label = "not this: the protocol expects `{Step}` here",
                note = #note
            )]
            pub trait NextStep<Step, const LINE: u32> {}
            // Without any implementation the compiler would suggest one.
            #[diagnostic::do_not_recommend]
            impl NextStep<(), 0> for ::core::convert::Infallible {}
            pub struct Elsewhere<Step, const LINE: u32>(::core::marker::PhantomData<Step>);
            impl<Step, const LINE: u32> Elsewhere<Step, LINE> { #(#refusals)* }
            macro_rules! stands {
                ($state:ident $($generic:ident)*: $step:ty, $line:literal) => {
                    impl<$($generic),*> ::core::ops::Deref for $state<'_, '_, $($generic),*> {
                        type Target = Elsewhere<$step, $line>;
                        fn deref(&self) -> &Self::Target {
                            &Elsewhere(::core::marker::PhantomData)
                        }
                    }
                };
            }
            #(#positions)*
        };
    }
}

/// The types that stand for steps, in a module for each role.
fn steps(positions: &[Position]) -> TokenStream {
    let mut steps: BTreeMap<&Ident, BTreeSet<&str>> = BTreeMap::new();
    for Position { role, expected, .. } in positions {
        steps.entry(role).or_default().insert(expected);
    }
    let modules = steps.into_iter().map(|(role, steps)| {
        let steps = steps.into_iter().map(generated);
        quote! {
            #[cfg(not(rust_analyzer))]
            #[doc(hidden)]
            #[allow(non_camel_case_types)]
            pub mod #role { #(pub struct #steps;)* }
        }
    });
    modules.collect()
}

/// A method that cannot be called. Its span is that of a place where the protocol has this step,
/// which the compiler shows as "required by".
fn refusal(verb: &Verb) -> TokenStream {
    let Verb { name, span, .. } = verb;
    let name = Ident::new(name, *span);
    let arguments: Vec<_> = (0..verb.arguments).map(|i| generated(&format!("A{i}"))).collect();
    let bound = quote_spanned!(*span=> (): NextStep<Step, LINE>);
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
    let Position { generics, role, line, .. } = position;
    let (state, step) = (generated(&position.state), generated(&position.expected));
    quote!(stands!(#state #(#generics)*: #role::#step, #line);)
}
