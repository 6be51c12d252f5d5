//! One role on its way to code: what its states carry, and how they lead to each other.

use std::collections::HashMap;

use p2p_protocol::grammar::syntax::{Extent, Message, Protocol, Range, Role};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::expressions::Values;
use crate::graph::{Graph, State, Target};
use crate::messages::{self, Shape};
use crate::names::{self, Used, generated, generated_at};
use crate::patterns;
use crate::scope::{Direction, Scope, Slot, SlotKind, Transfer};

/// Names that the generated code uses itself, beside those of the specification.
const TAKEN: &[&str] = &[
    "session",
    "parameters",
    "grid",
    "rank",
    "size",
    "peer",
    "peers",
    "destination",
    "source",
    "root",
    "value",
    "data",
    "part",
    "parts",
    "buffer",
    "first",
    "count",
    "reduce",
    "combined",
    "received",
    "status",
    "request",
    "ids",
    "index",
    "completed",
    "body",
    "head",
    "next",
    "then",
    "otherwise",
];

/// A role with all that its code is made from.
pub(crate) struct RoleCode<'p> {
    /// The protocol that it is part of.
    pub(crate) protocol: &'p Protocol,
    /// The role.
    pub(crate) role: &'p Role,
    /// Its states.
    pub(crate) graph: Graph<'p>,
    /// Its name in camel case, the start of its states' names.
    pub(crate) name: Ident,
    /// Where expressions find their values.
    pub(crate) values: Values,
    names: HashMap<u32, SlotNames>,
}

/// What one declaration is called in the generated code.
struct SlotNames {
    value: Ident,
    rest: Ident,
    plan: Ident,
    buffer: Ident,
}

/// A type parameter: the buffer of a request that is under way.
#[derive(Clone)]
pub(crate) struct Generic {
    /// Its name.
    pub(crate) name: Ident,
    /// What it must be.
    pub(crate) bound: TokenStream,
}

impl Generic {
    /// The parameter as it is declared.
    pub(crate) fn declaration(&self) -> TokenStream {
        let Generic { name, bound } = self;
        quote!(#name: #bound)
    }
}

impl<'p> RoleCode<'p> {
    /// Makes a role ready.
    pub(crate) fn new(protocol: &'p Protocol, role: &'p Role) -> RoleCode<'p> {
        let graph = Graph::of(role);
        let names = slot_names(&graph);
        let values = values(protocol, role, &names);
        let name = names::camel(&names::plain(&role.name));
        let name = generated_at(&name, role.name.span());
        RoleCode { protocol, role, graph, name, values, names }
    }

    /// The message of a transfer.
    pub(crate) fn message(&self, index: usize) -> &'p Message {
        &self.protocol.messages[index]
    }

    /// The local variable and field of a declaration.
    pub(crate) fn local(&self, id: u32) -> Option<&Ident> {
        self.names.get(&id).map(|names| &names.value)
    }

    /// The local variable and field for what a loop has still to run over.
    pub(crate) fn rest(&self, id: u32) -> Option<&Ident> {
        self.names.get(&id).map(|names| &names.rest)
    }

    /// The local variable and field of a persistent request's plan.
    pub(crate) fn plan(&self, id: u32) -> Option<&Ident> {
        self.names.get(&id).map(|names| &names.plan)
    }

    /// What every state carries besides its scope.
    pub(crate) fn given(&self) -> Vec<(Ident, TokenStream)> {
        let mut given = Vec::new();
        if !self.protocol.parameters.is_empty() {
            given.push((generated("parameters"), quote!(Parameters)));
        }
        if self.protocol.grid.is_some() {
            given.push((generated("grid"), quote!(::p2p::session::Grid)));
        }
        given
    }

    /// The fields of a state of this scope.
    pub(crate) fn fields(&self, scope: &Scope<'p>) -> Vec<(Ident, TokenStream)> {
        let mut fields = self.given();
        fields.extend(scope.carried().map(|slot| (self.field(slot), self.field_type(slot))));
        fields
    }

    fn field(&self, slot: &Slot<'p>) -> Ident {
        let names = &self.names[&slot.name.id];
        match slot.kind {
            SlotKind::Rest(_) => names.rest.clone(),
            SlotKind::Plan(_) => names.plan.clone(),
            _ => names.value.clone(),
        }
    }

    fn field_type(&self, slot: &Slot<'p>) -> TokenStream {
        match slot.kind {
            SlotKind::Number => quote!(i64),
            SlotKind::Rest(range) => range_type(range),
            SlotKind::Plan(transfer) => match transfer.direction {
                Direction::Send => quote!(::p2p::session::SendPlan),
                Direction::Receive => quote!(::p2p::session::ReceivePlan),
            },
            SlotKind::Request(transfer) => {
                let buffer = self.buffer(slot.name.id, transfer);
                quote!(::p2p::session::Request<#buffer>)
            }
            SlotKind::Set(transfer) => {
                let buffer = self.buffer(slot.name.id, transfer);
                quote!(::std::vec::Vec<::p2p::session::Request<#buffer>>)
            }
        }
    }

    /// The type of a request's buffer: a parameter of the state, or fixed for single values.
    pub(crate) fn buffer(&self, id: u32, transfer: Transfer) -> TokenStream {
        let message = self.message(transfer.message);
        match messages::shape(message) {
            Shape::Value => {
                let element = messages::element(message);
                quote!(::p2p::Single<#element>)
            }
            Shape::Slice | Shape::Array(_) => {
                let buffer = &self.names[&id].buffer;
                quote!(#buffer)
            }
        }
    }

    /// The type parameter of a request's buffer, if it is one.
    pub(crate) fn generic(&self, id: u32, transfer: Transfer) -> Option<Generic> {
        let message = self.message(transfer.message);
        if matches!(messages::shape(message), Shape::Value) {
            return None;
        }
        let element = messages::element(message);
        let bound = match transfer.direction {
            Direction::Send => quote!(::p2p::SendBuffer<'env, #element>),
            Direction::Receive => quote!(::p2p::RecvBuffer<'env, #element>),
        };
        Some(Generic { name: self.names[&id].buffer.clone(), bound })
    }

    /// The type parameters of a state of this scope.
    pub(crate) fn generics(&self, scope: &Scope<'p>) -> Vec<Generic> {
        let carried = scope.carried();
        carried
            .filter_map(|slot| match slot.kind {
                SlotKind::Request(transfer) | SlotKind::Set(transfer) => {
                    self.generic(slot.name.id, transfer)
                }
                SlotKind::Number | SlotKind::Rest(_) | SlotKind::Plan(_) => None,
            })
            .collect()
    }

    /// The type parameters of the states that some targets mean, each once.
    pub(crate) fn generics_of(&self, targets: &[Target]) -> Vec<Generic> {
        let states = targets.iter().filter_map(|&target| self.graph.state(target));
        let mut generics: Vec<Generic> = Vec::new();
        for generic in states.flat_map(|state| self.generics(&state.scope)) {
            if generics.iter().all(|known| known.name != generic.name) {
                generics.push(generic);
            }
        }
        generics
    }

    /// The type that a target is.
    pub(crate) fn target_type(&self, target: Target) -> TokenStream {
        match self.graph.state(target) {
            Some(state) => self.state_type(state),
            None => quote!(Done<'s, 'env>),
        }
    }

    /// The type of a state.
    pub(crate) fn state_type(&self, state: &State<'p>) -> TokenStream {
        let name = generated(&state.name);
        let generics = self.generics(&state.scope).into_iter().map(|it| it.name);
        quote!(#name<'s, 'env #(, #generics)*>)
    }

    /// The value of a target, from local variables that are called as the fields are. Loops and
    /// sets that the way leads into are made on it.
    pub(crate) fn go(&self, target: Target) -> TokenStream {
        let Some(state) = self.graph.state(target) else { return quote!(Done { session }) };
        let name = generated(&state.name);
        let fields = self.fields(&state.scope).into_iter().map(|(field, _)| field);
        let entered = state.scope.since(target.depth).iter();
        let entered = entered.filter(|slot| slot.carried).map(|slot| {
            let field = self.field(slot);
            match slot.kind {
                SlotKind::Rest(range) => {
                    let range = self.range(range);
                    quote!(let #field = #range;)
                }
                _ => quote!(let #field = ::std::vec::Vec::new();),
            }
        });
        quote!({ #(#entered)* #name { session, #(#fields),* } })
    }

    /// The code of a range.
    fn range(&self, range: &Range) -> TokenStream {
        let (start, end) = (self.values.code(&range.start), self.values.code(&range.end));
        let end = if range.inclusive { quote!((#end + 1i64)) } else { end };
        match (&range.step, range.reversed) {
            (None, false) => quote!(#start..#end),
            (None, true) => quote!((#start..#end).rev()),
            (Some(step), reversed) => {
                let step = self.values.code(step);
                let way = match (reversed, range.step_from_end) {
                    (false, _) => quote!(forwards),
                    (true, false) => quote!(backwards),
                    (true, true) => quote!(from_end),
                };
                quote!(::p2p::session::Steps::#way(#start, #end, #step))
            }
        }
    }
}

fn range_type(range: &Range) -> TokenStream {
    let plain = quote!(::core::ops::Range<i64>);
    match (&range.step, range.reversed) {
        (None, false) => plain,
        (None, true) => quote!(::core::iter::Rev<#plain>),
        (Some(_), _) => quote!(::p2p::session::Steps),
    }
}

/// A name for everything that any state carries; two declarations of one name get two.
fn slot_names(graph: &Graph<'_>) -> HashMap<u32, SlotNames> {
    let mut used = Used::with(TAKEN);
    let mut buffers = Used::default();
    let mut all = HashMap::new();
    let scopes = graph.states().flat_map(|state| [&state.scope, &state.behind]);
    for slot in scopes.flat_map(|scope| scope.since(0)) {
        all.entry(slot.name.id).or_insert_with(|| {
            let mut text = names::trimmed(slot.name);
            if text.is_empty() {
                text.push_str("number");
            } else if slot.name.to_string().starts_with("r#") {
                // A keyword, which with this behind it is none.
                text.push('_');
            }
            let value = generated(&used.unique(&text, "_"));
            let rest = generated(&used.unique(&format!("{text}_rest"), "_"));
            let plan = generated(&used.unique(&format!("{text}_plan"), "_"));
            let buffer = buffers.unique(&format!("{}Buffer", names::camel(&text)), "");
            SlotNames { value, rest, plan, buffer: generated(&buffer) }
        });
    }
    all
}

/// Where the names stand that all roles share: constants and the grid's extents.
pub(crate) fn shared_names(protocol: &Protocol) -> HashMap<u32, TokenStream> {
    let mut names = HashMap::new();
    for constant in &protocol.constants {
        let name = &constant.name;
        names.insert(name.id, quote!((#name as i64)));
    }
    if let Some(grid) = &protocol.grid {
        for (extent, field) in [(&grid.rows, quote!(rows)), (&grid.columns, quote!(columns))] {
            if let Extent::Named(name) = extent {
                names.insert(name.id, quote!(grid.#field));
            }
        }
    }
    for parameter in &protocol.parameters {
        let name = &parameter.name;
        names.insert(name.id, quote!((parameters.#name as i64)));
    }
    names
}

/// Where the role's expressions find their values.
fn values(protocol: &Protocol, role: &Role, slots: &HashMap<u32, SlotNames>) -> Values {
    let mut names = shared_names(protocol);
    let rank = quote!((session.rank() as i64));
    patterns::bind(&role.pattern, &rank, &mut names);
    names.extend(slots.iter().map(|(&id, names)| {
        let value = &names.value;
        (id, quote!(#value))
    }));
    Values { rank, size: quote!((session.size() as i64)), grid: quote!(grid), names }
}
