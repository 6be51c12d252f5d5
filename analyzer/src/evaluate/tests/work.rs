//! What ranks compute between their steps, by what is said of it in the end.

use p2p_protocol::engine::{Judge, Options};
use p2p_protocol::finding::Group;
use p2p_protocol::rules;

use super::super::{Limits, evaluate};
use crate::program::Program;

/// What the rules about performance say of a program with 2 to 4 ranks: their names, each with a
/// semicolon behind it.
fn advice(program: &Program) -> String {
    let main = program.entries.iter().find(|entry| entry.name == "main").expect("there is a main");
    let limits = Limits { shows_work: true, ..Limits::default() };
    let mut judge = Judge::new(Options::default());
    for size in 2..5 {
        judge.judge_size(&evaluate(program, main, size, limits).worlds);
    }
    let findings = judge.finish().findings;
    let is_advice =
        |rule: &&str| rules::find(rule).is_some_and(|it| it.group == Group::Performance);
    let said = findings.iter().map(|it| it.rule).filter(is_advice);
    said.map(|rule| format!("{rule};")).collect()
}

const FUNCTIONS: &str = "#include <mpi.h>\n#include <stdio.h>\n#include <math.h>\n\
    #define N 4000\n\
    static double other[N], shared[N], more;\n\
    static void relax(double *cells, int n) {\n\
        for (int s = 0; s < 50; s++) for (int i = 0; i < n; i++) cells[i] = sqrt(cells[i]) + s; }\n\
    static double total(void) {\n\
        double sum = 0; for (int s = 0; s < 50; s++) for (int i = 0; i < N; i++) sum += shared[i];\n\
        return sum; }\n";

/// A ring in which each rank receives into `in`, under `q[0]`, and sends `out`, under `q[1]`; what
/// follows is given.
fn ring(rest: &str) -> String {
    let text = format!(
        "{FUNCTIONS}int main(int argc, char **argv) {{\n\
         int rank, size, i; double in[N], out[N] = {{0}}, work[N] = {{0}}, x = 0, *p = in;\n\
         MPI_Request q[2]; MPI_Status st[2];\n\
         MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
         MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
         MPI_Irecv(in, N, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &q[0]);\n\
         MPI_Isend(out, N, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &q[1]);\n\
         {rest}\n\
         printf(\"%g %g %g %g\", in[0], x, work[0], *p); MPI_Finalize(); return 0; }}"
    );
    advice(&crate::read::c::from_text(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}")))
}

/// Rank 0 does something with `out`, rank 1 receives it.
fn pair(first: &str) -> String {
    let text = format!(
        "{FUNCTIONS}int main(int argc, char **argv) {{\n\
         int rank; double in[N], out[N] = {{0}};\n\
         MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
         if (rank == 0) {{ MPI_Request r; int flag = 0; {first} }} else if (rank == 1)\n\
         MPI_Recv(in, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\
         MPI_Finalize(); return 0; }}"
    );
    advice(&crate::read::c::from_text(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}")))
}

const ALL: &str = "MPI_Waitall(2, q, st);";
const LOOP: &str = "for (int i = 0; i < N; i++) work[i] = 0.5 * i;";

#[test]
fn a_wait_in_front_of_work_that_needs_nothing_of_it_is_early() {
    assert_eq!(ring(&format!("{ALL} {LOOP}")), "early-wait;");
    assert_eq!(ring(&format!("{ALL} relax(work, N);")), "early-wait;");
    let one_by_one = "MPI_Wait(&q[1], st); MPI_Wait(&q[0], st);";
    assert_eq!(ring(&format!("{one_by_one} {LOOP}")), "early-wait;early-wait;");
    let counted = "for (i = 0; i < 2; i++) MPI_Wait(&q[i], MPI_STATUS_IGNORE);";
    assert_eq!(ring(&format!("{counted} {LOOP}")), "early-wait;");
    assert_eq!(
        ring(&format!("{ALL} {{ int k; for (k = 0; k < N; k++) other[k] = k; }}")),
        "early-wait;"
    );
}

#[test]
fn what_needs_it_comes_behind_the_wait() {
    for needs in [
        // The buffers: by name, by a pointer, by a function, by a pointer that nobody knows.
        "for (int i = 0; i < N; i++) work[i] = in[i];",
        "for (int i = 0; i < N; i++) work[i] = p[i];",
        "for (int i = 0; i < N; i++) out[i] = i;",
        "relax(in, N);",
        "p = rank ? in : work; for (int i = 0; i < N; i++) p[i] = i;",
        // What came of it.
        "x = in[0]; for (int i = 0; i < N; i++) work[i] = x;",
        "if (in[0] > 0) for (int i = 0; i < N; i++) work[i] = x;",
        "for (int i = 0; i < st[0].MPI_TAG + N; i++) work[i] = x;",
        // What others may wait for or see.
        "for (int i = 0; i < N; i++) printf(\"%d\", i);",
        "x = MPI_Wtime(); for (int i = 0; i < N; i++) work[i] = x;",
        "for (int i = 0; i < N; i++) unknown(i);",
    ] {
        assert!(ring(&format!("{ALL} {needs}")).is_empty(), "{needs}");
    }
}

#[test]
fn what_is_short_or_seldom_is_not_worth_it() {
    for short in [
        "for (int i = 0; i < 10; i++) work[i] = i;",
        "for (int i = 0; i < size; i++) for (int k = 0; k < 4; k++) work[i] = k;",
        "work[0] = 3; work[1] = sqrt(2.0);",
        "if (rank == 0) for (int i = 0; i < N; i++) work[i] = i;",
    ] {
        assert!(ring(&format!("{ALL} {short}")).is_empty(), "{short}");
    }
}

#[test]
fn work_before_the_wait_is_enough() {
    assert!(ring(&format!("{LOOP} {ALL} {LOOP}")).is_empty());
    assert!(ring(&format!("relax(other, N); {ALL} {LOOP}")).is_empty());
}

#[test]
fn globals_are_touched_by_functions() {
    let start = "MPI_Isend(shared, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r);";
    let wait = "MPI_Wait(&r, MPI_STATUS_IGNORE);";
    assert!(!pair(&format!("{start} {wait} more = total();")).contains("early-wait;"));
    assert_eq!(pair(&format!("{start} {wait} relax(other, N);")), "early-wait;");
}

#[test]
fn a_wait_at_once_could_block() {
    let start = "MPI_Isend(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r);";
    let wait = "MPI_Wait(&r, MPI_STATUS_IGNORE);";
    assert_eq!(pair(&format!("{start} {wait}")), "no-overlap;");
    assert_eq!(pair(&format!("{start} int k = 3; k++; {wait}")), "no-overlap;");
    for between in
        ["relax(other, N);", "printf(\"on its way\");", "for (int i = 0; i < 3; i++) in[i] = i;"]
    {
        assert!(pair(&format!("{start} {between} {wait}")).is_empty(), "{between}");
    }
    let asks = "while (!flag) { MPI_Test(&r, &flag, MPI_STATUS_IGNORE); if (!flag) relax(in, 3); }";
    assert!(pair(&format!("{start} {asks}")).is_empty());
    // On other ranks there may be more in the list.
    assert!(pair(&format!("{start} MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);")).is_empty());
}

#[test]
fn an_exchange_needs_its_requests() {
    assert!(ring(ALL).is_empty());
    assert!(ring("MPI_Wait(&q[1], st); MPI_Wait(&q[0], st);").is_empty());
}

#[test]
fn rounds_of_a_loop_of_which_nobody_knows_how_many_there_are() {
    let turns = |body: &str| {
        pair(&format!(
            "int turns = atoi(argv[1]); MPI_Isend(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r);\n\
             while (turns-- > 0) {{ MPI_Wait(&r, MPI_STATUS_IGNORE);\n\
             MPI_Isend(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r); {body} }}\n\
             MPI_Wait(&r, MPI_STATUS_IGNORE);"
        ))
    };
    // What is computed at a turn's end is computed before the next turn's wait.
    assert!(turns("relax(other, N);").is_empty());
}

#[test]
fn without_being_asked_nothing_is_written_down() {
    let text = "for (int i = 0; i < 2000; i++) rank += i; MPI_Barrier(MPI_COMM_WORLD);";
    let shown = super::show::world(&super::c::evaluated(text, 2).worlds[0].0);
    assert!(!shown.contains("Compute"), "{shown}");
}

#[test]
fn on_rsmpi_it_is_the_same() {
    let ring = |first: &str, then: &str| {
        advice(&super::program(&format!(
            "let next = world.process_at_rank((rank + 1) % size);
             let previous = world.process_at_rank((rank + size - 1) % size);
             let (out, mut into, mut work) = (vec![0.0; 4000], vec![0.0; 4000], vec![0.0; 4000]);
             mpi::request::scope(|scope| {{
                 let incoming = previous.immediate_receive_into(scope, &mut into[..]);
                 let outgoing = next.immediate_send(scope, &out[..]);
                 {first} outgoing.wait(); incoming.wait(); {then}
             }});
             println!(\"{{}} {{}}\", into[0], work[0]);"
        )))
    };
    let work = "for cell in work.iter_mut() { *cell += 0.5; }";
    assert_eq!(ring("", work), "early-wait;early-wait;");
    assert!(ring(work, work).is_empty());
    assert!(ring("", "for cell in 0..4000 { work[cell] = out[cell] + into[cell]; }").is_empty());
    let half = "for cell in 0..4000 { work[cell] = out[cell]; }";
    assert_eq!(ring("", half), "early-wait;", "the receive's");
    assert!(ring("", "for cell in work.iter_mut() { *cell += unknown(); }").is_empty());
    assert!(ring("", "for cell in &mut work[..3] { *cell += 0.5; }").is_empty());
}
