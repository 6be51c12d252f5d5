//! The language itself: operators, references, patterns, closures, loops.

use super::check;

#[test]
fn later_uses_decide() {
    check(
        "use mpi::traits::*;
        fn main() {
            let universe = mpi::initialize().unwrap();
            let world = universe.world();
            let p = world.process_at_rank(0);
            let mut y = Default::default();
            p.receive_into(&mut y);
            let (msg, status) = p.receive();
            let x: f32 = y + 1.0;
            assert_eq!(x, msg);
            y = x;
        }",
        &["p: Process", "y: f32", "msg: f32", "status: Status", "world: SimpleCommunicator"],
    );
}

#[test]
fn literals_are_what_rust_takes_them_for() {
    check(
        "const N: usize = 4;
        fn main() {
            let a = 1; let b = 1.5; let c = 7u8; let d = [0; 3]; let e = [1.0f32, 2.0];
            let f = 3 as u64; let g = 3 as f64; let h = -1; let i: i64 = 2; let j = i + 1;
            let k = [0u16; N]; let l = (1, 'c', true, \"t\"); let m = 1 << i; let n = b\"ab\";
        }",
        &[
            "a: i32",
            "b: f64",
            "c: u8",
            "d: [i32; 3]",
            "e: [f32; 2]",
            "f: u64",
            "g: f64",
            "h: i32",
            "i: i64",
            "j: i64",
            "k: [u16; 4]",
            "l: (i32, char, bool, &str)",
            "m: i32",
            "n: &[u8; 2]",
        ],
    );
}

#[test]
fn references_are_looked_through_where_rust_does() {
    check(
        "fn sum(values: &[f64]) -> f64 { 0.0 }
        fn main() {
            let v = vec![1.0; 4];
            let s = sum(&v);
            let w = Box::new([1.0, 2.0]);
            let t = sum(&*w);
            let a = &v[1..];
            let b = v[0] * &2.0;
            let c = *&v[0];
            let mut i = 0; i += 1; let x = v[i];
            let d = v.iter().zip(&w[..]).map(|(x, y)| x * y).sum::<f64>();
        }",
        &[
            "v: Vec<f64>",
            "s: f64",
            "w: Box<[f64; 2]>",
            "a: &[f64]",
            "b: f64",
            "c: f64",
            "i: usize",
            "x: &f64",
            "y: &f64",
            "d: f64",
        ],
    );
}

#[test]
fn patterns_borrow_from_what_is_behind_a_reference() {
    check(
        "struct Pair { left: f32, right: Option<u8> }
        fn main() {
            let pair = Pair { left: 1.0, right: None };
            let Pair { left, right } = &pair;
            if let Some(byte) = right {}
            if let Some(own) = pair.right {}
            let (a, (b, c)) = (1u8, (2.5, 'x'));
            let list = [(1i64, 2.0f32)];
            for &(n, f) in list.iter() {}
            for (m, g) in &list {}
            let [first, .., last] = [1u16, 2, 3];
            match list.first() { Some((key, _)) => {} None => {} }
        }",
        &[
            "left: &f32",
            "right: &Option<u8>",
            "byte: &u8",
            "own: u8",
            "a: u8",
            "b: f64",
            "c: char",
            "n: i64",
            "f: f32",
            "m: &i64",
            "g: &f32",
            "first: u16",
            "last: u16",
            "key: &i64",
        ],
    );
}

#[test]
fn branches_and_loops_have_values() {
    check(
        "fn main() {
            let n = 3u16;
            let a = if n > 2 { 1.0f32 } else { return };
            let b = match n { 0 => panic!(), 1 => { return; } k => k + 1 };
            let c = loop { if n == 1 { break 5u8; } };
            let d = 'out: { if n == 2 { break 'out 1i64; } 0 };
            let Some(e) = Some(2u32) else { return };
            let mut f = None;
            while n > 0 { f = Some(n); }
            let g = loop { };
        }",
        &["a: f32", "b: u16", "k: u16", "c: u8", "d: i64", "e: u32", "f: Option<u16>"],
    );
}

#[test]
fn closures_take_what_they_are_given_to() {
    check(
        "fn apply<F: Fn(f32) -> T, T>(f: F) -> T { f(1.0) }
        fn each(f: impl Fn(u8)) { f(1) }
        fn main() {
            let a = apply(|x| x > 0.5);
            each(|byte| {});
            let double = |v| v * 2;
            let b = double(4i64);
            let c = (0..10u64).fold(0, |sum, n| sum + n);
            let d: Vec<_> = (0..4).map(|i| i as f32).collect();
        }",
        &["x: f32", "a: bool", "byte: u8", "v: i64", "b: i64", "sum: u64", "c: u64", "d: Vec<f32>"],
    );
}

#[test]
fn generics_are_new_at_each_use() {
    check(
        "struct Field<T> { cells: Vec<T>, width: usize }
        impl<T: Copy + Default> Field<T> {
            fn new(width: usize) -> Self { Field { cells: vec![T::default(); width], width } }
            fn at(&self, n: usize) -> T { self.cells[n] }
            fn with<U>(&self, other: U) -> (T, U) { (self.at(0), other) }
        }
        fn main() {
            let mut f = Field::new(3);
            let x = f.at(1);
            f.cells[0] = 1.5f32;
            let g = Field::<u8>::new(2);
            let pair = g.with('c');
            let cells = f.cells;
        }",
        &["f: Field<f32>", "x: f32", "g: Field<u8>", "pair: (u8, char)", "cells: Vec<f32>"],
    );
}

#[test]
fn operators_of_the_program_give_what_they_say() {
    check(
        "#[derive(Clone, Copy)] struct V(f64);
        impl std::ops::Add for V { type Output = V; fn add(self, other: V) -> V { V(self.0) } }
        impl std::ops::Mul<f64> for V { type Output = V; fn mul(self, by: f64) -> V { V(by) } }
        fn main() { let a = V(1.0); let b = a + a; let c = b * 2.0; let d = c.0; }",
        &["b: V", "c: V", "d: f64"],
    );
}

#[test]
fn errors_are_handed_on() {
    check(
        "fn read(text: &str) -> Result<u16, String> {
            let n = text.parse()?;
            let m: u8 = text.trim().parse().unwrap();
            let o = text.parse::<f32>().unwrap_or(0.0);
            Ok(n)
        }",
        &["m: u8", "o: f32", "n: u16"],
    );
}
