//! How two values become one.

use super::Plain;

/// What a reduction does with two values: [`Sum`], [`Product`], [`Min`], [`Max`], or a closure
/// `Fn(T, T) -> T`. It must be associative; values come in the order of ranks, so it need not be
/// commutative.
pub trait Reduce<T> {
    /// Combines the value of lower ranks with that of higher ones.
    fn combine(&self, lower: T, higher: T) -> T;
}

impl<T: Plain, F: Fn(T, T) -> T> Reduce<T> for F {
    fn combine(&self, lower: T, higher: T) -> T {
        self(lower, higher)
    }
}

/// Adds; integers wrap around, as in MPI.
#[derive(Clone, Copy, Debug)]
pub struct Sum;
/// Multiplies; integers wrap around, as in MPI.
#[derive(Clone, Copy, Debug)]
pub struct Product;
/// The lesser one.
#[derive(Clone, Copy, Debug)]
pub struct Min;
/// The greater one.
#[derive(Clone, Copy, Debug)]
pub struct Max;

macro_rules! reduce {
    ($($scalar:ty: $sum:expr, $product:expr;)*) => {
        $(
            impl Reduce<$scalar> for Sum {
                #[inline]
                fn combine(&self, lower: $scalar, higher: $scalar) -> $scalar {
                    $sum(lower, higher)
                }
            }
            impl Reduce<$scalar> for Product {
                #[inline]
                fn combine(&self, lower: $scalar, higher: $scalar) -> $scalar {
                    $product(lower, higher)
                }
            }
            impl Reduce<$scalar> for Min {
                #[inline]
                fn combine(&self, lower: $scalar, higher: $scalar) -> $scalar {
                    lower.min(higher)
                }
            }
            impl Reduce<$scalar> for Max {
                #[inline]
                fn combine(&self, lower: $scalar, higher: $scalar) -> $scalar {
                    lower.max(higher)
                }
            }
        )*
    };
}

reduce! {
    u8: u8::wrapping_add, u8::wrapping_mul;
    u16: u16::wrapping_add, u16::wrapping_mul;
    u32: u32::wrapping_add, u32::wrapping_mul;
    u64: u64::wrapping_add, u64::wrapping_mul;
    u128: u128::wrapping_add, u128::wrapping_mul;
    usize: usize::wrapping_add, usize::wrapping_mul;
    i8: i8::wrapping_add, i8::wrapping_mul;
    i16: i16::wrapping_add, i16::wrapping_mul;
    i32: i32::wrapping_add, i32::wrapping_mul;
    i64: i64::wrapping_add, i64::wrapping_mul;
    i128: i128::wrapping_add, i128::wrapping_mul;
    isize: isize::wrapping_add, isize::wrapping_mul;
    f32: std::ops::Add::add, std::ops::Mul::mul;
    f64: std::ops::Add::add, std::ops::Mul::mul;
}
