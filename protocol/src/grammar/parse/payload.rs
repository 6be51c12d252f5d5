//! What a message carries: a plain value, a slice, an array, or a struct.

use proc_macro2::{Delimiter, TokenTree};

use super::{Parsed, Parser};
use crate::grammar::syntax::{Expression, Payload};
use crate::grammar::text;
use crate::grammar::tokens::{Cursor, Region, Token, recursion, stream_of};

/// How deep Rust's own parser may be led; it recurses, and a macro may run on a small stack.
const DEEPEST_RUST: usize = 160;

const HELP: &str = "messages carry a plain value (`u64`, `f32`, a struct), a slice `[T]`, or an \
                    array `[T; K]`";

/// A payload with what else is known of it.
pub(super) struct Carried {
    pub(super) payload: Payload,
    /// The element type's text.
    pub(super) signature: String,
    /// An array's length, if the language understands it.
    pub(super) length: Option<Expression>,
}

impl Parser {
    /// The type of a message, which takes up all that is left.
    pub(super) fn payload(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Carried> {
        if let [token] = cursor.rest
            && token.is_group(Delimiter::Bracket)
        {
            return self.slice_or_array(token);
        }
        let (ty, signature) = self.element(*cursor)?;
        Ok(Carried { payload: Payload::Scalar(Box::new(ty)), signature, length: None })
    }

    fn slice_or_array(&mut self, token: &Token) -> Parsed<Carried> {
        let mut inside = token.enter();
        let element = inside.until(|token| token.is_mark(';'));
        let (ty, signature) = self.element(element)?;
        if !inside.take(";") {
            let payload = Payload::Slice(Box::new(ty));
            return Ok(Carried { payload, signature, length: None });
        }
        let length = self.rust(inside, syn::parse2::<syn::Expr>)?;
        let payload = Payload::Array(Box::new(ty), Box::new(length));
        Ok(Carried { payload, signature, length: self.understood(inside) })
    }

    /// The expression, if the language understands it; no error if not.
    pub(super) fn understood(&mut self, mut cursor: Cursor<'_>) -> Option<Expression> {
        let errors = self.errors.len();
        let expression = self.integer(&mut cursor).ok().filter(|_| cursor.is_empty());
        self.errors.truncate(errors);
        expression
    }

    /// An element's type: anything that can be plain, as far as its text tells.
    fn element(&mut self, cursor: Cursor<'_>) -> Parsed<(syn::Type, String)> {
        let signature = text::line(cursor.rest);
        let ty = self.rust(cursor, syn::parse2::<syn::Type>)?;
        match not_plain(&ty) {
            None => Ok((ty, signature)),
            Some((message, help)) => Err(self.wrong_help(cursor.remainder(), message, help)),
        }
    }

    /// Has tokens read by Rust's parser, unless it would get too deep.
    pub(super) fn rust<T>(
        &mut self,
        cursor: Cursor<'_>,
        parse: impl FnOnce(proc_macro2::TokenStream) -> syn::Result<T>,
    ) -> Parsed<T> {
        self.rust_depth(cursor.rest, cursor.remainder())?;
        parse(stream_of(cursor.rest))
            .map_err(|error| self.wrong(cursor.remainder(), format!("{error} (Rust's own syntax)")))
    }

    /// Whether Rust's parser may be given these tokens.
    pub(super) fn rust_depth(&mut self, tokens: &[Token], region: Region) -> Parsed<()> {
        if recursion(tokens) > DEEPEST_RUST {
            return Err(self.wrong(region, "this is too long to be checked"));
        }
        Ok(())
    }
}

/// Why a type cannot travel, and what to write instead.
fn not_plain(ty: &syn::Type) -> Option<(String, String)> {
    let instead = |what: &str, help: String| Some((format!("{what} cannot travel"), help));
    match ty {
        syn::Type::Path(path) => {
            let segment = path.path.segments.last()?;
            let owner = segment.ident.to_string();
            match owner.as_str() {
                "Vec" | "Box" | "VecDeque" => {
                    let inner = match &segment.arguments {
                        syn::PathArguments::AngleBracketed(arguments) => {
                            quote::quote!(#arguments).to_string()
                        }
                        _ => String::new(),
                    };
                    let inner = inner.trim_matches(['<', '>', ' ', '[', ']']).to_owned();
                    let help = format!(
                        "write `[{inner}]`: a message is described by its elements, and a `{owner}` \
                         can be sent and received as one"
                    );
                    instead(&format!("a `{owner}`"), help)
                }
                "String" | "str" => instead("text", "write `[u8]` and send its bytes".to_owned()),
                "Rc" | "Arc" | "Cell" | "RefCell" | "Mutex" | "HashMap" | "BTreeMap" | "Option" => {
                    instead(&format!("a `{owner}`"), HELP.to_owned())
                }
                _ => None,
            }
        }
        syn::Type::Array(array) => not_plain(&array.elem),
        syn::Type::Paren(inner) => not_plain(&inner.elem),
        syn::Type::Group(inner) => not_plain(&inner.elem),
        syn::Type::Reference(_) | syn::Type::Ptr(_) => {
            instead("an address", "name the type that it points to".to_owned())
        }
        syn::Type::Slice(_) => instead("a slice of slices", HELP.to_owned()),
        syn::Type::Tuple(_) => {
            instead("a tuple", "give it a name: `#[message] struct Name { .. }`".to_owned())
        }
        _ => instead("this type", HELP.to_owned()),
    }
}

/// The bytes of Rust's own plain types.
pub(in crate::grammar) fn scalar_bytes(signature: &str) -> Option<u64> {
    Some(match signature {
        "u8" | "i8" | "bool" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" | "f32" | "char" => 4,
        "u64" | "i64" | "f64" | "usize" | "isize" => 8,
        "u128" | "i128" => 16,
        _ => return None,
    })
}

/// Whether these tokens are the name of an integer type that parameters and constants may have.
pub(super) fn is_integer_type(tokens: &[Token]) -> bool {
    let known = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize"];
    matches!(tokens, [Token { tree: TokenTree::Ident(_), text, .. }]
        if known.contains(&text.as_str()))
}
