//! Bit-fields: what is stored in one is cut to its width. How they are packed is not followed.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::super::parse::children;
use super::Lowering;
use super::convert::{convert, integer};
use crate::program::{Binary, DefinitionId, Expression, Kind, Scalar, Type};

/// The widths of bit-fields, by their struct and their name.
pub(super) type Widths<'u> = FxHashMap<(DefinitionId, &'u str), u32>;

impl<'u> Lowering<'u> {
    /// Notes the widths that a struct's body gives its fields.
    pub(in crate::read::c) fn note_bit_fields(&mut self, definition: DefinitionId, body: Node<'u>) {
        for node in children(body, &mut body.walk()) {
            if node.kind() != "field_declaration" || !has_sign_as_written(self, node) {
                continue;
            }
            let mut name = None;
            for child in children(node, &mut node.walk()) {
                match child.kind() {
                    "field_identifier" => name = Some(self.text(child)),
                    "bitfield_clause" => {
                        let width = children(child, &mut child.walk()).first().copied();
                        if let (Some(name), Some(width)) = (name.take(), width)
                            && let Some(width) = self.width(width)
                        {
                            self.widths.insert((definition, name), width);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn width(&mut self, node: Node<'u>) -> Option<u32> {
        let value = self.without_effect(|lowering| lowering.value(node));
        u32::try_from(self.fold(&value)?).ok()
    }

    /// The width of what is assigned to, if it is a bit-field that is narrower than its type.
    pub(super) fn width_of(&self, target: &Expression) -> Option<u32> {
        let Kind::Field(of, name) = &target.kind else { return None };
        let Type::Defined(definition, _) = of.ty else { return None };
        self.widths.get(&(definition, name.as_str())).copied()
    }

    /// A value as a field of a struct keeps it.
    pub(super) fn cut_for(
        &self,
        (definition, name): (DefinitionId, &str),
        value: Expression,
    ) -> Expression {
        match self.widths.get(&(definition, name)) {
            Some(width) => cut(value, *width),
            None => value,
        }
    }
}

/// Whether it is written if a number may be negative: of an enum, the compiler decides.
fn has_sign_as_written(lowering: &Lowering<'_>, node: Node<'_>) -> bool {
    let Some(ty) = node.child_by_field_name("type") else { return false };
    match ty.kind() {
        "primitive_type" | "sized_type_specifier" => true,
        "type_identifier" => {
            lowering.text(ty).ends_with("int8_t")
                || lowering.text(ty).ends_with("int16_t")
                || lowering.text(ty).ends_with("int32_t")
        }
        _ => false,
    }
}

/// A number cut to so many bits.
pub(super) fn cut(value: Expression, width: u32) -> Expression {
    let (ty, place) = (value.ty.clone(), value.place);
    let Type::Scalar(scalar) = ty else { return value };
    let (bits, is_signed) = match scalar {
        Scalar::U8 => (8, false),
        Scalar::U16 => (16, false),
        Scalar::U32 => (32, false),
        Scalar::I8 => (8, true),
        Scalar::I16 => (16, true),
        Scalar::I32 => (32, true),
        _ => return value,
    };
    if width == 0 || width >= bits {
        return value;
    }
    let computed = if is_signed { Scalar::I32 } else { Scalar::U32 };
    let of_two = |operation, left: Expression, right: i128| {
        let ty = left.ty.clone();
        let right = integer(right, computed, place);
        let kind = Kind::Binary(operation, Box::new(left), Box::new(right));
        Expression { kind, place, ty }
    };
    let value = convert(value, &Type::Scalar(computed));
    let low = of_two(Binary::BitAnd, value, (1 << width) - 1);
    let cut = match is_signed {
        // The highest bit stands for what is below zero.
        true => {
            let sign = 1 << (width - 1);
            of_two(Binary::Subtract, of_two(Binary::BitXor, low, sign), sign)
        }
        false => low,
    };
    convert(cut, &Type::Scalar(scalar))
}
