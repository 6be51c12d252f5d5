//! Operations of all ranks together.
//!
//! Where the role and the root are both plain numbers it is known which side of a rooted operation
//! a role is on, and the step takes only what that side has. Otherwise it takes what both have.

use p2p_protocol::grammar::syntax::{Expression, ExpressionKind, MessageName, Pattern};
use p2p_protocol::model::CollectiveKind;
use proc_macro2::TokenStream;
use quote::quote;

use crate::messages::{self, Shape};
use crate::method::Method;
use crate::states::StateCode;

/// Which side of a rooted operation a role is on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Root,
    Other,
    Either,
}

/// The method of a collective operation.
pub(crate) fn method(
    state: &StateCode<'_, '_>,
    kind: CollectiveKind,
    root: Option<&Expression>,
    message: Option<&MessageName>,
) -> Method {
    let Some(message) = message else {
        let call = match kind {
            CollectiveKind::Fence => quote!(fence),
            _ => quote!(barrier),
        };
        return Method::of(state, None, "returns when every rank has come.")
            .body(quote!(session.#call(&OPERATION)?;));
    };
    let side = root.and_then(integer);
    let side = side.map_or(Side::Either, |root| self::side(&state.code.role.pattern, root));
    let root = root.map(|root| {
        let root = state.code.values.code(root);
        quote!(let root = #root;)
    });
    let declared = state.code.message(message.index);
    let parts = Parts {
        state,
        message: message.index,
        element: messages::element(declared),
        shape: messages::shape(declared),
        side,
    };
    let mut method = match kind {
        CollectiveKind::Bcast => parts.bcast(),
        CollectiveKind::Scatter => parts.scatter(),
        CollectiveKind::Gather => parts.gather(),
        CollectiveKind::AllGather => parts.all_gather(),
        CollectiveKind::Reduce => parts.reduce(),
        CollectiveKind::AllReduce => parts.all_reduce(),
        CollectiveKind::AllToAll => parts.all_to_all(),
        // The language has no others.
        _ => return Method::of(state, None, ""),
    };
    let body = &method.body;
    method.body = quote!(#root #body);
    method
}

/// What the methods of one statement are made from.
struct Parts<'a, 'c, 'p> {
    state: &'a StateCode<'c, 'p>,
    message: usize,
    element: TokenStream,
    shape: Shape,
    side: Side,
}

impl Parts<'_, '_, '_> {
    fn method(&self, about: &str) -> Method {
        Method::of(self.state, Some(self.message), about)
    }

    fn bcast(&self) -> Method {
        let element = &self.element;
        match (&self.shape, self.side) {
            (Shape::Value, Side::Root) => self
                .method("gives it to every rank.")
                .argument(quote!(value: #element))
                .body(quote!(session.bcast(&OPERATION, root, &mut [value])?;)),
            (Shape::Value, Side::Other) => self
                .method("gets what the root gives to every rank.")
                .body(quote! {
                    let received = session.bcast(&OPERATION, root, ::p2p::One::<#element>::new())?;
                })
                .value(element.clone(), quote!(received)),
            (Shape::Value, Side::Either) => self
                .method("on the root gives `value` to every rank, elsewhere puts it there.")
                .argument(quote!(value: &mut #element))
                .body(quote! {
                    session.bcast(&OPERATION, root, ::core::slice::from_mut(value))?;
                }),
            (Shape::Array(array), _) => self
                .method("on the root gives `buffer` to every rank, elsewhere receives into it.")
                .argument(quote!(buffer: &mut #array))
                .body(quote!(session.bcast(&OPERATION, root, buffer)?;)),
            (Shape::Slice, _) => self
                .method("on the root gives `buffer` to every rank, elsewhere receives into it.")
                .argument(quote!(buffer: impl ::p2p::Receive<#element, Output = ()>))
                .body(quote!(session.bcast(&OPERATION, root, buffer)?;)),
        }
    }

    /// The parts for all ranks, as an argument where this role may be the root.
    fn scattered(&self, method: Method) -> (Method, TokenStream) {
        let element = &self.element;
        match self.side {
            Side::Other => (method, quote!(&[])),
            Side::Root | Side::Either => {
                (method.argument(quote!(parts: &[#element])), quote!(parts))
            }
        }
    }

    fn scatter(&self) -> Method {
        let about = match self.side {
            Side::Root => "cuts `parts` into one part for each rank, and keeps its own.",
            Side::Other => "gets this rank's part.",
            Side::Either => {
                "on the root cuts `parts` into one part for each rank (elsewhere it is not looked \
                 at); gets this rank's part."
            }
        };
        let (method, parts) = self.scattered(self.method(about));
        let element = &self.element;
        match &self.shape {
            Shape::Value => method
                .body(quote! {
                    let received =
                        session.scatter(&OPERATION, root, #parts, ::p2p::One::<#element>::new())?;
                })
                .value(element.clone(), quote!(received)),
            Shape::Array(array) => method
                .argument(quote!(buffer: &mut #array))
                .body(quote!(session.scatter(&OPERATION, root, #parts, buffer)?;)),
            Shape::Slice => method
                .argument(quote!(buffer: impl ::p2p::Receive<#element, Output = ()>))
                .body(quote!(session.scatter(&OPERATION, root, #parts, buffer)?;)),
        }
    }

    /// This rank's own part: the argument, and the slice.
    fn own(&self, method: Method) -> (Method, TokenStream) {
        let element = &self.element;
        match &self.shape {
            Shape::Value => (method.argument(quote!(value: #element)), quote!(&[value])),
            Shape::Array(array) => (method.argument(quote!(part: &#array)), quote!(part)),
            Shape::Slice => (method.argument(quote!(part: &[#element])), quote!(part)),
        }
    }

    fn gather(&self) -> Method {
        let about = match self.side {
            Side::Root => {
                "gets the parts of all ranks, in their order, with this rank's among them."
            }
            Side::Other => "gives this rank's part to the root.",
            Side::Either => {
                "gives this rank's part to the root, which gets all of them in the order of ranks; \
                 the others get an empty `Vec`."
            }
        };
        let (method, part) = self.own(self.method(about));
        let gathered = quote!(session.gather(&OPERATION, root, #part)?);
        let element = &self.element;
        match self.side {
            Side::Other => method.body(quote!(#gathered;)),
            Side::Root | Side::Either => method
                .body(quote!(let received = #gathered;))
                .value(quote!(::std::vec::Vec<#element>), quote!(received)),
        }
    }

    fn all_gather(&self) -> Method {
        let about = "gets the parts of all ranks, in their order, with this rank's among them.";
        let (method, part) = self.own(self.method(about));
        let element = &self.element;
        method
            .body(quote!(let received = session.all_gather(&OPERATION, #part)?;))
            .value(quote!(::std::vec::Vec<#element>), quote!(received))
    }

    /// The elements to be combined, and how.
    fn combined(&self, about: &str) -> Method {
        let element = &self.element;
        let method = self.method(about);
        let method = match &self.shape {
            Shape::Value => method.argument(quote!(value: #element)),
            Shape::Array(array) => method.argument(quote!(data: &mut #array)),
            Shape::Slice => method.argument(quote!(data: &mut [#element])),
        };
        method.argument(quote!(reduce: impl ::p2p::Reduce<#element>))
    }

    fn reduce(&self) -> Method {
        let element = &self.element;
        let method = self.combined(
            "combines the elements of all ranks, place by place; the root gets the result.",
        );
        if !matches!(self.shape, Shape::Value) {
            return method.body(quote!(session.reduce(&OPERATION, root, data, reduce)?;));
        }
        let method = method.body(quote! {
            let mut combined = [value];
            session.reduce(&OPERATION, root, &mut combined, reduce)?;
            let [combined] = combined;
        });
        match self.side {
            Side::Root => method.value(element.clone(), quote!(combined)),
            Side::Other => method,
            Side::Either => {
                let here = quote!((session.rank() as i64 == root).then_some(combined));
                method.value(quote!(::core::option::Option<#element>), here)
            }
        }
    }

    fn all_reduce(&self) -> Method {
        let element = &self.element;
        let method = self.combined(
            "combines the elements of all ranks, place by place; every rank gets the result.",
        );
        if !matches!(self.shape, Shape::Value) {
            return method.body(quote!(session.all_reduce(&OPERATION, data, reduce)?;));
        }
        method
            .body(quote! {
                let mut combined = [value];
                session.all_reduce(&OPERATION, &mut combined, reduce)?;
                let [combined] = combined;
            })
            .value(element.clone(), quote!(combined))
    }

    fn all_to_all(&self) -> Method {
        let element = &self.element;
        self.method("gives each rank its part of `parts`, and gets theirs in the order of ranks.")
            .argument(quote!(parts: &[#element]))
            .body(quote!(let received = session.all_to_all(&OPERATION, parts)?;))
            .value(quote!(::std::vec::Vec<#element>), quote!(received))
    }
}

/// Which side a role is on, as far as plain numbers tell.
fn side(pattern: &Pattern, root: i64) -> Side {
    match pattern {
        Pattern::Value(own) => match integer(own) {
            Some(own) if own == root => Side::Root,
            Some(_) => Side::Other,
            None => Side::Either,
        },
        Pattern::Range { start: Some(start), .. } if integer(start) > Some(root) => Side::Other,
        Pattern::Guarded(inner, _) if side(inner, root) == Side::Other => Side::Other,
        Pattern::Or(several) if several.iter().all(|one| side(one, root) == Side::Other) => {
            Side::Other
        }
        _ => Side::Either,
    }
}

fn integer(expression: &Expression) -> Option<i64> {
    match expression.kind {
        ExpressionKind::Integer(value) => Some(value),
        _ => None,
    }
}
