//! The program's own macros and what they become.

use crate::program::Program;
use crate::program::render;
use crate::read::rust::from_text;

fn program(text: &str) -> Program {
    from_text(text).unwrap()
}

fn main_of(text: &str) -> String {
    let program = program(text);
    let main = program.functions.iter().find(|it| it.name == "main").unwrap();
    render::body(&program, main)
}

#[test]
fn a_macro_is_what_it_stands_for() {
    let text = "
        macro_rules! times { ($a:expr, $b:expr) => { $a * $b }; ($a:expr) => { times!($a, 2) }; }
        macro_rules! all { ($($x:expr),* $(,)?) => { [$($x),*] }; }
        fn main() { times!(1 + 2); times!(3, 4); all![5, 6,]; all!(); }";
    assert_eq!(main_of(text), "{((1 + 2) * 2); (3 * 4); [5, 6]; [];}");
}

#[test]
fn statements_and_the_variables_that_arguments_name_are_there_afterwards() {
    let text = "
        macro_rules! set { ($name:ident = $x:expr) => { let mut $name = $x; $name += 1; }; }
        fn main() { set!(a = 1); a; }";
    assert_eq!(main_of(text), "{let a.0 = 1; a.0 += 1; a.0;}");
}

#[test]
fn a_macro_keeps_its_own_variables_from_those_of_its_arguments() {
    let text = "
        macro_rules! timed { ($body:expr) => { { let start = 1; let r = $body; start; r } }; }
        fn main() { let start = 5; timed!(7); start; timed!(start); }";
    let main = main_of(text);
    assert!(main.starts_with("{let start.0 = 5; {let start.1 = 1; let r.2 = 7; start.1; r.2};"));
    // Here a text would mean the macro's own variable.
    assert!(main.contains("timed!"), "{main}");
}

#[test]
fn items_are_declared_by_macros() {
    let text = "
        trait Pass { fn pass(self) -> i32; }
        macro_rules! pass { ($($T:ty => $n:literal);* $(;)?) => {
            $(impl Pass for $T { fn pass(self) -> i32 { $n } })*
        }; }
        pass! { i32 => 1; f64 => 2 }
        macro_rules! double { ($name:ident) => { fn $name(x: i32) -> i32 { 2 * x } }; }
        double!(twice);
        fn main() { double!(again); twice(again(1)); }";
    assert_eq!(main_of(text), "{fn twice(fn again(1));}");
    let program = program(text);
    assert_eq!(program.methods.of(None, "pass").len(), 2);
}

#[test]
fn places_are_where_a_macro_is_used() {
    let text = "
        macro_rules! send { ($to:expr, $x:expr) => { $to.send($x) }; }
        fn main() { let w = 1; send!(w, 7); }";
    for place in program(text).places {
        assert!(place.bytes.start <= place.bytes.end && place.bytes.end <= text.len());
    }
}

#[test]
fn a_macro_without_end_ends() {
    let text = "
        macro_rules! again { ($($x:tt)*) => { again!($($x)* $($x)*) }; }
        macro_rules! never { () => { never!() }; }
        again!(a);
        fn main() { again!(a); never!(); }";
    main_of(text);
}

#[test]
fn what_cannot_be_expanded_may_do_anything_with_what_it_gets() {
    let text = "
        macro_rules! odd { ($x:expr; $s:stmt) => { $x.send(&1) }; }
        macro_rules! world { ($s:stmt) => { SimpleCommunicator::world().barrier() }; }
        macro_rules! harmless { ($s:stmt) => { () }; }
        fn main() { let w = 1; odd!(w; 1); world!(1); harmless!(1); w; }";
    let program = program(text);
    let main = program.functions.iter().find(|it| it.name == "main").unwrap();
    let main = render::body(&program, main);
    assert!(main.contains("odd!(&w.0)"), "{main}");
    assert!(main.contains("world!(SimpleCommunicator::world())"), "{main}");
    assert_eq!(program.calls.len(), 1);
}
