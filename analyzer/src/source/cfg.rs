//! Whether a `cfg` lets an item through, as far as that can be known without building.
//!
//! A protocol under `cfg(test)`, or under an operating system, is part of some build, and being
//! judged costs it nothing; so only what no build can contain is left out: `cfg(any())`,
//! `cfg(false)`, a feature that the package does not have.

use std::collections::BTreeSet;

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitBool, Meta, Token};

/// What is known of the build; `None` where the package is not.
pub type Features = Option<BTreeSet<String>>;

/// What stands in a `cfg`.
pub enum Condition {
    /// `true` or `false`.
    Constant(bool),
    /// Anything else, which has the form of an attribute.
    Option(Box<Meta>),
}

impl Parse for Condition {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitBool) {
            Ok(Condition::Constant(input.parse::<LitBool>()?.value))
        } else {
            Ok(Condition::Option(Box::new(input.parse()?)))
        }
    }
}

/// Whether the attributes' `cfg`s hold; `None` if some builds say yes and some no.
pub fn holds(attributes: &[Attribute], features: &Features) -> Option<bool> {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    all(conditions.map(|attribute| {
        attribute.parse_args().map_or(None, |condition| evaluate(&condition, features))
    }))
}

/// Whether one condition holds.
pub fn evaluate(condition: &Condition, features: &Features) -> Option<bool> {
    let meta = match condition {
        Condition::Constant(value) => return Some(*value),
        Condition::Option(meta) => meta,
    };
    let inner = |list: &syn::MetaList| {
        list.parse_args_with(Punctuated::<Condition, Token![,]>::parse_terminated).ok()
    };
    match &**meta {
        // Nobody has an option of this name: it was the way to write "never" before `cfg(false)`.
        Meta::Path(path) if path.is_ident("FALSE") => Some(false),
        Meta::List(list) if list.path.is_ident("all") => {
            all(inner(list)?.iter().map(|part| evaluate(part, features)))
        }
        Meta::List(list) if list.path.is_ident("any") => {
            let none = all(inner(list)?.iter().map(|part| evaluate(part, features).map(|it| !it)));
            none.map(|none| !none)
        }
        Meta::List(list) if list.path.is_ident("not") => {
            evaluate(inner(list)?.first()?, features).map(|it| !it)
        }
        Meta::NameValue(pair) if pair.path.is_ident("feature") => {
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) = &pair.value else {
                return None;
            };
            let declared = features.as_ref()?.contains(&name.value());
            if declared { None } else { Some(false) }
        }
        _ => None,
    }
}

/// "And" where some answers are not known.
pub fn all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(true);
    for answer in answers {
        match answer {
            Some(false) => return Some(false),
            Some(true) => {}
            None => result = None,
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<bool> {
        let features = Some(BTreeSet::from(["gpu".to_owned()]));
        let item: syn::ItemMod = syn::parse_str(&format!("#[cfg({text})] mod x;")).unwrap();
        holds(&item.attrs, &features)
    }

    #[test]
    fn only_what_no_build_contains_is_out() {
        let out = ["any()", "false", "FALSE", "not(all())", "all(test, any())", "feature = \"no\""];
        assert!(out.iter().all(|text| of(text) == Some(false)), "{:?}", out.map(of));
        let sure = ["all()", "true", "not(any())", "any(test, all())", "not(feature = \"no\")"];
        assert!(sure.iter().all(|text| of(text) == Some(true)), "{:?}", sure.map(of));
        let open = ["test", "not(test)", "unix", "target_os = \"linux\"", "feature = \"gpu\""];
        assert!(open.iter().all(|text| of(text).is_none()), "{:?}", open.map(of));
    }
}
