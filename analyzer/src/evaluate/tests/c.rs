//! Programs in C, and what each rank of them does.

use p2p_protocol::model::{Action, CollectiveKind};

use super::super::{Evaluated, Limits};

/// The worlds of a text: what `main` does with `rank` and `size` known, or with a `main` of its own.
pub(super) fn evaluated(text: &str, size: u32) -> Evaluated {
    let text = if text.contains(" main(") {
        format!("#include <mpi.h>\n{text}")
    } else {
        format!(
            "#include <mpi.h>\nint main(int argc, char **argv) {{ int rank, size; \
             MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); \
             MPI_Comm_size(MPI_COMM_WORLD, &size);\n{text}\nMPI_Finalize(); return 0; }}"
        )
    };
    let program =
        crate::read::c::from_text(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let main = program.entries.iter().find(|entry| entry.name == "main").expect("there is a main");
    // Calls in calls take more than a test's thread has.
    std::thread::scope(|scope| {
        let evaluate = || super::super::evaluate(&program, main, size, Limits::default());
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        thread.spawn_scoped(scope, evaluate).expect("there is a thread").join().expect("it ends")
    })
}

/// Asserts what each rank does.
#[track_caller]
fn does(text: &str, size: u32, expected: &[&str]) {
    let evaluated = evaluated(text, size);
    assert_eq!((&evaluated.lost[..], &evaluated.gaps[..]), (&[][..], &[][..]), "\n{text}");
    let shown = super::show::world(&evaluated.worlds[0].0);
    let inside = |line: &str| {
        let line = line.split_once(": ").map_or("", |(_, events)| events).to_owned();
        let line = line.replace("Initialize; ", "").replace("; Finalize", "");
        line.replace("Initialize", "").replace("Finalize", "")
    };
    let lines: Vec<String> = shown.lines().map(inside).collect();
    assert_eq!(lines, expected, "\n{text}");
}

/// Asserts that conditions are known to hold on both ranks.
#[track_caller]
fn holds(text: &str, conditions: &[&str]) {
    for condition in conditions {
        let text = format!("{text} if ({condition}) MPI_Barrier(MPI_COMM_WORLD);");
        does(&text, 2, &["barrier", "barrier"]);
    }
}

#[test]
fn what_is_in_no_file_that_was_given_may_communicate() {
    let lost = |declarations: &str, call: &str| {
        let text = format!(
            "{declarations}\nint main(int argc, char **argv) {{ MPI_Init(&argc, &argv); {call};
            MPI_Finalize(); return 0; }}"
        );
        evaluated(&text, 2).lost.into_iter().map(|(_, why)| why).collect::<Vec<_>>()
    };
    let why = "`receive_all` is in no file that was given, and may communicate";
    assert_eq!(lost("void receive_all(void);", "receive_all()"), [why]);
    assert_eq!(lost("#include \"not_here.h\"", "receive_all()"), [why]);
    // Of a library, or declared for one; and one that is defined.
    assert!(lost("#include <all.h>", "receive_all()").is_empty());
    assert!(lost("double drand48(void); extern void dgemm_();", "drand48(); dgemm_()").is_empty());
    assert!(lost("void f(void); void f(void) {}", "f()").is_empty());
}

#[test]
fn pointers_lead_where_they_are_set_to() {
    let text =
        "int a[6]; for (int i = 0; i < 6; i++) a[i] = 10 * i; int *p = a + 2; p++; p[-1] = 7;
        int m[2][3] = {{1, 2, 3}, {4}}; int *flat = &m[0][0]; int (*row)[3] = m; row++;
        int *rows[2] = {m[1], m[0]}; **rows = 9;";
    holds(
        text,
        &[
            "*p == 30 && a[2] == 7 && p - a == 3",
            "p > a && p != NULL && &a[3] == p",
            "flat[3] == 9 && row[0][0] == 9 && (*row)[0] == 9 && m[1][2] == 0",
            "rows[1][2] == 3 && sizeof m / sizeof m[0] == 2",
        ],
    );
}

#[test]
fn arrays_may_be_as_long_as_a_variable_says() {
    let text = "int w = 3; int a[w][w + 1]; for (int i = 0; i < w; i++)
        for (int j = 0; j <= w; j++) a[i][j] = i + j;";
    holds(text, &["a[2][3] == 5 && a[0][1] == 1"]);
}

#[test]
fn structs_are_copied() {
    let text = "struct point { double x; int n[2]; struct point *next; };
        struct point one = {1.5, {2, 3}, NULL}, two = one, all[3]; two.n[1]++; all[1] = two;
        struct point *p = all; p[1].next = &one; (p + 1)->next->x = 4; memcpy(&all[2], p + 1, sizeof one);";
    holds(
        text,
        &[
            "one.n[1] == 3 && two.n[1] == 4 && all[1].n[1] == 4",
            "one.x == 4.0 && two.x == 1.5 && two.next == NULL",
            "all[2].n[1] == 4 && all[2].next == &one",
        ],
    );
}

#[test]
fn memory_is_made_grows_and_is_given_back() {
    let text = "int n = 3; int *a = malloc(n * sizeof *a); a[1] = 5; double *z = calloc(4, 8);
        int **rows = malloc(2 * sizeof(int *)); rows[1] = a; a = realloc(a, 5 * sizeof(int));
        a[4] = 6; char s[10]; strcpy(s, \"ab\"); strcat(s, \"c\"); memset(a + 2, 0, 2 * sizeof *a);";
    holds(
        text,
        &[
            "a[1] == 5 && a[4] == 6 && a[3] == 0 && z[3] == 0.0",
            "strlen(s) == 3 && strcmp(s, \"abc\") == 0 && s[3] == 0",
        ],
    );
}

#[test]
fn numbers_wrap_and_conditions_are_numbers() {
    let text = "unsigned u = 0; u--; short s = 70000; int minus = -7; int is = (rank >= 0) + 1;";
    holds(
        text,
        &[
            "u == 4294967295u && s == 4464 && is == 2",
            "minus / 2 == -3 && minus % 2 == -1 && (int) 2.9 == 2 && ceil(1.2) == 2.0",
        ],
    );
    let text = "int given = atoi(argv[1]) > 3; if (given) MPI_Barrier(MPI_COMM_WORLD);
        if (given == 0) MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);";
    let all = evaluated(text, 2);
    let shown: Vec<String> = all.worlds.iter().map(|(it, _)| super::show::world(it)).collect();
    assert_eq!(shown.len(), 2);
    assert!(shown.iter().all(|it| it.contains("barrier") != it.contains("bcast")), "{shown:?}");
}

#[test]
fn only_the_bytes_in_use_are_in_use() {
    let text = "double u[4][8]; MPI_Request r; if (rank == 0) {
        MPI_Irecv(u[1], 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r); u[0][7] = u[2][0]; BODY
        MPI_Wait(&r, MPI_STATUS_IGNORE); u[1][3] = 1; }
        else if (rank == 1) MPI_Send(u, 8, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);";
    let does = |body: &str, accesses: &str| {
        let first = format!("r0 = ireceive 1 tag 0 8 x double; {accesses}wait r0");
        does(&text.replace("BODY", body), 2, &[&first, "send 0 tag 0 8 x double"]);
    };
    let (read, written) =
        ("Access { requests: [0], writes: false }; ", "Access { requests: [0], writes: true }; ");
    does("", "");
    does("double *p = &u[0][0]; p[15] = 1;", written);
    does("for (int j = 0; j < 8; j++) u[3][j] = u[2][j];", "");
    does("memcpy(u[2], &u[1][4], 2 * sizeof(double));", read);
    does("memset(u[2], 0, 16 * sizeof(double));", "");
    does("u[rank + atoi(argv[1])][0] = 1;", "");
    does("if (sqrt(u[1][0]) > 1) u[0][0] = 1;", read);
}

#[test]
fn loops_over_a_buffer_touch_all_of_it() {
    let text = "static double big[3][500]; MPI_Request r; if (rank == 0) {
        MPI_Isend(big[1], 500, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r);
        for (int j = 0; j < 500; j++) big[ROW][j] = j; MPI_Wait(&r, MPI_STATUS_IGNORE); }
        else if (rank == 1) MPI_Recv(big, 500, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);";
    let receive = "receive 0 tag 0 500 x double";
    let send = "r0 = isend 1 tag 0 500 x double; Access { requests: [0], writes: true }; wait r0";
    does(&text.replace("ROW", "1"), 2, &[send, receive]);
    does(&text.replace("ROW", "2"), 2, &["r0 = isend 1 tag 0 500 x double; wait r0", receive]);
}

#[test]
fn a_count_that_nobody_knows_is_the_length_that_was_asked_for() {
    let text = "int n = atoi(argv[1]); double *b = malloc(n * sizeof(double)); MPI_Request r;
        if (rank == 0) { MPI_Isend(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &r); b[n / 2] = 1;
        MPI_Wait(&r, MPI_STATUS_IGNORE); }
        if (rank == 1) MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);";
    let send = "r0 = isend 1 tag 0 ? x double; Access { requests: [0], writes: true }; wait r0";
    does(text, 2, &[send, "receive 0 tag 0 ? x double"]);
}

#[test]
fn pointers_that_nobody_knows_change_what_they_may_lead_to() {
    let text = "int a = 0, b = 0; int *p = rand() % 2 ? &a : &b; *p = 3;
        if (a == 0) MPI_Barrier(MPI_COMM_WORLD);";
    does(text, 2, &["branch [2, 3]; barrier"; 2]);
    let text =
        "int a[2] = {0, 0}; helper_elsewhere(a); if (a[1] == 0) MPI_Barrier(MPI_COMM_WORLD);";
    does(text, 2, &["branch [2, 3]; barrier"; 2]);
}

#[test]
fn processes_end_where_they_say_so() {
    let text = "if (rank == 1) BODY MPI_Barrier(MPI_COMM_WORLD);";
    let ends = |body: &str, how: &str| does(&text.replace("BODY", body), 2, &["barrier", how]);
    ends("exit(1);", "exited");
    ends("abort();", "aborted");
    ends("assert(rank == 0);", "aborted");
    ends("{ int none = 0; rank /= none; }", "aborted");
}

#[test]
fn variables_outside_of_functions_keep_their_values() {
    let text = "static int calls; int next(void) { static int last = 4; calls++; return ++last; }
        int main(int argc, char **argv) { MPI_Init(&argc, &argv); next();
        if (next() == 6 && calls == 2) MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }";
    does(text, 2, &["barrier"; 2]);
}

#[test]
fn computations_of_a_million_turns_cost_nothing() {
    let text = "double s = 0, a[200][200], b[200][200]; long k = 0; int i;
        for (i = 0; i < 1000000; i++) s += i; while (k < 1000000) { k++; s += k; }
        for (int step = 0; step < 1000; step++) {
        for (int i = 1; i < 199; i++) for (int j = 1; j < 199; j++) a[i][j] = b[i - 1][j] + b[i][j];
        for (int i = 0; i < 200; i++) for (int j = 0; j < 200; j++)
            for (int k = 0; k < 200; k++) s += a[i][k] * b[k][j];
        MPI_Barrier(MPI_COMM_WORLD); }";
    let evaluated = evaluated(text, 2);
    assert!(evaluated.lost.is_empty(), "{:?}", evaluated.lost);
    // What comes again and again may be cut short.
    assert!(super::show::world(&evaluated.worlds[0].0).matches("barrier").count() > 5);
}

#[test]
fn long_loops_are_cut_short_after_what_they_do_now_and_then() {
    let text = "int one = 1, all; for (int t = 0; t < 1000; t++) {
                    MPI_Barrier(MPI_COMM_WORLD);
                    if (t % 100 == 0) MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
                }";
    let (world, _) = &evaluated(text, 2).worlds[0];
    let events = &world.behaviours[0].events;
    let reductions = events.iter().filter(|event| match event.action {
        Action::Collective(collective) => collective.kind == CollectiveKind::AllReduce,
        _ => false,
    });
    assert_eq!(reductions.count(), 2, "in turns 0 and 100");
    assert!(events.len() < 150, "{}", events.len());
}

#[test]
fn a_turn_too_many_is_not_cut_off() {
    let text = "int v = 0; for (int t = 0; t < 501 - rank; t++) {
                    if (rank == 0) MPI_Send(&v, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
                    else MPI_Recv(&v, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                }";
    let (world, _) = &evaluated(text, 2).worlds[0];
    let moves = |rank: usize| {
        let events = world.behaviours[rank].events.iter();
        events.filter(|event| event.action.envelopes().next().is_some()).count()
    };
    assert_eq!((moves(0), moves(1)), (501, 500));
}

#[test]
fn a_float_has_no_more_digits_than_it_has_room_for() {
    let text = "float f = 0.1f; float g = 16777217;";
    holds(text, &["f != 0.1", "f == 0.1f", "(int)(1.0f * 16777217) == 16777216", "g == 16777216"]);
}

#[test]
fn bit_fields_are_cut_to_their_width() {
    let text = "struct bits { unsigned low : 3; int high : 5; unsigned rest; enum { A, B } e : 1; };
        struct bits b = {9, 17, 9, B}, c; c.low = 10; c.low += 7; c.high = 15; c.high++; c.rest = 9;";
    holds(
        text,
        &[
            "b.low == 1 && b.high == -15 && b.rest == 9 && b.e == B",
            "c.low == 1 && c.high == -16 && c.rest == 9",
            "sizeof((int[]){1, 2, 3}) == 12 && sizeof((char[7]){0}) == 7",
        ],
    );
}

#[test]
fn variables_end_with_their_function() {
    let text = "MPI_Request start(int *p) { int own = 5; static int kept; MPI_Request r;
        MPI_Isend(WHAT, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r); return r; }
        int main(int argc, char **argv) { int rank, x = 0; MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) { MPI_Request r = start(&x); MPI_Wait(&r, MPI_STATUS_IGNORE); }
        else if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Finalize(); return 0; }";
    let receive = "receive 0 tag 0 1 x int";
    let gone = "r0 = isend 1 tag 0 1 x int; Vanish { requests: [0] }; wait r0";
    does(&text.replace("WHAT", "&own"), 2, &[gone, receive]);
    for stays in ["p", "&kept"] {
        let text = text.replace("WHAT", stays);
        does(&text, 2, &["r0 = isend 1 tag 0 1 x int; wait r0", receive]);
    }
}

#[test]
fn lengths_come_with_messages() {
    let text = "int n; char b[100]; MPI_Status s; if (rank == 0) {
        MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
        MPI_Recv(b, n, MPI_CHAR, WHOM, 2, MPI_COMM_WORLD, &s); }
        else { n = 10 * rank; MPI_Send(&n, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Send(b, n, MPI_CHAR, 0, 2, MPI_COMM_WORLD); }";
    let first = |whom: &str| {
        let evaluated = evaluated(&text.replace("WHOM", whom), 3);
        super::show::world(&evaluated.worlds[0].0).lines().next().unwrap_or_default().to_owned()
    };
    assert!(first("MPI_ANY_SOURCE").contains("Measured { told: 0, taken: 1 }"));
    assert!(!first("s.MPI_SOURCE").contains("Measured"));
    assert!(!first("1").contains("Measured"));
}

#[test]
fn a_function_may_ask() {
    let text = "int ready(MPI_Request *r) { int flag; MPI_Test(r, &flag, MPI_STATUS_IGNORE);
        return flag; }
        int main(int argc, char **argv) { int rank, x = 0, turns = 0; MPI_Request r;
        MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) { MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r); LOOP }
        else if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Finalize(); return 0; }";
    let waits = ["r0 = ireceive 1 tag 0 1 x int; wait r0", "send 0 tag 0 1 x int"];
    does(&text.replace("LOOP", "while (!ready(&r)) turns++;"), 2, &waits);
    does(&text.replace("LOOP", "while (ready(&r) == 0) ;"), 2, &waits);
}

#[test]
fn messages_carry_what_their_sender_knows() {
    // Rank 0 tells the others to whom they send; `BEFORE` and `AFTER` say with what else.
    let text = "int to = 0, n = 0; MPI_Status s; MPI_Request r; if (rank == 0) { BEFORE
        for (int i = 1; i < size; i++) { to = i % 2 + 1;
        MPI_Send(&to, 1, MPI_INT, i, 7, MPI_COMM_WORLD); } }
        else { AFTER MPI_Recv(&to, 1, MPI_INT, FROM, MPI_COMM_WORLD, &s);
        MPI_Send(&n, 1, MPI_INT, to, 8, MPI_COMM_WORLD);
        MPI_Recv(&n, 1, MPI_INT, 3 - rank, 8, MPI_COMM_WORLD, &s); }";
    let text = |before: &str, after: &str, from: &str| {
        text.replace("BEFORE", before).replace("AFTER", after).replace("FROM", from)
    };
    does(
        &text("", "", "0, 7"),
        3,
        &[
            "send 1 tag 7 1 x int; send 2 tag 7 1 x int",
            "receive 0 tag 7 1 x int; send 2 tag 8 1 x int; receive 2 tag 8 1 x int",
            "receive 0 tag 7 1 x int; send 1 tag 8 1 x int; receive 1 tag 8 1 x int",
        ],
    );
    let is_known = |before: &str, after: &str, from: &str| {
        evaluated(&text(before, after, from), 3).lost.is_empty()
    };
    let send = "MPI_Send(&n, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);";
    let receive = "if (rank == 1) MPI_Recv(&n, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &s);";
    let [[sends, receives], [sends_other, receives_other]] =
        ["7", "9"].map(|tag| [send.replace("TAG", tag), receive.replace("TAG", tag)]);
    assert!(is_known(&sends, &receives, "0, 7"));
    assert!(is_known(&sends_other, &receives_other, "0, 7"));
    // Who knows which message that is?
    assert!(!is_known("", "", "MPI_ANY_SOURCE, 7"));
    assert!(!is_known("", "", "0, MPI_ANY_TAG"));
    assert!(!is_known("", &receives_other.replace("0, 9", "0, MPI_ANY_TAG"), "0, 7"));
    assert!(!is_known(&format!("if (rand() % 2) {sends}"), "", "0, 7"));
    // Which of them is the first, the tag does not tell.
    let prepared = "MPI_Send_init(&n, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &r);";
    assert!(!is_known(prepared, "", "0, 7"));
}

#[test]
fn turns_and_lengths_come_with_messages() {
    let text = "int n, x[9]; if (rank == 0) for (int i = 1; i < size; i++) { n = i;
        MPI_Send(&n, 1, MPI_INT, i, 0, MPI_COMM_WORLD); MPI_Send(x, n, MPI_INT, i, 1, MPI_COMM_WORLD); }
        else { MPI_Recv(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(x, n, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < n; k++) MPI_Send(x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD); }";
    does(
        text,
        3,
        &[
            "send 1 tag 0 1 x int; send 1 tag 1 1 x int; send 2 tag 0 1 x int; send 2 tag 1 2 x int",
            "receive 0 tag 0 1 x int; receive 0 tag 1 1 x int; send 0 tag 2 1 x int",
            "receive 0 tag 0 1 x int; receive 0 tag 1 2 x int; send 0 tag 2 1 x int; send 0 tag 2 1 x int",
        ],
    );
}

#[test]
fn a_global_may_lead_to_itself() {
    let main = |globals: &str, condition: &str| {
        let text = format!(
            "{globals} int main(int argc, char **argv) {{ MPI_Init(&argc, &argv);\n\
             if ({condition}) MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }}"
        );
        super::show::world(&evaluated(&text, 2).worlds[0].0)
    };
    let list = "struct list { struct list *next; int length; } head = {&head, 3};";
    assert!(main(list, "head.next->length == 3 && head.next == &head").contains("; barrier;"));
    // What is no C all the same comes to an end.
    for globals in
        ["int a = a + 1;", "int a[2] = {a[1], 2};", "extern int b; int a = b; int b = a;"]
    {
        assert!(main(globals, "a").starts_with("0: Initialize"), "{globals}");
    }
}
