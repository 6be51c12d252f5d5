//! How a rank gets into its role and runs it: `Parameters`, `join`, `Role`, and a struct for each
//! role with `run`.

use p2p_protocol::grammar::syntax::{Extent, Parameter, Protocol};
use proc_macro2::TokenStream;
use quote::quote;

use crate::elsewhere::Position;
use crate::errors::coordinates;
use crate::expressions::Values;
use crate::method;
use crate::names::{generated, plain};
use crate::patterns;
use crate::role::{Generic, RoleCode, shared_names};
use crate::windows;

/// What the ranks compare before they start.
pub(crate) struct About {
    /// A number that differs when the protocols do.
    pub(crate) fingerprint: u64,
    /// The sizes that the protocol is for, as it writes them.
    pub(crate) sizes: String,
}

/// Everything that is not a state.
pub(crate) fn items(protocol: &Protocol, roles: &[RoleCode<'_>], about: &About) -> TokenStream {
    let parameters = parameters(protocol);
    let role = role(roles);
    let join = join(protocol, roles, about);
    let structs = roles.iter().map(structure);
    let accessors = windows::accessors(protocol);
    let accessors = (!accessors.is_empty()).then(|| quote!(impl Done<'_, '_> { #accessors }));
    quote! {
        #parameters
        #role
        #join
        #(#structs)*
        /// The end of the protocol: what the closure that is given to `run` returns.
        #[must_use = "return it from the closure that is given to `run`"]
        pub struct Done<'s, 'env> {
            session: &'s mut ::p2p::session::Session<'env>,
        }
        #accessors
    }
}

/// Where the end stands, for a step that is one too many.
pub(crate) fn end(protocol: &Protocol) -> Position {
    Position {
        state: "Done".to_owned(),
        generics: Vec::new(),
        role: generated("every_role"),
        expected: "the_end".to_owned(),
        line: coordinates(protocol.name.span()).1,
    }
}

fn parameters(protocol: &Protocol) -> TokenStream {
    if protocol.parameters.is_empty() {
        return TokenStream::new();
    }
    let fields = protocol.parameters.iter().map(|Parameter { name, ty }| {
        let documentation = format!("`{name}` in the specification.");
        quote!(#[doc = #documentation] pub #name: #ty)
    });
    quote! {
        /// What is given at run time. It must be the same on every rank.
        #[derive(
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::fmt::Debug,
            ::core::cmp::PartialEq,
            ::core::cmp::Eq,
        )]
        pub struct Parameters { #(#fields,)* }
    }
}

fn role(roles: &[RoleCode<'_>]) -> TokenStream {
    let variants = roles.iter().map(|code| {
        let (name, attributes) = (&code.name, documentation(code));
        quote!(#attributes #name(#name<'w>))
    });
    quote! {
        /// The role that a rank plays.
        #[must_use = "the other ranks wait for this one: match on it and `run` the role"]
        pub enum Role<'w> { #(#variants,)* }
    }
}

/// The role's own documentation, or its name.
fn documentation(code: &RoleCode<'_>) -> TokenStream {
    let attributes = &code.role.attributes;
    if attributes.iter().any(|attribute| attribute.path().is_ident("doc")) {
        return quote!(#(#attributes)*);
    }
    let text = format!("Role `{}` of the specification.", code.role.name);
    quote!(#[doc = #text] #(#attributes)*)
}

fn join(protocol: &Protocol, roles: &[RoleCode<'_>], about: &About) -> TokenStream {
    let name = plain(&protocol.name);
    let About { fingerprint, sizes } = about;
    let communicators = method::decisions(protocol).saturating_add(1);
    let argument = (!protocol.parameters.is_empty()).then(|| quote!(, parameters: Parameters));
    let values = values(protocol, roles);
    let size = quote!(size);
    let allowed = patterns::condition(&protocol.sizes.pattern, &size, &quote!(i64::MAX), &values);
    let wrong_size = quote! {
        ::p2p::Error::WrongSize { protocol: PROTOCOL.name, allowed: #sizes, size: world.size() }
    };
    let grid = grid(protocol, &wrong_size);
    let given = given(protocol);
    let ways = roles.iter().map(|code| {
        let role = &code.name;
        // A role without steps need not be run.
        let takes_on = code
            .graph
            .state(code.graph.start)
            .map(|_| quote!(let joined = joined.with_steps(&PROTOCOL);));
        let plays = patterns::condition(&code.role.pattern, &quote!(rank), &size, &values);
        quote! {
            if #plays {
                #takes_on
                return ::core::result::Result::Ok(Role::#role(#role { joined, #(#given,)* }));
            }
        }
    });
    let requirements = protocol.requirements.iter().map(|requirement| {
        let (condition, text) = (values.code(&requirement.condition), &requirement.text);
        let (compared, size) = (compared(protocol), quote!(world.size()));
        quote! {
            let fulfilled: bool = #condition;
            if !fulfilled {
                return ::core::result::Result::Err(
                    ::p2p::session::unfulfilled(&PROTOCOL, #text, &[#(#compared),*], #size),
                );
            }
        }
    });
    let text = format!("join({name})");
    let (file, line, column) = coordinates(protocol.name.span());
    let compared = compared(protocol);
    quote! {
        /// Starts the protocol on this rank as soon as every rank has come, and says which role it
        /// plays.
        ///
        /// # Errors
        ///
        /// The same on every rank: when they do not all join this protocol with the same
        /// parameters, or when it is not for this number of ranks or these parameters.
        pub fn join(world: &::p2p::World #argument) -> ::p2p::Result<Role<'_>> {
            static PROTOCOL: ::p2p::session::Protocol = ::p2p::session::Protocol {
                name: #name,
                fingerprint: #fingerprint,
                communicators: #communicators,
                join: ::p2p::Operation::new(#text, "join", "", 0, 0, #file, #line, #column),
            };
            let (rank, size) = (world.rank() as i64, world.size() as i64);
            if !#allowed {
                return ::core::result::Result::Err(#wrong_size);
            }
            #grid
            let joined = ::p2p::session::join(world, &PROTOCOL, &[#(#compared),*])?;
            #(#requirements)*
            #(#ways)*
            ::core::result::Result::Err(#wrong_size)
        }
    }
}

/// The parameters with their names, as ranks compare them.
fn compared(protocol: &Protocol) -> impl Iterator<Item = TokenStream> {
    protocol.parameters.iter().map(|Parameter { name, .. }| {
        let text = plain(name);
        quote!((#text, parameters.#name as i64))
    })
}

/// Where the patterns of `join` find their values.
fn values(protocol: &Protocol, roles: &[RoleCode<'_>]) -> Values {
    let mut names = shared_names(protocol);
    patterns::bind(&protocol.sizes.pattern, &quote!(size), &mut names);
    for code in roles {
        patterns::bind(&code.role.pattern, &quote!(rank), &mut names);
    }
    let (rank, size, grid) = (quote!(rank), quote!(size), quote!(grid));
    Values { rank, size, grid, names }
}

/// What every role gets from `join`.
fn given(protocol: &Protocol) -> Vec<TokenStream> {
    let parameters = (!protocol.parameters.is_empty()).then(|| quote!(parameters));
    let grid = protocol.grid.is_some().then(|| quote!(grid));
    parameters.into_iter().chain(grid).collect()
}

fn grid(protocol: &Protocol, wrong_size: &TokenStream) -> TokenStream {
    let Some(grid) = &protocol.grid else { return TokenStream::new() };
    let extent = |extent: &Extent| match extent {
        Extent::Named(_) => quote!(::core::option::Option::None),
        Extent::Fixed(extent) => {
            let extent = i64::from(*extent);
            quote!(::core::option::Option::Some(#extent))
        }
    };
    let (rows, columns) = (extent(&grid.rows), extent(&grid.columns));
    let square = grid.is_square().then(|| quote!(.filter(|grid| grid.rows == grid.columns)));
    quote! {
        let ::core::option::Option::Some(grid) =
            ::p2p::session::Grid::of(size, #rows, #columns)#square
        else {
            return ::core::result::Result::Err(#wrong_size);
        };
    }
}

/// A role's struct, with `run`.
fn structure(code: &RoleCode<'_>) -> TokenStream {
    let (name, documentation) = (&code.name, documentation(code));
    let fields = code.given();
    let types = fields.iter().map(|(field, ty)| quote!(#field: #ty));
    let fields = fields.iter().map(|(field, _)| field);
    let start = code.graph.start;
    let generics = code.generics_of(&[start]);
    let generics = generics.iter().map(Generic::declaration);
    let (start_type, start) = (code.target_type(start), code.go(start));
    let windows = windows::open(code.protocol);
    quote! {
        #documentation
        #[must_use = "the other ranks wait for this one to `run`"]
        pub struct #name<'w> {
            joined: ::p2p::session::Joined<'w>,
            #(#types,)*
        }
        impl #name<'_> {
            /// This rank.
            pub fn rank(&self) -> usize {
                self.joined.rank()
            }

            /// How many ranks there are.
            pub fn size(&self) -> usize {
                self.joined.size()
            }

            /// Runs the role: `follow` gets the first state and goes from step to step to the end,
            /// which it returns.
            ///
            /// # Errors
            ///
            /// That of `follow`; the other ranks are told that this one has left.
            #[inline]
            pub fn run<'env #(, #generics)*>(
                self,
                follow: impl for<'s> ::core::ops::FnOnce(#start_type) -> ::p2p::Result<Done<'s, 'env>>,
            ) -> ::p2p::Result<()> {
                let Self { joined, #(#fields,)* } = self;
                ::p2p::session::run(joined, |session| {
                    #windows
                    follow(#start).map(|_| ())
                })
            }
        }
    }
}
