//! Bodies, as they come out: each test has the text and, in a short form, what becomes of it.

use crate::program::{Dialect, EntryKind, Program, Scalar, Type, render};
use crate::read::c::from_text;

fn program(text: &str) -> Program {
    from_text(text).expect("this is C")
}

/// The body of the last function.
fn body(text: &str) -> String {
    let program = program(text);
    let last = program.functions.last().expect("a function");
    render::body(&program, last)
}

/// What becomes of statements in a function with some variables.
fn statements(text: &str) -> String {
    let before = "typedef double real;
        struct pair { int first; double second; };
        struct node { struct node *next; int values[2]; };
        int g(int n, double x) { return n; }
        void f(int n, unsigned u, double x, real *a, struct node *l, char c, int (*op)(int)) {";
    let whole = body(&format!("{before}{text}}}"));
    whole.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(&whole).to_owned()
}

#[test]
fn conversions_are_written_out() {
    assert_eq!(statements("x = n;"), "x.2 = (n.0 as f64);");
    assert_eq!(statements("x = 1;"), "x.2 = 1.0;");
    assert_eq!(statements("n = x / 2;"), "n.0 = ((x.2 / 2.0) as i32);");
    assert_eq!(statements("u = n + u;"), "u.1 = ((n.0 as u32) + u.1);");
    assert_eq!(statements("u = -1;"), "u.1 = 4294967295;");
    assert_eq!(statements("n = c + 1;"), "n.0 = ((c.5 as i32) + 1);");
    assert_eq!(statements("c += n;"), "c.5 = (((c.5 as i32) + n.0) as i8);");
    assert_eq!(statements("c++;"), "c.5 += 1;");
    assert_eq!(statements("n = n > 1;"), "n.0 = ((n.0 > 1) as i32);");
    assert_eq!(statements("n <<= u;"), "n.0 <<= u.1;");
    assert_eq!(statements("g(x, n);"), "fn g((x.2 as i32), (n.0 as f64));");
}

#[test]
fn parameters_of_array_types_are_pointers() {
    // With a name, without one, and behind what is no name.
    for parameter in ["row_t row", "row_t", "row_t :row"] {
        let program =
            program(&format!("typedef int row_t[8]; int sum({parameter}, int n) {{ return n; }}"));
        let ty = program.functions.first().map(|function| &function.parameters[0].ty);
        let pointer = Type::Reference(Box::new(Type::Scalar(Scalar::I32)));
        assert_eq!(ty, Some(&pointer), "{parameter}");
    }
}

#[test]
fn conditions_are_truth_values() {
    assert_eq!(statements("if (n) g(1, x);"), "if (n.0 != 0) {fn g(1, x.2);};");
    assert_eq!(
        statements("if (!l || x) n = 1;"),
        "if ((l.4 == c::null) || (x.2 != 0)) {n.0 = 1;};"
    );
    assert_eq!(statements("while (1) break;"), "loop {break ;};");
    assert_eq!(statements("n = !n && u;"), "n.0 = (((n.0 == 0) && (u.1 != 0)) as i32);");
    assert_eq!(statements("n = u ? 1 : c;"), "n.0 = if (u.1 != 0) 1 else (c.5 as i32);");
}

#[test]
fn pointers_step_and_arrays_become_pointers() {
    assert_eq!(statements("x = *a + a[2];"), "x.2 = (a.3[0] + a.3[2]);");
    assert_eq!(statements("a = a + n;"), "a.3 = c::offset(a.3, n.0);");
    assert_eq!(statements("a = &a[n] - 1;"), "a.3 = c::offset(c::offset(a.3, n.0), -1);");
    assert_eq!(statements("a++;"), "a.3 = c::offset(a.3, 1);");
    assert_eq!(
        statements("n = &a[3] - a;"),
        "n.0 = (c::difference(c::offset(a.3, 3), a.3) as i32);"
    );
    assert_eq!(statements("n = l->next->values[1];"), "n.0 = l.4[0].next[0].values[1];");
    assert_eq!(
        statements("int m[2][3]; a = 0; h(m, m[1], &m[1][2], &n);"),
        "let m.7 = [[c::uninitialized; 3]; 2]; a.3 = c::null; \
         h(&m.7, &m.7[1], c::offset(&m.7[1], 2), &n.0);"
    );
    assert_eq!(statements("n = (*op)(1) + op(2);"), "n.0 = (op.6(1) + op.6(2));");
}

#[test]
fn names_of_types_tell_casts_from_operations() {
    assert_eq!(statements("x = (real)-n;"), "x.2 = (-n.0 as f64);");
    assert_eq!(statements("x = (real)-n * u;"), "x.2 = ((-n.0 as f64) * (u.1 as f64));");
    assert_eq!(statements("x = (real)(n);"), "x.2 = (n.0 as f64);");
    assert_eq!(statements("x = (real)*a;"), "x.2 = a.3[0];");
    assert_eq!(statements("n = (int)(real)-x;"), "n.0 = (-x.2 as i32);");
    assert_eq!(statements("n = (n) - u;"), "n.0 = (((n.0 as u32) - u.1) as i32);");
    assert_eq!(statements("n * u;"), "");
    assert_eq!(statements("u = sizeof(real) * 2 + sizeof n;"), "u.1 = 20;");
    assert_eq!(statements("u = sizeof(struct node) + sizeof *l;"), "u.1 = 32;");
}

#[test]
fn assignments_have_values() {
    assert_eq!(statements("n = c = 3;"), "n.0 = ({c.5 = 3; c.5} as i32);");
    assert_eq!(statements("a[n++] += 2;"), "a.3[{let before.7 = n.0; n.0 += 1; before.7}] += 2.0;");
    assert_eq!(statements("n = ++c;"), "n.0 = ({c.5 += 1; c.5} as i32);");
    assert_eq!(
        statements("x = a[n++] *= c;"),
        "x.2 = {let target.8 = c::offset(a.3, {let before.7 = n.0; n.0 += 1; before.7}); \
         target.8[0] *= ((c.5 as i32) as f64); target.8[0]};"
    );
    assert_eq!(statements("n = 1, x = 2;"), "n.0 = 1; x.2 = 2.0;");
}

#[test]
fn one_part_of_a_union_changes_all_of_it() {
    assert_eq!(
        statements("union { int i; float f; } v; v.i = n; h(&v.f);"),
        "let v.7 = c::uninitialized; n.0; v.7 = ?what is in a union or an object is not followed; \
         h(&v.7);"
    );
}

#[test]
fn lists_fill_what_they_are_for() {
    assert_eq!(statements("int v[] = {1, 2, [3] = 4};"), "let v.7 = [1, 2, c::zero, 4];");
    assert_eq!(statements("int v[3] = {0};"), "let v.7 = [c::zero; 3];");
    assert_eq!(statements("int v[2][2] = {1, 2, {3}};"), "let v.7 = [[1, 2], [3, c::zero]];");
    assert_eq!(statements("char s[4] = \"ab\";"), "let s.7 = b\"ab\\x00\\x00\";");
    assert_eq!(statements("char *s = \"ab\";"), "let s.7 = b\"ab\\x00\";");
    assert_eq!(
        statements("struct pair p = {.second = 1}, q[2] = {{1, 2}, 3, 4}; p = q[0];"),
        "let p.7 = pair{first: c::zero, second: 1.0}; \
         let q.8 = [pair{first: 1, second: 2.0}, pair{first: 3, second: 4.0}]; p.7 = q.8[0];"
    );
    assert_eq!(statements("int v[n][2];"), "let v.7 = [[c::uninitialized; 2]; (n.0 as u64)];");
    assert_eq!(
        statements("struct pair *p = &(struct pair){1, 2};"),
        "let p.8 = {let literal.7 = pair{first: 1, second: 2.0}; &literal.7};"
            .replace("p.8", "p.7")
            .replace("literal.7", "literal.8")
    );
}

#[test]
fn loops_that_count_are_over_ranges() {
    assert_eq!(
        statements("for (int i = 0; i < n; i++) x += i;"),
        "for i.7 in 0..n.0 {x.2 += (i.7 as f64);};"
    );
    assert_eq!(
        statements("for (int i = n; i >= 0; --i) x++;"),
        "for i.7 in 0..=n.0.rev() {x.2 += 1.0;};"
    );
    assert_eq!(
        statements("for (int i = 1; i <= 9; i += 3) x++;"),
        "for i.7 in 1..=9.step_by(3) {x.2 += 1.0;};"
    );
    assert_eq!(
        statements("int i; for (i = 0; i < n; i++) if (a[i]) break;"),
        "let i.7 = c::uninitialized; let bound.8 = n.0; \
         'loop 1: {for i.9 in 0..bound.8 {i.7 = i.9; {if (a.3[i.7] != 0) {break loop 1;};};}; \
         i.7 = if (0 < bound.8) bound.8 else 0;};"
    );
    assert_eq!(
        statements("int i; for (i = 0; i < 10; i += 4) x++;"),
        "let i.7 = c::uninitialized; for i.8 in 0..10.step_by(4) {i.7 = i.8; {x.2 += 1.0;};}; \
         i.7 = 12;"
    );
}

#[test]
fn floats_that_are_written_leave_bounds_as_they_are() {
    let is_over_range = |text: &str| statements(text).starts_with("for ");
    assert!(is_over_range("for (int i = 0; i < l->values[0]; i++) a[i] += 1;"));
    assert!(is_over_range("for (int i = 0; i < l->values[0]; i++) { double b = 2; a[i] = b; }"));
    // One of them may be the bound.
    assert!(!is_over_range("for (int i = 0; i < l->values[0]; i++) l->values[i] += 1;"));
    assert!(!is_over_range("for (int i = 0; i < (int)a[0]; i++) a[i] += 1;"));
    assert!(!is_over_range("for (int i = 0; i < l->values[0]; i++) { a[i] = g(i, a[i]); }"));
    // It is another `a`.
    assert!(!is_over_range("for (int i = 0; i < l->values[0]; i++) { int *a = 0; a[i] = 1; }"));
}

#[test]
fn other_loops_step_after_each_turn() {
    assert_eq!(
        statements("for (int i = 0; i < n; i++) { if (i == 2) continue; i += c; }"),
        "{let i.7 = 0; while (i.7 < n.0) {'continue 1: {if (i.7 == 2) {break continue 1;}; \
         i.7 = (i.7 + (c.5 as i32));}; i.7 += 1;};};"
            .replace("i.7 = (i.7 + (c.5 as i32))", "i.7 += (c.5 as i32)")
    );
    // Something else may change what is counted to.
    assert_eq!(
        statements("for (int i = 0; i < n; i++) h(&n);"),
        "{let i.7 = 0; while (i.7 < n.0) {{h(&n.0);}; i.7 += 1;};};"
    );
    assert_eq!(
        statements("do { if (n) continue; x++; } while (x < 3);"),
        "loop {'continue 1: {if (n.0 != 0) {break continue 1;}; x.2 += 1.0;}; \
         if !(x.2 < 3.0) break ;};"
    );
    assert_eq!(statements("do { x++; } while (0);"), "{x.2 += 1.0;};");
}

#[test]
fn switches_are_matches() {
    assert_eq!(
        statements("switch (n) { case 1: case 2: x = 1; break; case 3: x = 3; default: return; }"),
        "{match n.0 {1 | 2 => {x.2 = 1.0;}, 3 => {x.2 = 3.0; return;}, _ => {return;}};};"
    );
    assert_eq!(
        statements("switch (c) { case 'a': if (n) break; x = 1; }"),
        "'switch 1: {match (c.5 as i32) {97 => {if (n.0 != 0) {break switch 1;}; x.2 = 1.0;}, \
         _ => {}};};"
    );
}

#[test]
fn jumps_leave_blocks_and_begin_loops_again() {
    assert_eq!(
        statements("if (n) goto out; x = 1; out: x = 2;"),
        "'goto 1: {if (n.0 != 0) {break goto 1;}; x.2 = 1.0;}; x.2 = 2.0;"
    );
    assert_eq!(
        statements("again: x++; if (n) goto again; x = 2;"),
        "'again 1: loop {x.2 += 1.0; if (n.0 != 0) {continue again 1;}; break again 1;}; x.2 = 2.0;"
    );
    let into = statements("goto in; while (n) { in: x = 1; }");
    assert!(into.starts_with("c::lost("), "{into}");
}

#[test]
fn what_lasts_is_global() {
    let text = "static const int n = 3; int v[n] = {1}; extern int other;
        int next(void) { static int count; return count++ + other + v[0]; }";
    let program = program(text);
    let names: Vec<&str> = program.globals.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["n", "v", "other", "next.count"]);
    let mutable: Vec<bool> = program.globals.iter().map(|it| it.is_mutable).collect();
    assert_eq!(mutable, [false, true, true, true]);
    assert_eq!(program.globals[1].ty, Type::Array(Box::new(Type::Scalar(Scalar::I32)), Some(3)));
    assert!(program.globals[2].value.is_none());
    assert!(program.globals[3].value.is_some());
}

#[test]
fn runs_start_at_main_or_where_a_communicator_comes_in() {
    let whole = program("#include <mpi.h>\nint main(void) { MPI_Barrier(MPI_COMM_WORLD); }");
    assert_eq!(whole.dialect, Dialect::C);
    assert_eq!(whole.entries[0].kind, EntryKind::Main);
    assert_eq!(whole.calls.len(), 1);
    let library = program(
        "static void hidden(MPI_Comm c) {} void offered(int n, MPI_Comm c) {} void other(int n) {}",
    );
    let names: Vec<&str> = library.entries.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["offered"]);
    assert_eq!(library.entries[0].kind, EntryKind::Public);
}

#[test]
fn what_is_no_c_is_unknown_where_it_stands() {
    assert_eq!(statements("x = 1; n = @ 3; x = 2;").matches("x.2 = ").count(), 2);
    let communicates = statements("x = 1; MPI_Send(a, 1 @ n $ ]; x = 2;");
    assert!(communicates.contains("c::lost("), "{communicates}");
    let macros = statements("CHECK MPI_Send(a, n); x = 1; MPI_CHECK(MPI_Barrier(MPI_COMM_WORLD));");
    assert!(macros.starts_with("c::lost("), "{macros}");
    assert!(
        macros.ends_with("MPI_CHECK(mpi::ffi::MPI_Barrier(mpi::ffi::MPI_COMM_WORLD));"),
        "{macros}"
    );
    let failure = from_text("@@ this is ) no { program @@").unwrap_err();
    assert!(failure.bytes.is_some());
    assert!(from_text("").is_ok());
    assert!(from_text(&"(".repeat(100_000)).is_err());
}
