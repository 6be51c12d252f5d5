//! MPI's functions in C.

use super::{gaps, ranks};
use crate::evaluate::{Evaluated, Limits, evaluate};
use crate::program::EntryKind;

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
    assert_eq!(events(body, 2)[0], ["receive -1 #0 1 int"]);
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
