//! Small sources and what they become.

use crate::program::render;
use crate::read::rust::from_text;

/// The body of `main` in a short form.
fn main_of(text: &str) -> String {
    let program = from_text(text).unwrap();
    let main = program.functions.iter().find(|it| it.name == "main").unwrap();
    render::body(&program, main)
}

#[test]
fn shadowed_variables_are_different_ones() {
    let text = "fn main() { let x = 1; let x = x + 1; { let x = x; x; } x; }";
    assert_eq!(main_of(text), "{let x.0 = 1; let x.1 = (x.0 + 1); {let x.2 = x.1; x.2;}; x.1;}");
}

#[test]
fn functions_constants_and_variants_are_resolved() {
    let text = "
        use self::tools::{helper as h, Color::{self, *}};
        mod tools {
            pub const N: usize = 4;
            pub fn helper(n: usize) -> usize { super::twice(n) }
            pub enum Color { Red, Green(i32), Blue { depth: u8 } }
        }
        fn twice(n: usize) -> usize { 2 * n }
        fn main() {
            h(tools::N);
            let c = Green(3);
            match c { Red => 0, Color::Green(n) => n, Color::Blue { depth, .. } => depth as i32 };
            let f = Green;
        }";
    assert_eq!(
        main_of(text),
        "{fn tools::helper(const tools::N); let c.0 = Color::Green{0: 3}; \
         match c.0 {Color::Red => 0, Color::Green{0: n.1} => n.1, \
         Color::Blue{depth: depth.2} => (depth.2 as i32)}; \
         let f.4 = |0.3| Color::Green{0: 0.3};}"
    );
}

#[test]
fn methods_and_associated_functions_belong_to_their_types() {
    let text = "
        struct Solver { rank: i32 }
        impl Solver {
            const ROOT: i32 = 0;
            fn new(rank: i32) -> Self { Self { rank } }
            fn is_root(&self) -> bool { self.rank == Self::ROOT }
        }
        trait Step { fn step(&self) -> i32 { self.size() } fn size(&self) -> i32; }
        impl Step for Solver { fn size(&self) -> i32 { 1 } }
        fn main() { let s = Solver::new(3); s.is_root(); Step::size(&s); Solver::default(); }";
    let program = from_text(text).unwrap();
    assert_eq!(
        main_of(text),
        "{let s.0 = fn Solver::new(3); s.0.is_root(); &s.0.size(); Solver::default();}"
    );
    let named = |name: &str| program.functions.iter().find(|it| it.name == name).unwrap();
    assert_eq!(render::body(&program, named("Solver::new")), "{Solver{rank: rank.0}}");
    let is_root = render::body(&program, named("Solver::is_root"));
    assert_eq!(is_root, "{(self.0.rank == const Solver::ROOT)}");
    let solver = Some(crate::program::DefinitionId(0));
    for method in ["new", "is_root", "step", "size"] {
        assert_eq!(program.methods.of(solver, method).len(), 1, "{method}");
    }
    assert_eq!(program.definitions[0].traits, ["Step"]);
}

#[test]
fn paths_of_libraries_are_those_that_use_gives() {
    let text = "
        use mpi::{traits::*, point_to_point as p2p, request::{self, WaitGuard}};
        use mpi::collective::*;
        fn main(a: i32, b: i32, r: i32, x: i32) {
            p2p::send_receive(&1, &a, &b);
            request::scope(|s| { let _g = WaitGuard::from(r); });
            SystemOperation::sum();
            Vec::<f64>::with_capacity(3);
            std::mem::drop(x);
        }";
    assert_eq!(
        main_of(text),
        "{mpi::point_to_point::send_receive(&1, &a.0, &b.1); \
         mpi::request::scope(|s.4| {let _g.5 = mpi::request::WaitGuard::from(r.2);}); \
         mpi::collective::SystemOperation::sum(); Vec::with_capacity<f64>(3); \
         std::mem::drop(x.3);}"
    );
}

#[test]
fn patterns_bind_what_they_name() {
    let text = "
        const LIMIT: i32 = 9;
        fn main() {
            let (a, mut b) = (1, 2);
            if let Some(x) | Ok(x) = f && x > 0 && let [first, .., last] = v { first; }
            let Some(y) = o else { return; };
            match n { LIMIT => 1, 1..=3 => 2, m @ 4.. if m < b => m, _ => 0 };
            while let Some(top) = stack.pop() { top; }
            for (i, _) in v.iter().enumerate() { i; }
        }";
    assert_eq!(
        main_of(text),
        "{let (a.0, b.1) = (1, 2); \
         if let Some(x.2) | Ok(x.2) = f && (x.2 > 0) && let [first.3, .., last.4] = v {first.3;}; \
         let Some(y.5) = o else {return;}; \
         match n {const LIMIT => 1, 1..=3 => 2, m.6@4.. if (m.6 < b.1) => m.6, _ => 0}; \
         while let Some(top.7) = stack.pop() {top.7;}; \
         for (i.8, _) in v.iter().enumerate() {i.8;}}"
    );
}

#[test]
fn macros_are_what_they_stand_for() {
    let text = "
        macro_rules! mine { ($e:expr; $s:stmt) => { $e } }
        fn main() {
            let x = 1;
            println!(\"{x} {} {y}\", x + 1, y = 2);
            vec![0; 3]; vec![1, 2];
            assert!(x == 1, \"{x}\");
            matches!(x, 1 | 2 if x > 0);
            ensure!(x > 0, \"no\");
            cfg!(unix);
            mine!(1; 2);
        }";
    assert_eq!(
        main_of(text),
        "{let x.0 = 1; println!(\"{x} {} {y}\", (x.0 + 1), 2, x.0); vec!([0; 3]); vec!([1, 2]); \
         assert!((x.0 == 1), \"{x}\", x.0); \
         if let 1 | 2 = x.0 && (x.0 > 0) true else false; \
         if (x.0 > 0) () else return Err(anyhow!()); true; \
         ?the macro `mine!` is not expanded;}"
    );
}

#[test]
fn assignments_can_take_values_apart() {
    let text = "fn main() { let (mut a, mut b) = (1, 2); (a, b) = (b, a); _ = a; a += 1; }";
    assert_eq!(
        main_of(text),
        "{let (a.0, b.1) = (1, 2); \
         {let (assigned.2, assigned.3) = (b.1, a.0); a.0 = assigned.2; b.1 = assigned.3;}; \
         {let _ = a.0;}; a.0 += 1;}"
    );
}

#[test]
fn items_in_blocks_are_seen_there_alone() {
    let text = "
        fn step() {}
        fn main() {
            step();
            { fn step() { inner(); } use self::step as other; fn inner() {} step(); inner(); }
            step();
        }";
    let program = from_text(text).unwrap();
    assert_eq!(main_of(text), "{fn step(); {fn step(); fn inner();}; fn step();}");
    assert_eq!(program.functions.len(), 4);
}

#[test]
fn aliases_and_generics_are_replaced() {
    let text = "
        type Grid<T> = Vec<Vec<T>>;
        type Comm = mpi::topology::SimpleCommunicator;
        const N: usize = 2 * 4;
        struct Field<T> { cells: Grid<T>, edge: [f64; N] }
        fn f<C: Communicator, T>(c: &C, g: Grid<f32>, k: &dyn Fn(i32) -> T, s: Comm) -> T
        where C: Clone, T: Fn(u8) -> bool {}";
    let program = from_text(text).unwrap();
    let field = &program.definitions[0].variants[0];
    let types: Vec<String> = field.fields.iter().map(|(_, ty)| render::ty(&program, ty)).collect();
    assert_eq!(types, ["Vec<Vec<T>>", "[f64; 8]"]);
    let f = &program.functions[0];
    let types: Vec<_> = f.parameters.iter().map(|it| render::ty(&program, &it.ty)).collect();
    assert_eq!(types, ["&C", "Vec<Vec<f32>>", "&fn(i32) -> T", "SimpleCommunicator"]);
    assert_eq!(f.generics, ["C", "T"]);
    let bounds: Vec<_> = f.bounds.iter().map(|it| render::ty(&program, it)).collect();
    assert_eq!(bounds, ["impl Communicator + Clone", "fn(u8) -> bool"]);
}

#[test]
fn enums_have_their_numbers() {
    let text = "const B: i32 = 7; enum E { A = 3, B, C = B + 1, D }";
    let program = from_text(text).unwrap();
    let numbers: Vec<_> =
        program.definitions[0].variants.iter().map(|it| it.discriminant).collect();
    assert_eq!(numbers, [Some(3), Some(4), Some(8), Some(9)]);
}

#[test]
fn what_tests_alone_have_does_not_hide_the_rest() {
    let text = "
        #[cfg(test)] fn size() -> i32 { 1 }
        #[cfg(not(test))] fn size() -> i32 { 2 }
        #[cfg(windows)] fn main() {}
        #[cfg(unix)] fn main() { size(); #[cfg(windows)] size(); }
        #[cfg(test)] mod tests { #[test] fn small() {} }";
    let program = from_text(text).unwrap();
    let entries: Vec<_> = program.entries.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(entries, ["main", "tests::small"]);
    let main = program.functions.iter().find(|it| it.name == "main").unwrap();
    let size = program.functions.iter().rfind(|it| it.name == "size").unwrap();
    assert_eq!(render::body(&program, main), "{fn size();}");
    assert_eq!(render::body(&program, size), "{2}");
    let tail = "fn main() { #[cfg(unix)] { 1 } #[cfg(windows)] { 2 } }";
    assert_eq!(main_of(tail), "{{1}}");
}

#[test]
fn wrapped_items_are_items() {
    let text = "
        lazy_static! { static ref TABLE: Vec<i32> = vec![1]; }
        cfg_if::cfg_if! { if #[cfg(windows)] { fn f() { 1; } } else { fn f() { 2; } } }
        fn main() { f(); TABLE.len(); }";
    let program = from_text(text).unwrap();
    assert_eq!(main_of(text), "{fn f(); const TABLE.len();}");
    assert!(program.globals[0].value.is_some());
}

#[test]
fn of_several_functions_of_one_name_none_is_chosen() {
    let text = "struct A; impl From<u8> for A { fn from(_: u8) -> A { A } }
        impl From<i8> for A { fn from(_: i8) -> A { A } } fn main() { A::from(1); }";
    assert_eq!(main_of(text), "{A::from(1);}");
}

#[test]
fn globs_in_circles_end() {
    let modules: String = (0..12)
        .map(|at| {
            let globs: String = (0..12).map(|other| format!("use super::m{other}::*;")).collect();
            format!("pub mod m{at} {{ {globs} pub use super::*; }}")
        })
        .collect();
    let text = format!(
        "{modules} use m0::*; use log::log; fn found() {{}} fn main() {{ found(); gone(); log(); }}"
    );
    assert_eq!(main_of(&text), "{fn found(); gone(); log::log();}");
}
