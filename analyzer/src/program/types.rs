//! Types, as far as a front end can tell them.

use super::DefinitionId;

/// A number, a truth value, a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the Rust type of its name")]
pub enum Scalar {
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
    F32,
    F64,
    Bool,
    Char,
}

/// A type. What is not known is [`Type::Unknown`], which agrees with every other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Type {
    /// Not known.
    #[default]
    Unknown,
    /// Not known yet: a variable of type inference, which leaves none behind.
    Variable(u32),
    /// A number, a truth value, a character.
    Scalar(Scalar),
    /// Text: `str` and `String`.
    Text,
    /// Never returns.
    Never,
    /// A tuple; the empty one is the unit.
    Tuple(Vec<Type>),
    /// An array of this many elements, where that is known.
    Array(Box<Type>, Option<u64>),
    /// A slice.
    Slice(Box<Type>),
    /// A reference, or a raw pointer.
    Reference(Box<Type>),
    /// A struct or an enum of the program, with its generic arguments.
    Defined(DefinitionId, Vec<Type>),
    /// A type of a library by its last name, `Vec`, `Option`, `Process`, `SimpleCommunicator`, with
    /// its generic arguments (lifetimes left out). `Box`, `Rc`, `Arc`, `Cell`, `RefCell`, `Mutex` too.
    External(String, Vec<Type>),
    /// A generic parameter of the function or its `impl`, `const` ones included.
    Parameter(String),
    /// A number that stands where types do: the argument of a `const` parameter.
    Number(i128),
    /// `impl Trait`, `dyn Trait`: the traits' last names.
    Trait(Vec<String>),
    /// A function or a closure: parameters and result.
    Function(Vec<Type>, Box<Type>),
}

impl Scalar {
    /// The type's name.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::I128 => "i128",
            Scalar::Isize => "isize",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::U128 => "u128",
            Scalar::Usize => "usize",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::Bool => "bool",
            Scalar::Char => "char",
        }
    }

    /// The type of this name.
    pub fn from_name(name: &str) -> Option<Scalar> {
        use Scalar::{
            Bool, Char, F32, F64, I8, I16, I32, I64, I128, Isize, U8, U16, U32, U64, U128, Usize,
        };
        [I8, I16, I32, I64, I128, Isize, U8, U16, U32, U64, U128, Usize, F32, F64, Bool, Char]
            .into_iter()
            .find(|scalar| scalar.name() == name)
    }

    /// How many bytes it takes on the 64-bit machines that MPI jobs run on.
    pub fn bytes(self) -> u64 {
        match self {
            Scalar::I8 | Scalar::U8 | Scalar::Bool => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::Char => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 | Scalar::Isize | Scalar::Usize => 8,
            Scalar::I128 | Scalar::U128 => 16,
        }
    }

    /// Whether it is a whole number.
    pub fn is_integer(self) -> bool {
        !matches!(self, Scalar::F32 | Scalar::F64 | Scalar::Bool | Scalar::Char)
    }

    /// Whether it is a number with a fraction.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }
}

impl Type {
    /// The unit, which statements have.
    pub fn unit() -> Type {
        Type::Tuple(Vec::new())
    }

    /// The type behind all references and boxes.
    pub fn behind_references(&self) -> &Type {
        match self {
            Type::Reference(inner) => inner.behind_references(),
            Type::External(name, arguments)
                if matches!(name.as_str(), "Box" | "Rc" | "Arc") && arguments.len() == 1 =>
            {
                arguments[0].behind_references()
            }
            other => other,
        }
    }
}
