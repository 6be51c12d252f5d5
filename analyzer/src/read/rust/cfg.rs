//! Which items the build has that is looked at: an ordinary one on Linux, with every feature of
//! the package. Tests are looked at as well, but where an item is there twice, once for tests and
//! once not, the one that is not counts.

use proc_macro2::TokenStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

use crate::source::cfg::{Condition, Features};

/// Whether the build has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Built {
    /// No build that is looked at has it.
    Never,
    /// Only the build of tests.
    InTests,
    /// The ordinary build.
    Always,
}

/// Whether the build has what these attributes stand on.
pub(super) fn built(attributes: &[Attribute], features: &Features) -> Built {
    let holds = |test| {
        let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        conditions.map(|it| it.parse_args::<Condition>()).all(|condition| {
            condition.is_ok_and(|condition| Build { features, test }.has(&condition))
        })
    };
    match (holds(false), holds(true)) {
        (true, _) => Built::Always,
        (false, true) => Built::InTests,
        (false, false) => Built::Never,
    }
}

/// Whether the condition in `cfg!(..)` or in `cfg_if!` holds in an ordinary build.
pub(super) fn holds(condition: TokenStream, features: &Features) -> Option<bool> {
    let condition = syn::parse2::<Condition>(condition).ok()?;
    Some(Build { features, test: false }.has(&condition))
}

struct Build<'a> {
    features: &'a Features,
    test: bool,
}

impl Build<'_> {
    fn has(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Constant(value) => *value,
            Condition::Option(meta) => self.has_option(meta),
        }
    }

    fn has_option(&self, meta: &Meta) -> bool {
        match meta {
            Meta::Path(path) if path.is_ident("test") => self.test,
            Meta::Path(path) => path.is_ident("unix") || path.is_ident("debug_assertions"),
            Meta::List(list) => {
                let parse = Punctuated::<Condition, Token![,]>::parse_terminated;
                let Ok(parts) = list.parse_args_with(parse) else { return false };
                let mut parts = parts.iter().map(|part| self.has(part));
                if list.path.is_ident("all") {
                    parts.all(|part| part)
                } else if list.path.is_ident("any") {
                    parts.any(|part| part)
                } else {
                    list.path.is_ident("not") && parts.next() == Some(false)
                }
            }
            Meta::NameValue(pair) => {
                let Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) = &pair.value else {
                    return false;
                };
                let name = pair.path.get_ident().map(ToString::to_string);
                self.has_value(name.as_deref().unwrap_or_default(), &value.value())
            }
        }
    }

    fn has_value(&self, name: &str, value: &str) -> bool {
        match name {
            "feature" => self.features.as_ref().is_none_or(|features| features.contains(value)),
            "target_os" => value == "linux",
            "target_family" => value == "unix",
            "target_arch" => value == "x86_64",
            "target_pointer_width" => value == "64",
            "target_endian" => value == "little",
            "panic" => value == "unwind",
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn of(text: &str) -> Built {
        let features = Some(BTreeSet::from(["gpu".to_owned()]));
        let item: syn::ItemMod = syn::parse_str(&format!("{text} mod x;")).unwrap();
        built(&item.attrs, &features)
    }

    #[test]
    fn tests_are_told_from_what_is_always_there() {
        assert_eq!(of(""), Built::Always);
        assert_eq!(of("#[cfg(test)]"), Built::InTests);
        assert_eq!(of("#[cfg(not(test))]"), Built::Always);
        assert_eq!(of("#[cfg(feature = \"gpu\")]"), Built::Always);
        assert_eq!(of("#[cfg(not(feature = \"gpu\"))]"), Built::Never);
        assert_eq!(of("#[cfg(feature = \"no\")]"), Built::Never);
        assert_eq!(of("#[cfg(all(unix, not(windows)))]"), Built::Always);
        assert_eq!(of("#[cfg(any(windows, target_os = \"macos\"))]"), Built::Never);
        assert_eq!(of("#[cfg(unix)] #[cfg(test)]"), Built::InTests);
    }
}
