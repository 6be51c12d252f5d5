//! Values that are written down.

use syn::Lit;

use super::Body;
use crate::program::{Expression, Kind, Literal, Scalar, Type};

impl Body<'_, '_> {
    pub(super) fn literal(&mut self, written: &Lit) -> Expression {
        let bytes = self.bytes(written.span());
        let (literal, ty) = match written {
            Lit::Str(it) => (Literal::Text(it.value().into()), Type::Text),
            Lit::ByteStr(it) => (Literal::Bytes(it.value().into()), Type::Unknown),
            Lit::Byte(it) => (Literal::Integer(it.value().into()), Type::Scalar(Scalar::U8)),
            Lit::Char(it) => (Literal::Char(it.value()), Type::Scalar(Scalar::Char)),
            Lit::Bool(it) => (Literal::Bool(it.value), Type::Scalar(Scalar::Bool)),
            Lit::Float(it) => match it.base10_parse() {
                Ok(number) => (Literal::Float(number), suffix(it.suffix())),
                Err(_) => return self.unknown("this number cannot be read", bytes),
            },
            Lit::Int(it) => {
                let ty = suffix(it.suffix());
                let is_float = matches!(&ty, Type::Scalar(scalar) if scalar.is_float());
                match (is_float, it.base10_parse(), it.base10_digits().parse()) {
                    (true, _, Ok(number)) => (Literal::Float(number), ty),
                    (false, Ok(number), _) => (Literal::Integer(number), ty),
                    _ => return self.unknown("this number is too large", bytes),
                }
            }
            _ => return self.unknown("this literal cannot be read", bytes),
        };
        let mut lowered = self.make(Kind::Literal(literal), bytes);
        lowered.ty = ty;
        lowered
    }
}

fn suffix(suffix: &str) -> Type {
    Scalar::from_name(suffix).map_or(Type::Unknown, Type::Scalar)
}
