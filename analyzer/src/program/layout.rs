//! How many bytes a value of a type takes in C, and where its parts lie: as on the 64-bit machines
//! that MPI jobs run on.

use super::{DefinitionId, Program, Scalar, Type};

/// Handles of MPI are taken to be pointers, as Open MPI has them.
const HANDLE: Layout = Layout { bytes: 8, alignment: 8 };

/// A status as Open MPI has it.
const STATUS: Layout = Layout { bytes: 24, alignment: 8 };

/// Structs in structs, at most: what is deeper contains itself, which no program does.
const DEPTH: u32 = 64;

/// Types in types that are looked at for one answer: beyond them it is not known.
const PARTS: u32 = 20_000;

/// How far an answer may go.
struct Room {
    depth: u32,
    parts: u32,
}

impl Room {
    fn new() -> Self {
        Room { depth: DEPTH, parts: PARTS }
    }

    /// One level deeper; `None` where that is too far.
    fn enter(&mut self) -> Option<()> {
        self.parts = self.parts.checked_sub(1)?;
        self.depth = self.depth.checked_sub(1)?;
        Some(())
    }
}

#[derive(Clone, Copy)]
struct Layout {
    bytes: u64,
    alignment: u64,
}

impl Program {
    /// The bytes of a value of a type in C, where they are known.
    pub fn size_of(&self, ty: &Type) -> Option<u64> {
        Some(self.layout(ty, &mut Room::new())?.bytes)
    }

    /// What the address of a value of a type is a multiple of in C.
    pub fn align_of(&self, ty: &Type) -> Option<u64> {
        Some(self.layout(ty, &mut Room::new())?.alignment)
    }

    /// How many bytes after its start a struct has its field.
    pub fn offset_of(&self, definition: DefinitionId, field: &str) -> Option<u64> {
        let (mut end, mut room) = (0u64, Room::new());
        for (name, ty) in &self.definition(definition).variants.first()?.fields {
            let layout = self.layout(ty, &mut room)?;
            let start = end.checked_next_multiple_of(layout.alignment)?;
            if name == field {
                return Some(start);
            }
            end = start.checked_add(layout.bytes)?;
        }
        None
    }

    /// Whether a value of a type has no more parts than can be kept one by one.
    pub fn can_be_taken_apart(&self, ty: &Type) -> bool {
        self.parts_of(ty, &mut Room::new()).is_some_and(|parts| parts <= PARTS.into())
    }

    /// How many structs and fields a value has, elements of an array counted up to a bound.
    fn parts_of(&self, ty: &Type, room: &mut Room) -> Option<u64> {
        room.enter()?;
        let parts = match ty {
            Type::Array(element, length) => {
                let inner = self.parts_of(element, room)?;
                let is_plain = inner == 1;
                let kept = if is_plain { 1 } else { length.unwrap_or(1).min(64) };
                inner.checked_mul(kept)?
            }
            Type::Defined(definition, _) => {
                let fields = self.definition(*definition).variants.first();
                let mut sum = 1u64;
                for (_, ty) in fields.iter().flat_map(|variant| &variant.fields) {
                    sum = sum.checked_add(self.parts_of(ty, room)?)?;
                }
                sum
            }
            _ => 1,
        };
        room.depth += 1;
        Some(parts)
    }

    fn layout(&self, ty: &Type, room: &mut Room) -> Option<Layout> {
        room.enter()?;
        let layout = self.layout_within(ty, room);
        room.depth += 1;
        layout
    }

    fn layout_within(&self, ty: &Type, room: &mut Room) -> Option<Layout> {
        match ty {
            Type::Scalar(scalar) => {
                let bytes = scalar.bytes();
                Some(Layout { bytes, alignment: bytes })
            }
            Type::Reference(_) | Type::Function(..) => Some(HANDLE),
            Type::Array(element, Some(length)) => {
                let element = self.layout(element, room)?;
                Some(Layout { bytes: element.bytes.checked_mul(*length)?, ..element })
            }
            Type::Defined(definition, _) => self.layout_of_struct(*definition, room),
            Type::External(name, _) => match name.as_str() {
                "MPI_Status" => Some(STATUS),
                "long double" | "va_list" => Some(Layout { bytes: 16, alignment: 16 }),
                "float _Complex" => Some(Layout { bytes: 8, alignment: 4 }),
                "double _Complex" => Some(Layout { bytes: 16, alignment: 8 }),
                name if name.starts_with("MPI_") => Some(HANDLE),
                _ => None,
            },
            _ => None,
        }
    }

    fn layout_of_struct(&self, definition: DefinitionId, room: &mut Room) -> Option<Layout> {
        let fields = &self.definition(definition).variants.first()?.fields;
        let (mut end, mut alignment) = (0u64, 1);
        for (number, (_, ty)) in fields.iter().enumerate() {
            let is_last = number + 1 == fields.len();
            let layout = match ty {
                // A flexible array member takes no room of its own.
                Type::Array(element, None) if is_last => {
                    Layout { bytes: 0, ..self.layout(element, room)? }
                }
                ty => self.layout(ty, room)?,
            };
            end = end.checked_next_multiple_of(layout.alignment)?.checked_add(layout.bytes)?;
            alignment = alignment.max(layout.alignment);
        }
        Some(Layout { bytes: end.checked_next_multiple_of(alignment)?, alignment })
    }
}

impl Scalar {
    /// The signed or unsigned whole number, or the number with a fraction, of this rank in C's
    /// conversions: the greater one wins.
    pub fn conversion_rank(self) -> u32 {
        match self {
            Scalar::Bool => 0,
            Scalar::I8 => 1,
            Scalar::U8 => 2,
            Scalar::I16 => 3,
            Scalar::U16 => 4,
            Scalar::I32 | Scalar::Char => 5,
            Scalar::U32 => 6,
            Scalar::I64 | Scalar::Isize => 7,
            Scalar::U64 | Scalar::Usize => 8,
            Scalar::I128 => 9,
            Scalar::U128 => 10,
            Scalar::F32 => 11,
            Scalar::F64 => 12,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Definition, Variant};
    use super::*;

    #[test]
    fn what_is_nested_beyond_reason_has_no_size() {
        let mut program = Program::default();
        let mut inner = Type::Scalar(Scalar::I8);
        for number in 0..40 {
            let fields = ["a", "b"].map(|name| (name.to_owned(), inner.clone())).into();
            let variant = Variant { name: "s".into(), fields, discriminant: None };
            program.definitions.push(Definition {
                name: "s".into(),
                is_enum: false,
                generics: Vec::new(),
                variants: vec![variant],
                traits: Vec::new(),
            });
            inner = Type::Defined(DefinitionId(number), Vec::new());
        }
        assert_eq!(program.size_of(&Type::Defined(DefinitionId(3), Vec::new())), Some(16));
        assert_eq!(program.size_of(&inner), None);
        assert!(!program.can_be_taken_apart(&inner));
        assert!(program.can_be_taken_apart(&Type::Defined(DefinitionId(3), Vec::new())));
    }

    #[test]
    fn fields_lie_at_multiples_of_their_alignment() {
        let scalar = Type::Scalar;
        let fields = [
            ("letter", scalar(Scalar::I8)),
            ("number", scalar(Scalar::F64)),
            ("row", Type::Array(Box::new(scalar(Scalar::I16)), Some(3))),
        ];
        let fields = fields.map(|(name, ty)| (name.to_owned(), ty)).into();
        let variant = Variant { name: "pair".into(), fields, discriminant: None };
        let definition = Definition {
            name: "pair".into(),
            is_enum: false,
            generics: Vec::new(),
            variants: vec![variant],
            traits: Vec::new(),
        };
        let program = Program { definitions: vec![definition], ..Program::default() };
        let pair = DefinitionId(0);
        let offsets = ["letter", "number", "row", "none"];
        let offsets = offsets.map(|field| program.offset_of(pair, field));
        assert_eq!(offsets, [Some(0), Some(8), Some(16), None]);
        assert_eq!(program.size_of(&Type::Defined(pair, Vec::new())), Some(24));
        assert_eq!(program.size_of(&Type::Array(Box::new(Type::Unknown), Some(2))), None);
    }
}
