//! What cannot be told stays unknown.

use super::check;

#[test]
fn a_literal_that_meets_something_unknown_has_no_default() {
    check(
        "fn main() {
            let mut a = 0; a = stranger();
            let b = 1; stranger(b);
            let mut c = 2.0; other.fill(&mut c);
            let d = 3 * stranger();
            let e = if stranger() { 4 } else { stranger() };
            let f = [5, stranger()];
            let mut g = Vec::new(); g.push(6); stranger(&g);
            let h = 7; let known: u8 = h; stranger(h);
            let i = 8;
        }",
        &["a: _", "b: _", "c: _", "d: _", "e: _", "f: [_; 2]", "g: Vec<_>", "h: u8", "i: i32"],
    );
}

#[test]
fn two_readings_that_contradict_each_other_are_none() {
    check(
        "fn main() {
            let mut a = 1u8; a = 2u16;
            let b: f32 = 3u8;
            let c = a;
        }",
        &["a: _", "b: f32", "c: _"],
    );
}

#[test]
fn a_reference_to_something_unknown_may_be_turned() {
    check(
        "fn take(values: &[f64]) {}
        fn main() { let a = stranger(); take(a); let b = &stranger(); take(b); let c = a; }",
        &["a: _", "c: _"],
    );
}

#[test]
fn one_of_several_functions_is_none_of_them() {
    check(
        "struct Id(u64);
        impl From<u8> for Id { fn from(x: u8) -> Id { Id(1) } }
        impl From<u16> for Id { fn from(x: u16) -> Id { Id(2) } }
        fn main() { let a = 1; let b = Id::from(a); let c = b.0; }",
        &["a: _", "b: Id", "c: u64"],
    );
}

#[test]
fn types_that_cannot_be_read_decide_nothing() {
    check(
        "fn main() { let a: <u8 as Strange>::Number = 1; let b = a; let c: Vec<_> = vec![2]; }",
        &["a: _", "b: _", "c: Vec<i32>"],
    );
}

#[test]
fn types_within_themselves_end() {
    check("fn main() { let mut a = None; a = Some(a); let b = 1; }", &["b: i32"]);
}

#[test]
fn deep_and_long_texts_are_looked_at() {
    let sum = vec!["1"; 3000].join(" + ");
    let tuples: String = (0..400).map(|n| format!("let t{} = (t{n}, t{n});", n + 1)).collect();
    let lines = "v.push(x + 1.0); x = v[0];".repeat(4000);
    let text = format!(
        "fn main() {{ let sum = {sum}; let t0 = 1; {tuples} \
         let mut v = Vec::new(); let mut x = 0.5f32; {lines} }}"
    );
    std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(move || check(&text, &["sum: i32", "x: f32", "v: Vec<f32>"]))
        .expect("a thread starts")
        .join()
        .expect("it ends");
}
