//! Programs as test suites of MPI have them: a long comment, and a few kinds of messages one after the
//! other, each on all ranks; of some one is wrong.

/// The program of a number. Many numbers have different ones.
pub(super) fn program(number: usize) -> String {
    let parts =
        [number % PARTS.len(), number / PARTS.len() % PARTS.len(), (number / 3) % PARTS.len()];
    let called = [0, 1, 2].map(|step| PARTS[parts[step]].replace("STEP", &step.to_string()));
    // Every fifth one has a tag that nobody receives, if one is sent in it at all.
    let tag = if number.is_multiple_of(5) { "tag + 1" } else { "tag" };
    let calls = called.join("\n").replacen("SENT", tag, 1).replace("SENT", "tag");
    let comment: String = (0..45).map(|line| format!("   {line}: {COMMENT}\n")).collect();
    format!("/* Test {number}\n{comment}*/\n{BEGIN}{calls}{END}")
}

const COMMENT: &str = "point to point: yes; collective: yes; one-sided: no; expected: as it says";

const BEGIN: &str = r#"#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 64

int main(int argc, char **argv)
{
    int rank, size, tag = 7, root = 0;
    int mine[LENGTH], other[LENGTH];
    double value, total = 0.0;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Comm comm = MPI_COMM_WORLD;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    printf("rank %d of %d begins\n", rank, size);
    if (size < 2) {
        printf("this test needs two ranks at least\n");
        MPI_Abort(comm, 1);
    }
    for (int i = 0; i < LENGTH; i++) {
        mine[i] = rank * LENGTH + i;
        other[i] = -1;
    }
    value = rank + 0.5;

"#;

const END: &str = r#"
    printf("rank %d ends with %g, %d\n", rank, total, other[0]);
    MPI_Finalize();
    return 0;
}
"#;

const PARTS: [&str; 6] = [
    r#"    /* STEP: one message from the first rank to the last one */
    if (rank == 0) {
        int last = size - 1;
        MPI_Send(mine, LENGTH, MPI_INT, last, SENT, comm);
        printf("sent to %d\n", last);
    } else if (rank == size - 1) {
        MPI_Recv(other, LENGTH, MPI_INT, 0, tag, comm, &status);
        int count;
        MPI_Get_count(&status, MPI_INT, &count);
        if (count != LENGTH)
            printf("%d came instead of %d\n", count, LENGTH);
    }
"#,
    r#"    /* STEP: around a ring */
    int nextSTEP = (rank + 1) % size, previousSTEP = (rank + size - 1) % size;
    MPI_Irecv(other, LENGTH, MPI_INT, previousSTEP, tag, comm, &requests[0]);
    MPI_Isend(mine, LENGTH, MPI_INT, nextSTEP, SENT, comm, &requests[1]);
    value = value * 2.0 + 1.0;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < LENGTH; i++)
        if (other[i] != previousSTEP * LENGTH + i)
            printf("element %d is %d\n", i, other[i]);
    tag = tag + 2;
"#,
    r#"    /* STEP: to all and from all */
    MPI_Bcast(mine, LENGTH, MPI_INT, root, comm);
    MPI_Reduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, root, comm);
    MPI_Barrier(comm);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (rank == root)
        printf("in all %g, at most %g\n", total, value);
"#,
    r#"    /* STEP: one works, the others hand in */
    if (rank == root) {
        int *all = malloc(size * sizeof(int));
        all[root] = mine[0];
        for (int i = 1; i < size; i++) {
            MPI_Recv(&all[i], 1, MPI_INT, i, tag, comm, MPI_STATUS_IGNORE);
            printf("%d from %d\n", all[i], i);
        }
        free(all);
    } else {
        MPI_Send(&mine[0], 1, MPI_INT, root, SENT, comm);
    }
"#,
    r#"    /* STEP: the halves of all ranks among themselves */
    MPI_Comm halfSTEP;
    MPI_Comm_split(comm, rank % 2, rank, &halfSTEP);
    int placeSTEP, membersSTEP;
    MPI_Comm_rank(halfSTEP, &placeSTEP);
    MPI_Comm_size(halfSTEP, &membersSTEP);
    int *gatheredSTEP = malloc(membersSTEP * sizeof(int));
    MPI_Allgather(&rank, 1, MPI_INT, gatheredSTEP, 1, MPI_INT, halfSTEP);
    for (int i = 0; i < membersSTEP; i++)
        if (gatheredSTEP[i] % 2 != rank % 2)
            printf("%d is in the wrong half\n", gatheredSTEP[i]);
    free(gatheredSTEP);
    MPI_Comm_free(&halfSTEP);
"#,
    r#"    /* STEP: neighbours exchange, who has two */
    if (rank > 0)
        MPI_Sendrecv(mine, 1, MPI_INT, rank - 1, tag, &other[0], 1, MPI_INT, rank - 1, tag, comm,
                     &status);
    if (rank < size - 1)
        MPI_Sendrecv(&mine[LENGTH - 1], 1, MPI_INT, rank + 1, tag, &other[LENGTH - 1], 1, MPI_INT,
                     rank + 1, tag, comm, &status);
    for (int i = 1; i < LENGTH - 1; i++)
        total += 0.5 * (mine[i - 1] + mine[i + 1]);
"#,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_as_long_as_usual_and_differ() {
        let all: std::collections::BTreeSet<_> = (0..100).map(program).collect();
        assert_eq!(all.len(), 100, "each says its number");
        for text in all {
            let lines = text.lines().count();
            assert!(super::super::USUAL_LENGTH.contains(&lines), "{lines} lines:\n{text}");
            assert!(!text.contains("STEP") && !text.contains("SENT"), "{text}");
        }
    }
}
