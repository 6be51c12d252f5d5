//! Numbers, truth values, comparisons, conversions.

use super::{tells, told};

#[test]
fn whole_numbers() {
    tells(&[
        ("(-3_i32).abs()", 3),
        ("2_i32.pow(5)", 32),
        ("7.min(3)", 3),
        ("rank.max(4)", 4),
        ("(-1_i32).rem_euclid(size)", 1),
        ("12_i32.clamp(0, 9)", 9),
        ("5_usize.next_power_of_two() as i32", 8),
        ("12_i32.trailing_zeros() as i32", 2),
        ("3_usize.saturating_sub(5) as i32", 0),
        ("0_u8.wrapping_sub(1) as i32", 255),
        ("7_usize.div_ceil(2) as i32", 4),
        ("3_i32.abs_diff(-4) as i32", 7),
        ("100_usize.ilog2() as i32", 6),
        ("if 8_i32.is_positive() { 1 } else { 0 }", 1),
        ("i32::MAX.checked_add(1).unwrap_or(-5) + 10", 5),
        ("std::cmp::max(3, 5)", 5),
        ("i32::from_str_radix(\"7\", 10).map(|_| 4).unwrap_or(4)", 4),
        ("i8::MAX as i32", 127),
    ]);
}

#[test]
fn fractions() {
    tells(&[
        ("(8.0_f64).log2() as i32", 3),
        ("(2.5_f64).ceil() as i32", 3),
        ("(size as f64).sqrt().floor() as i32", 1),
        ("(9.0_f64).sqrt() as i32", 3),
        ("(2.0_f64).powi(3) as i32", 8),
        ("(2.0_f64).max(7.0) as i32", 7),
    ]);
}

#[test]
fn conversions() {
    tells(&[
        ("i32::try_from(7_usize).unwrap()", 7),
        ("usize::try_from(-1_i32).map(|x| x as i32).unwrap_or(9)", 9),
        ("i32::from(3_u8)", 3),
        ("{ let x: i32 = 3_i16.into(); x }", 3),
        ("{ let x: i32 = 3_usize.try_into().unwrap(); x }", 3),
        ("\"12\".parse::<i32>().unwrap()", 12),
        ("\"12\".len() as i32", 2),
        ("7_i32.to_string().len() as i32", 1),
    ]);
}

#[test]
fn orders() {
    tells(&[
        ("match 3.cmp(&5) { std::cmp::Ordering::Less => 1, _ => 2 }", 1),
        ("if (1, 2) < (1, 3) { 1 } else { 2 }", 1),
        ("if Some(3) == Some(3) { 1 } else { 2 }", 1),
        ("(3 > 2).then(|| 4).unwrap_or(5)", 4),
        ("(3 < 2).then_some(4).unwrap_or(5)", 5),
        ("if vec![1, 2] == [1, 2] { 1 } else { 2 }", 1),
        ("if 3.cmp(&3).then(4.cmp(&5)).is_lt() { 1 } else { 2 }", 1),
    ]);
}

#[test]
fn a_known_failure_ends_the_rank() {
    assert_eq!(told("tell(1); if false { tell(2); } tell(3);"), [1, 3]);
}
