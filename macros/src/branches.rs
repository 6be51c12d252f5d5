//! Statements that go on in one of several ways: `if`, `choose`, `offer`.

use p2p_protocol::grammar::syntax::{DecisionArm, Peers, StatementKind};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::completions;
use crate::graph::Target;
use crate::method::{ERRORS, Method, operation};
use crate::names::{generated, plain, snake};
use crate::role::Generic;
use crate::states::{Parts, StateCode, Way};

/// The methods of a state with several ways to go on.
pub(crate) fn parts(state: &StateCode<'_, '_>, arms: &[Target], meet: Option<Target>) -> Parts {
    match &state.state.statement.kind {
        StatementKind::If(..) => condition(state, arms, meet),
        StatementKind::Choose(peers, labels) => choose(state, peers, labels, arms),
        StatementKind::Offer(_, labels) => offer(state, labels, arms),
        StatementKind::Test(name, ..) => completions::test(state, name, arms),
        StatementKind::WaitAny(waited) => {
            let names: Vec<_> = waited.iter().map(|(name, _)| name).collect();
            completions::wait_any(state, &names, arms)
        }
        _ => Parts::default(),
    }
}

/// A way that brings nothing but its state.
pub(crate) fn way(variant: &str, documentation: String, target: Target) -> Way {
    let (values, generics) = (Vec::new(), Vec::new());
    Way { variant: generated(variant), documentation, values, generics, target }
}

/// The type parameters of a method that leads to these.
pub(crate) fn bounds(state: &StateCode<'_, '_>, targets: &[Target]) -> TokenStream {
    let new = state.new_generics(targets, Vec::new());
    let bounds = new.iter().map(Generic::declaration);
    quote!(#(#bounds),*)
}

/// `match s.branch() { Then(s) => .., Else(s) => .. }`, and closures where both meet again.
fn condition(state: &StateCode<'_, '_>, arms: &[Target], meet: Option<Target>) -> Parts {
    let (StatementKind::If(condition, _, otherwise), &[then_arm, else_arm]) =
        (&state.state.statement.kind, arms)
    else {
        return Parts::default();
    };
    let name = generated(&state.state.name.replacen("If", "Branch", 1));
    let text = &state.state.statement.text;
    let ways = [
        way("Then", format!("`{text}`: yes."), then_arm),
        way("Else", format!("`{text}`: no."), else_arm),
    ];
    let items = state.ways(&name, &format!("Which way `{text}` goes on this rank."), &ways);
    let new = bounds(state, &[then_arm, else_arm]);
    let (returned, apart) = (state.ways_type(&name, &ways), state.apart());
    let condition = state.code.values.code(condition);
    let (then, other) = (state.code.go(then_arm), state.code.go(else_arm));
    let documentation = format!("`{text}`: the way that it goes on this rank.");
    let branch = quote! {
        #[doc = #documentation]
        #[inline]
        pub fn branch<#new>(self) -> #returned {
            #apart
            if #condition { #name::Then(#then) } else { #name::Else(#other) }
        }
    };
    let mut verbs = vec![state.verb("branch", 0)];
    let closures = meet.map(|meet| {
        if otherwise.statements.is_empty() {
            verbs.insert(0, state.verb("when", 1));
            when(state, &name, then_arm, meet)
        } else {
            verbs.insert(0, state.verb("either", 2));
            either(state, &name, then_arm, else_arm, meet)
        }
    });
    Parts { methods: quote!(#closures #branch), items, verbs }
}

/// `s.when(|s| ..)`
fn when(state: &StateCode<'_, '_>, name: &Ident, then: Target, meet: Target) -> TokenStream {
    let new = bounds(state, &[then, meet]);
    let (then, meet) = (state.code.target_type(then), state.code.target_type(meet));
    let documentation = format!(
        "`{}`: calls `then` if so.\n\n# Errors\n\nThat of `then`.",
        state.state.statement.text
    );
    quote! {
        #[doc = #documentation]
        #[inline]
        pub fn when<#new>(
            self,
            then: impl ::core::ops::FnOnce(#then) -> ::p2p::Result<#meet>,
        ) -> ::p2p::Result<#meet> {
            match self.branch() {
                #name::Then(next) => then(next),
                #name::Else(next) => ::core::result::Result::Ok(next),
            }
        }
    }
}

/// `s.either(|s| .., |s| ..)`
fn either(
    state: &StateCode<'_, '_>,
    name: &Ident,
    then: Target,
    otherwise: Target,
    meet: Target,
) -> TokenStream {
    let new = bounds(state, &[then, otherwise, meet]);
    let [then, otherwise, meet] =
        [then, otherwise, meet].map(|target| state.code.target_type(target));
    let documentation = format!(
        "`{}`: calls `then` if so, otherwise `otherwise`.\n\n# Errors\n\nThat of the one that was \
         called.",
        state.state.statement.text
    );
    quote! {
        #[doc = #documentation]
        #[inline]
        pub fn either<#new>(
            self,
            then: impl ::core::ops::FnOnce(#then) -> ::p2p::Result<#meet>,
            otherwise: impl ::core::ops::FnOnce(#otherwise) -> ::p2p::Result<#meet>,
        ) -> ::p2p::Result<#meet> {
            match self.branch() {
                #name::Then(next) => then(next),
                #name::Else(next) => otherwise(next),
            }
        }
    }
}

/// `s.choose_task()?`
fn choose(
    state: &StateCode<'_, '_>,
    peers: &Peers,
    labels: &[DecisionArm],
    arms: &[Target],
) -> Parts {
    let peers = peers_code(state, peers);
    let mut parts = Parts::default();
    for (label, &arm) in labels.iter().zip(arms) {
        let about = format!("decides for `{}`, and tells it.", label.label);
        let mut method = Method::of(state, None, &about);
        method.name = format!("choose_{}", snake(&plain(&label.label)));
        let index = label_index(label);
        method.body = quote! {
            let peers = #peers;
            session.choose(&OPERATION, peers, #index)?;
        };
        let (code, verb) = method.code(state, arm);
        parts.methods.extend(code);
        parts.verbs.push(verb);
    }
    parts
}

fn label_index(label: &DecisionArm) -> Literal {
    Literal::u32_suffixed(u32::try_from(label.index).unwrap_or(u32::MAX))
}

/// Whom a decision is told, as something to iterate over.
fn peers_code(state: &StateCode<'_, '_>, peers: &Peers) -> TokenStream {
    let code = |expression| state.code.values.code(expression);
    match peers {
        Peers::One(peer) => {
            let peer = code(peer);
            quote!([#peer])
        }
        Peers::Range(start, end) => {
            let (start, end) = (code(start), code(end));
            quote!(#start..#end)
        }
        Peers::Several(several) => {
            let several = several.iter().map(code);
            quote!([#(#several),*])
        }
        Peers::Nobody => quote!([]),
    }
}

/// `match s.offer()? { Offered::Task(s) => .., Offered::Stop(s) => .. }`
fn offer(state: &StateCode<'_, '_>, labels: &[DecisionArm], arms: &[Target]) -> Parts {
    let StatementKind::Offer(peer, _) = &state.state.statement.kind else {
        return Parts::default();
    };
    let name = generated(&state.state.name.replacen("Offer", "Offered", 1));
    let text = &state.state.statement.text;
    let ways: Vec<_> = labels
        .iter()
        .zip(arms)
        .map(|(label, &arm)| {
            let documentation = format!("The decision was `{}`.", label.label);
            way(&plain(&label.label), documentation, arm)
        })
        .collect();
    let items = state.ways(&name, &format!("What `{text}` has brought."), &ways);
    let new = bounds(state, arms);
    let returned = state.ways_type(&name, &ways);
    let (apart, operation) = (state.apart(), operation(state, "OPERATION", None));
    let peer = state.code.values.code(peer);
    let cases = labels.iter().zip(arms).map(|(label, &arm)| {
        let (index, variant) = (label_index(label), generated(&plain(&label.label)));
        let go = state.code.go(arm);
        quote!(#index => #name::#variant(#go),)
    });
    let documentation = format!("`{text}`: learns what the other end has decided.{ERRORS}");
    let methods = quote! {
        #[doc = #documentation]
        #[inline]
        pub fn offer<#new>(self) -> ::p2p::Result<#returned> {
            #operation
            #apart
            let peer = #peer;
            ::core::result::Result::Ok(match session.offer(&OPERATION, peer)? {
                #(#cases)*
                label => {
                    return ::core::result::Result::Err(
                        session.unknown_decision(&OPERATION, label),
                    );
                }
            })
        }
    };
    Parts { methods, items, verbs: vec![state.verb("offer", 0)] }
}
