//! Message types: the items that the user's module keeps, and what each carries.

use p2p_protocol::grammar::syntax::{Message, Payload, Protocol};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

/// How the elements of a message are given and taken.
#[derive(Clone)]
pub(crate) enum Shape {
    /// One value.
    Value,
    /// A slice whose length is known when it is sent.
    Slice,
    /// An array of this type.
    Array(TokenStream),
}

/// The type of one element of a message.
pub(crate) fn element(message: &Message) -> TokenStream {
    match &message.payload {
        Payload::Scalar(ty) | Payload::Slice(ty) | Payload::Array(ty, _) => ty.to_token_stream(),
        Payload::Struct(item) => item.ident.to_token_stream(),
    }
}

/// Its shape.
pub(crate) fn shape(message: &Message) -> Shape {
    match &message.payload {
        Payload::Scalar(_) | Payload::Struct(_) => Shape::Value,
        Payload::Slice(_) => Shape::Slice,
        Payload::Array(ty, length) => Shape::Array(quote!([#ty; #length])),
    }
}

/// The items of all messages.
pub(crate) fn items(protocol: &Protocol) -> TokenStream {
    protocol.messages.iter().map(item).collect()
}

fn item(message: &Message) -> TokenStream {
    let Message { name, attributes, visibility, .. } = message;
    match &message.payload {
        Payload::Scalar(ty) => quote!(#(#attributes)* #visibility type #name = #ty;),
        Payload::Slice(ty) => quote!(#(#attributes)* #visibility type #name = [#ty];),
        Payload::Array(ty, length) => {
            quote!(#(#attributes)* #visibility type #name = [#ty; #length];)
        }
        Payload::Struct(item) => structure(item),
    }
}

/// A message struct is plain if its fields are, which the compiler is asked field by field. The
/// `unsafe impl` has the macro's own span, so that `forbid(unsafe_code)` still holds for what the
/// user writes.
fn structure(item: &syn::ItemStruct) -> TokenStream {
    let name = &item.ident;
    let derives = missing_derives(item);
    let fields = item.fields.iter().map(|field| {
        let ty = &field.ty;
        let span = ty.span().resolved_at(Span::call_site());
        quote_spanned!(span=> plain::<#ty>();)
    });
    quote! {
        #derives
        #item
        const _: fn() = || {
            const fn plain<T: ::p2p::Plain>() {}
            #(#fields)*
        };
        // SAFETY: every field is plain, which is asserted above, so a value of zeros is valid and
        // nothing in it points anywhere.
        unsafe impl ::p2p::Plain for #name {}
    }
}

/// `Clone` and `Copy`, as far as the user has not derived them.
fn missing_derives(item: &syn::ItemStruct) -> TokenStream {
    let derives = item.attrs.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let derived: String =
        derives.map(|attribute| attribute.to_token_stream().to_string()).collect();
    let has = |name: &str| derived.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
    let clone = (!has("Clone")).then(|| quote!(#[derive(::core::clone::Clone)]));
    let copy = (!has("Copy")).then(|| quote!(#[derive(::core::marker::Copy)]));
    quote!(#clone #copy)
}
