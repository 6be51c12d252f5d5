//! MPI's functions in C.

use super::{gaps, ranks};
use crate::evaluate::{Evaluated, Limits, evaluate};
use crate::program::EntryKind;
use crate::source::Language;

/// A program around the statements of its `main`, in which `rank` and `size` are known.
fn program(statements: &str) -> String {
    format!(
        "#include <mpi.h>
         #include <stdlib.h>
         int main(int argc, char **argv)
         {{
             int rank, size;
             MPI_Init(&argc, &argv);
             MPI_Comm_rank(MPI_COMM_WORLD, &rank);
             MPI_Comm_size(MPI_COMM_WORLD, &size);
             {statements}
             MPI_Finalize();
             return 0;
         }}"
    )
}

fn evaluated(text: &str, size: u32) -> Evaluated {
    let program = crate::read::c::from_text(text).unwrap_or_else(|it| panic!("{it:?}\n{text}"));
    let main = program.entries.iter().find(|entry| entry.kind == EntryKind::Main);
    evaluate(&program, main.expect("there is a main"), size, Limits::default())
}

/// What each rank does, without the start and the end of MPI.
fn events(statements: &str, size: u32) -> Vec<Vec<String>> {
    let evaluated = evaluated(&program(statements), size);
    let mut all = ranks(&evaluated);
    for events in &mut all {
        events.retain(|event| event != "Initialize" && event != "Finalize");
    }
    all
}

/// Asserts what every rank does, and that all of it was understood.
#[track_caller]
fn all_do(statements: &str, expected: &[&[&str]]) {
    let size = u32::try_from(expected.len()).expect("few");
    assert_eq!(events(statements, size), expected, "{statements}");
    let evaluated = evaluated(&program(statements), size);
    assert_eq!(gaps(&evaluated), Vec::<&str>::new(), "{statements}");
}

#[test]
fn messages_of_arrays_and_variables() {
    let body = "int x[8]; double y; MPI_Status status;
        if (rank == 0) {
            MPI_Send(x, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);
            MPI_Ssend(&x[2], 6, MPI_INT, 1, 7, MPI_COMM_WORLD);
            MPI_Send(&y, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(x, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Recv(x + 2, 6, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                MPI_STATUS_IGNORE);
        }";
    let found = events(body, 2);
    assert_eq!(found[0], ["send 1 #7 4 int", "ssend 1 #7 6 int", "send nobody #0 1 double"]);
    assert_eq!(found[1][0], "receive any 8 int");
}

#[test]
fn a_rank_that_is_computed_is_no_wildcard() {
    let body = "int x; MPI_Recv(&x, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);";
    assert_eq!(events(body, 2)[0], ["receive -1 #0 1 int", "leave Aborted"]);
}

#[test]
fn requests_are_started_waited_for_and_gone() {
    let body = "int x[4]; MPI_Request r[2];
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&x[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
        MPI_Send(&x[2], 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Isend(x + 3, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);";
    all_do(
        body,
        &[&[
            "ireceive 0 #0 1 int -> 0",
            "ireceive 0 #1 1 int -> 1",
            "send 0 #0 1 int",
            "wait all [0]",
            "isend 0 #1 1 int -> 0",
            "wait all [0, 1]",
        ]],
    );
}

#[test]
fn what_a_reduction_under_way_writes_is_in_use() {
    let body = "double local = 1, global = 0, norm; MPI_Request r;
        MPI_Iallreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
        norm = global * 2;
        MPI_Wait(&r, MPI_STATUS_IGNORE);";
    all_do(body, &[&["iall_reduce 1 double by MPI_SUM -> 0", "read [0]", "wait all [0]"]]);
}

#[test]
fn what_is_broadcast_is_known() {
    let body = "int n = 0, x[8];
        if (rank == 1) n = 3;
        MPI_Bcast(&n, 1, MPI_INT, 1, MPI_COMM_WORLD);
        MPI_Send(x, n, MPI_INT, rank, 0, MPI_COMM_WORLD);";
    let each = |rank: u32| vec!["bcast at 1 1 int".to_owned(), format!("send {rank} #0 3 int")];
    assert_eq!(events(body, 2), [each(0), each(1)]);
}

#[test]
fn types_of_columns_know_their_place() {
    let body = "double m[4][5]; MPI_Datatype column;
        MPI_Type_vector(4, 1, 5, MPI_DOUBLE, &column);
        MPI_Type_commit(&column);
        MPI_Request r;
        MPI_Irecv(&m[0][4], 1, column, 0, 0, MPI_COMM_WORLD, &r);
        m[1][3] = 1;
        m[2][4] = 2;
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Type_free(&column);";
    assert_eq!(
        events(body, 1)[0],
        [
            "Create { call: 0, kind: Datatype, handle: 0 }",
            "ireceive 0 #0 4 double -> 0",
            "write [0]",
            "wait all [0]",
            "Release { handle: 0 }"
        ]
    );
}

/// What one rank does, without the start and the end of MPI and without what is made and freed.
fn alone(statements: &str) -> Vec<String> {
    let mut events = events(statements, 1).remove(0);
    events.retain(|event| !event.starts_with("Create") && !event.starts_with("Release"));
    events
}

#[track_caller]
fn says(statements: &str, argument: &str, goes_on: bool) {
    let events = alone(statements);
    let at = events.iter().position(|event| event.starts_with("Argument"));
    let at = at.unwrap_or_else(|| panic!("nothing is said of an argument: {events:?}"));
    assert!(events[at].contains(argument), "{events:?}");
    let leaves = events
        .get(at + 1)
        .is_some_and(|event| event.contains("Aborted") || event == "leave aborted");
    assert_eq!(!leaves, goes_on, "{events:?}");
}

#[track_caller]
fn says_nothing(statements: &str) {
    let events = alone(statements);
    assert!(!events.iter().any(|event| event.starts_with("Argument")), "{events:?}");
}

#[test]
fn arguments_that_end_the_job() {
    let send = |arguments: &str| format!("int x[4]; MPI_Send({arguments}, 0, 0, MPI_COMM_WORLD);");
    says(&send("x, -1, MPI_INT"), "Count(-1)", false);
    says(&send("NULL, 1, MPI_INT"), "NullBuffer", false);
    says(&send("x, 1, MPI_DATATYPE_NULL"), "kind: Datatype, state: Null", false);
    says("MPI_Barrier(MPI_COMM_NULL);", "kind: Communicator, state: Null", false);
    says("int x; MPI_Bcast(&x, 1, MPI_INT, size, MPI_COMM_WORLD);", "Root(1)", false);
    says(
        "MPI_Comm a, b; MPI_Comm_dup(MPI_COMM_WORLD, &a); b = a; MPI_Comm_free(&a); MPI_Barrier(b);",
        "kind: Communicator, state: Freed",
        false,
    );
    let pair = "int x[2]; MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t);";
    says(&format!("{pair} MPI_Bcast(x, 1, t, 0, MPI_COMM_WORLD);"), "state: Uncommitted", false);
    says(
        "MPI_Request r = MPI_REQUEST_NULL; MPI_Request_free(&r);",
        "kind: Request, state: Null",
        false,
    );
    says("int x; MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD);", "Rank(-1)", false);
    says("MPI_Comm c = MPI_COMM_WORLD; MPI_Comm_free(&c);", "state: Unfit", false);
    let reduce = |kind: &str, with: &str| {
        format!(
            "{kind} a, b; MPI_Allreduce(&a, &b, 1, MPI_{}, {with}, MPI_COMM_WORLD);",
            kind.to_uppercase()
        )
    };
    says(&reduce("float", "MPI_BAND"), "Operation", false);
    says(&reduce("int", "MPI_MAXLOC"), "Operation", false);
    says_nothing(&reduce("int", "MPI_BAND"));
}

#[test]
fn arguments_that_nobody_notices() {
    says("int x[4]; MPI_Send(x, 5, MPI_INT, 0, 0, MPI_COMM_WORLD);", "needs: 20, has: 16", true);
    says("int x[4]; MPI_Send(x + 2, 3, MPI_INT, 0, 0, MPI_COMM_WORLD);", "needs: 12, has: 8", true);
    says("float x[4]; MPI_Send(x, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);", "Elements", true);
    says("float x[4]; MPI_Send(x, 4, MPI_INT, 0, 0, MPI_COMM_WORLD);", "Elements", true);
    says("int *x = malloc(16); MPI_Send(&x, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);", "Elements", true);
}

#[test]
fn arguments_that_are_right() {
    let send = |arguments: &str| {
        format!(
            "char s[16]; unsigned u[4]; double d[4]; MPI_Send({arguments}, 0, 0, MPI_COMM_WORLD);"
        )
    };
    for right in [
        "NULL, 0, MPI_INT",
        "s, 4, MPI_INT",
        "d, 32, MPI_BYTE",
        "u, 4, MPI_INT",
        "d, 2, MPI_C_DOUBLE_COMPLEX",
        "malloc(16), 4, MPI_INT",
        "d, 32, MPI_PACKED",
    ] {
        says_nothing(&send(right));
    }
    says_nothing("MPI_Request r = MPI_REQUEST_NULL; MPI_Wait(&r, MPI_STATUS_IGNORE);");
}

#[test]
fn null_handles_are_known() {
    let body = "MPI_Comm part; int x;
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, rank, &part);
        if (part != MPI_COMM_NULL) MPI_Send(&x, 1, MPI_INT, 0, 0, part);
        if (part == MPI_COMM_NULL) MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);";
    let found = events(body, 2);
    assert!(found[0].contains(&"send 0 #0 1 int on world, color 0".to_owned()), "{found:?}");
    assert!(found[1].contains(&"send nobody #0 1 int".to_owned()), "{found:?}");
}

#[test]
fn grids_and_groups_tell_who_is_where() {
    let body = "int dims[2] = {0, 0}, periods[2] = {0, 1}, up, down, x; MPI_Comm grid;
        MPI_Dims_create(size, 2, dims);
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
        MPI_Cart_shift(grid, 0, 1, &up, &down);
        MPI_Send(&x, dims[0], MPI_INT, down, 0, grid);";
    let found = events(body, 4);
    assert!(found[0].iter().any(|event| event.starts_with("send 2 #0 2 int")), "{found:?}");
    assert!(found[3].iter().any(|event| event.starts_with("send nobody #0 2 int")), "{found:?}");
    let body = "MPI_Group all, some; MPI_Comm made; int ranges[1][3] = {{0, 3, 2}}, mine;
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_range_incl(all, 1, ranges, &some);
        MPI_Comm_create(MPI_COMM_WORLD, some, &made);
        MPI_Group_rank(some, &mine);
        if (mine != MPI_UNDEFINED) MPI_Send(&mine, mine, MPI_INT, 1 - mine, 0, made);";
    let found = events(body, 4);
    assert!(found[2].iter().any(|event| event.starts_with("send 0 #0 1 int")), "{found:?}");
    assert!(!found[1].iter().any(|event| event.starts_with("send")), "{found:?}");
}

#[test]
fn one_after_the_other_is_all() {
    let body = "int x[3], k, flag = 0; MPI_Request r[3];
        for (int i = 0; i < 3; i++) MPI_Irecv(&x[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
        for (int i = 0; i < 3; i++) MPI_Waitany(3, r, &k, MPI_STATUS_IGNORE);
        MPI_Isend(x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, r);
        while (!flag) MPI_Test(r, &flag, MPI_STATUS_IGNORE);
        MPI_Isend(x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, r);
        do { MPI_Test(r, &flag, MPI_STATUS_IGNORE); } while (!flag);";
    let found = events(body, 1).remove(0);
    assert_eq!(
        found[3..],
        [
            "wait all [0, 1, 2]",
            "isend 0 #9 1 int -> 0",
            "wait all [0]",
            "isend 0 #9 1 int -> 0",
            "wait all [0]"
        ]
    );
}

/// What the first rank of a whole program does.
fn whole(text: &str) -> Vec<String> {
    ranks(&evaluated(text, 1)).remove(0)
}

#[test]
fn calls_have_their_time() {
    let early = whole("int main() { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); return 0; }");
    assert!(early[0].contains("BeforeInitialize"), "{early:?}");
    let by_others = whole("int main() { start_all(); MPI_Barrier(MPI_COMM_WORLD); return 0; }");
    assert_eq!(by_others, ["barrier"]);
    let late = whole(
        "int main() { int f; MPI_Init(0, 0); MPI_Finalize(); MPI_Finalized(&f);
            if (f) MPI_Barrier(MPI_COMM_WORLD); return 0; }",
    );
    assert!(late[2].contains("AfterFinalize"), "{late:?}");
}

/// What the first rank of a program in C++ does.
fn whole_in_cpp(text: &str) -> Vec<String> {
    let program = crate::read::c::of_language(text, Language::Cpp).expect("this is C++");
    ranks(&evaluate(&program, &program.entries[0], 1, Limits::default())).remove(0)
}

#[test]
fn objects_may_begin_and_end_mpi() {
    let session =
        "struct Session { Session() { MPI_Init(0, 0); } ~Session() { MPI_Finalize(); } };";
    let main = "int main() { Session session; MPI_Barrier(MPI_COMM_WORLD); return 0; }";
    assert_eq!(whole_in_cpp(&format!("{session} {main}")), ["barrier"]);
    assert_eq!(whole_in_cpp(main), ["barrier"]);
    let end = "struct End { ~End() { MPI_Finalize(); } };";
    let main = "int main() { MPI_Init(0, 0); End end; return 0; }";
    assert_eq!(whole_in_cpp(&format!("{end} {main}")), Vec::<String>::new());
    let early =
        whole_in_cpp("int main() { MPI_Barrier(MPI_COMM_WORLD); MPI_Init(0, 0); return 0; }");
    assert!(early[0].contains("BeforeInitialize"), "{early:?}");
}

#[test]
fn mpi_may_be_ended_at_the_exit() {
    let main = "int main() { MPI_Init(0, 0); atexit(stop); return 0; }";
    let stop = "void stop() { MPI_Finalize(); }";
    assert_eq!(whole(&format!("{stop} {main}")), Vec::<String>::new());
    assert_eq!(whole(main), ["Initialize"]);
}

#[test]
fn a_rank_that_does_not_exist_ends_the_job() {
    let body = "if (rank == 0) MPI_Send(&size, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);";
    let all = events(body, 2);
    assert_eq!(all[0].len(), 2, "{all:?}");
    assert!(all[0][1].contains("Aborted"), "{all:?}");
    let goes_on = format!("MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); {body}");
    assert_eq!(events(&goes_on, 2)[0][1], "barrier");
}

#[test]
fn a_loop_that_goes_round_until_there_is_a_message_probes() {
    let body = "int x, left = 1; MPI_Status status;
        while (left > 0) {
            int there;
            MPI_Iprobe(0, 7, MPI_COMM_WORLD, &there, &status);
            if (!there) { usleep(100); continue; }
            MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);
            left--;
        }";
    assert_eq!(alone(body), ["probe 0 #7", "receive 0 #7 1 int"]);
    let gives_up = body.replace("continue;", "break;");
    assert!(!events(&gives_up, 1)[0].iter().any(|event| event.starts_with("probe")));
}

#[test]
fn files_and_windows_of_unknown_groups_touch_nobody() {
    let body = "MPI_Comm node; MPI_Win win; double *base; MPI_File file;
        MPI_Comm_split_type(MPI_COMM_WORLD, OMPI_COMM_TYPE_SOCKET, 0, MPI_INFO_NULL, &node);
        MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, node, &base, &win);
        MPI_Win_fence(0, win);
        MPI_Barrier(node);
        MPI_Win_free(&win);
        MPI_File_open(MPI_COMM_WORLD, \"x\", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        MPI_File_close(&file);
        MPI_Barrier(MPI_COMM_WORLD);";
    assert_eq!(alone(body), ["make_communicator", "barrier"]);
}

/// Whatever a function is handed, it is understood or counted; those that are modelled are.
#[test]
fn every_function_of_the_table_takes_anything() {
    use super::super::ffi::{TableEffect, all_functions};
    for (name, effect) in all_functions() {
        let few = format!("int x = 1; MPI_{name}(&x);");
        let numbers = format!("MPI_{name}(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);");
        let nulls = format!("MPI_{name}(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);");
        let pointers = format!("int x[2]; MPI_{name}(x, x, x, x, x, x, x, x, x, x, x, x, x);");
        for body in [few, numbers, nulls, pointers, format!("MPI_{name}();")] {
            let evaluated = evaluated(&program(&body), 2);
            let unknown = gaps(&evaluated).iter().any(|gap| gap.ends_with("is not modelled"));
            let is_modelled = effect == TableEffect::Meets;
            assert!(!(unknown && is_modelled), "{name} is not modelled");
        }
    }
}

#[test]
fn windows_have_epochs() {
    let body = "double mine[4], x; MPI_Win win; MPI_Group all;
        MPI_Win_create(mine, 32, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        MPI_Put(&x, 1, MPI_DOUBLE, 0, 2, 1, MPI_DOUBLE, win);
        x = 1;
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&x, 1, MPI_DOUBLE, 0, 3, 1, MPI_DOUBLE, win);
        MPI_Win_unlock(0, win);
        mine[1] = 2; mine[2] = 3;
        MPI_Win_free(&win);";
    let events = alone(body);
    let is = |at: usize, parts: &[&str]| {
        assert!(parts.iter().all(|part| events[at].contains(part)), "{at} {parts:?}: {events:#?}");
    };
    is(0, &["make_window"]);
    is(1, &["Made", "end: 32"]);
    is(2, &["Fence", "no_precede: true"]);
    is(4, &["Put", "start: 16, end: 24", "requested: false"]);
    is(5, &["write [0]"]);
    is(6, &["no_succeed: true"]);
    is(8, &["wait all [0]"]);
    is(9, &["Lock", "exclusive: true"]);
    is(10, &["Get", "start: 24, end: 32"]);
    is(11, &["Unlock"]);
    is(12, &["wait all [0]"]);
    is(13, &["Local", "writes: true", "start: 8, end: 24"]);
    is(14, &["Freed"]);
    assert_eq!(events.len(), 16);
}

#[test]
fn handles_that_were_never_set() {
    says("MPI_Request r; MPI_Wait(&r, MPI_STATUS_IGNORE);", "Request, state: Uninitialized", false);
    says(
        "MPI_Request r[2]; int x; MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, r);
         MPI_Waitall(2, r, MPI_STATUSES_IGNORE);",
        "Request, state: Uninitialized",
        false,
    );
    says("MPI_Comm c; MPI_Barrier(c);", "Communicator, state: Uninitialized", false);
    says("MPI_Datatype t; int x; MPI_Bcast(&x, 1, t, 0, MPI_COMM_WORLD);", "Uninitialized", false);
    says_nothing("MPI_Request r; start_something(&r); MPI_Wait(&r, MPI_STATUS_IGNORE);");
    says_nothing(
        "MPI_Comm c; if (atoi(argv[1])) MPI_Comm_dup(MPI_COMM_WORLD, &c); MPI_Barrier(c);",
    );
}

#[test]
fn two_groups_talk_over_a_communicator() {
    let body = "MPI_Comm half, other, all; int x = 0, there, me;
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 5, &other);
        MPI_Comm_remote_size(other, &there);
        if (rank == 0) MPI_Send(&x, there, MPI_INT, 1, 0, other);
        if (rank == 3) MPI_Recv(&x, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
        MPI_Intercomm_merge(other, rank < 2, &all);
        MPI_Comm_rank(all, &me);
        MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, me, all);";
    let found = events(body, 4);
    assert!(found[0].iter().any(|event| event.starts_with("send 3 #0 2 int on ")), "{found:?}");
    assert!(found[3].iter().any(|event| event.starts_with("receive 0 #0 1 int on ")), "{found:?}");
    assert!(found[0].iter().any(|event| event.starts_with("send nobody #2 ")), "{found:?}");
    assert!(found[3].iter().any(|event| event.starts_with("send nobody #1 ")), "{found:?}");
}

#[test]
fn what_nobody_knows_may_begin_mpi() {
    let begins = |call: &str| {
        let text = format!(
            "#include \"app.h\"\nint main(int argc, char **argv) {{ {call}
             MPI_Barrier(MPI_COMM_WORLD); return 0; }}"
        );
        let found = ranks(&evaluated(&text, 2));
        !found[0].iter().any(|event| event.contains("Outside"))
    };
    assert!(begins("app_open(&argc, &argv);"));
    assert!(!begins("printf(\"%d\", argc);"));
}
