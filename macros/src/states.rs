//! The types of a role's states: one struct each, with the methods of its step.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::elsewhere::Position;
use crate::errors::coordinates;
use crate::graph::{State, Step, Target};
use crate::names::{at, generated_at};
use crate::role::{Generic, RoleCode};
use crate::{branches, loops, operations, pieces, windows};

/// The states of a role, and what is to be known of them for steps that are not legal.
pub(crate) fn states(
    code: &RoleCode<'_>,
    verbs: &mut Vec<Verb>,
    positions: &mut Vec<Position>,
) -> TokenStream {
    let mut items = TokenStream::new();
    for state in code.graph.states() {
        let state = StateCode { code, state };
        let parts = state.parts();
        positions.push(state.position(&parts));
        items.extend(state.items(&parts));
        verbs.extend(parts.verbs);
    }
    items
}

/// One state on its way to code.
pub(crate) struct StateCode<'a, 'p> {
    /// Its role.
    pub(crate) code: &'a RoleCode<'p>,
    /// The state.
    pub(crate) state: &'a State<'p>,
}

impl StateCode<'_, '_> {
    fn items(&self, parts: &Parts) -> TokenStream {
        let name = generated_at(&self.state.name, self.span());
        let generics = self.code.generics(&self.state.scope);
        let names: Vec<_> = generics.iter().map(|generic| &generic.name).collect();
        let bounds = generics.iter().map(Generic::declaration);
        let fields = self.code.fields(&self.state.scope);
        let fields = fields.iter().map(|(field, ty)| quote!(#field: #ty));
        let documentation = self.documentation();
        let next = format!("the protocol goes on; next: {}", parts.names(" or "));
        let Parts { methods, items, .. } = parts;
        let windows = windows::accessors(self.code.protocol);
        quote! {
            #[doc = #documentation]
            #[must_use = #next]
            pub struct #name<'s, 'env #(, #names)*> {
                session: &'s mut ::p2p::session::Session<'env>,
                #(#fields,)*
            }
            impl<'s, 'env #(, #bounds)*> #name<'s, 'env #(, #names)*> {
                #methods
                #windows
            }
            #items
        }
    }

    /// The methods of the state, and what they need beside them.
    fn parts(&self) -> Parts {
        match &self.state.step {
            Step::Plain(after) => operations::parts(self, *after),
            Step::For { item, end, closed } => loops::parts(self, *item, *end, *closed),
            Step::Arms { arms, meet } => branches::parts(self, arms, *meet),
        }
    }

    fn documentation(&self) -> String {
        let (file, line, _) = self.coordinates();
        let role = &self.code.role.name;
        format!("Role `{role}` is at `{}` ({file}:{line}).", self.state.statement.text)
    }

    fn position(&self, parts: &Parts) -> Position {
        let generics = self.code.generics(&self.state.scope).into_iter();
        Position {
            state: self.state.name.clone(),
            generics: generics.map(|generic| generic.name).collect(),
            role: at(&self.code.role.name, Span::call_site()),
            expected: parts.names("_or_"),
            line: self.coordinates().1,
        }
    }

    /// A method of this state, for other states.
    pub(crate) fn verb(&self, name: &str, arguments: usize) -> Verb {
        Verb { name: name.to_owned(), arguments, span: self.span() }
    }

    /// The span of the state's statement.
    pub(crate) fn span(&self) -> Span {
        let place = usize::try_from(self.state.statement.place.0).unwrap_or(usize::MAX);
        self.code.protocol.places.get(place).copied().unwrap_or_else(Span::call_site)
    }

    /// Where the state's statement stands.
    pub(crate) fn coordinates(&self) -> (String, u32, u32) {
        coordinates(self.span())
    }

    /// Takes the state apart into local variables that are called as its fields are.
    pub(crate) fn apart(&self) -> TokenStream {
        let fields = self.code.fields(&self.state.scope);
        let fields = fields.iter().map(|(field, _)| field);
        quote!(let Self { session, #(#fields),* } = self;)
    }

    /// Type parameters of what these targets are, and others, that the state does not have itself,
    /// each once.
    pub(crate) fn new_generics(&self, targets: &[Target], others: Vec<Generic>) -> Vec<Generic> {
        let mut known = self.code.generics(&self.state.scope);
        let own = known.len();
        for generic in self.code.generics_of(targets).into_iter().chain(others) {
            if known.iter().all(|it| it.name != generic.name) {
                known.push(generic);
            }
        }
        known.split_off(own)
    }

    /// An enum that a state's method gives back: a variant for each way to go on, with the values
    /// that come with it and the next state.
    pub(crate) fn ways(&self, name: &Ident, documentation: &str, ways: &[Way]) -> TokenStream {
        let name = at(name, self.span());
        let generics = self.ways_generics(ways);
        let variants = ways.iter().map(|way| {
            let Way { variant, documentation, values, target, .. } = way;
            let target = self.code.target_type(*target);
            quote!(#[doc = #documentation] #variant(#(#values,)* #target))
        });
        quote! {
            #[doc = #documentation]
            #[must_use = "the protocol goes on in one of these ways"]
            pub enum #name<'s, 'env #(, #generics)*> { #(#variants,)* }
        }
    }

    /// The type of such an enum.
    pub(crate) fn ways_type(&self, name: &Ident, ways: &[Way]) -> TokenStream {
        let generics = self.ways_generics(ways);
        quote!(#name<'s, 'env #(, #generics)*>)
    }

    fn ways_generics(&self, ways: &[Way]) -> Vec<Ident> {
        let targets: Vec<_> = ways.iter().map(|way| way.target).collect();
        let of_values = ways.iter().flat_map(|way| way.generics.clone());
        let generics = self.code.generics_of(&targets).into_iter().chain(of_values);
        let mut names: Vec<Ident> = Vec::new();
        for Generic { name, .. } in generics {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// One way to go on from a state that has several.
pub(crate) struct Way {
    /// Its variant.
    pub(crate) variant: Ident,
    /// What the variant says.
    pub(crate) documentation: String,
    /// The types of the values that come with it.
    pub(crate) values: Vec<TokenStream>,
    /// The type parameters that these values have.
    pub(crate) generics: Vec<Generic>,
    /// Where it leads.
    pub(crate) target: Target,
}

/// What a step adds to the module.
#[derive(Default)]
pub(crate) struct Parts {
    /// Methods of the state.
    pub(crate) methods: TokenStream,
    /// Types that they need.
    pub(crate) items: TokenStream,
    /// What the methods are called.
    pub(crate) verbs: Vec<Verb>,
}

impl Parts {
    /// The names of the methods, with this between them; but for those that do in another way what
    /// another does.
    fn names(&self, between: &str) -> String {
        let names: Vec<&str> = self.verbs.iter().map(|verb| verb.name.as_str()).collect();
        let is_another_way = |name: &str| {
            let mut ends = [pieces::SUFFIX, operations::COUNTED].into_iter();
            ends.any(|end| name.strip_suffix(end).is_some_and(|whole| names.contains(&whole)))
        };
        let others = names.iter().copied().filter(|name| !is_another_way(name));
        others.collect::<Vec<_>>().join(between)
    }
}

/// A method as other states have to know it.
pub(crate) struct Verb {
    /// Its name.
    pub(crate) name: String,
    /// How many arguments it takes.
    pub(crate) arguments: usize,
    /// Where the specification has it.
    pub(crate) span: Span,
}
