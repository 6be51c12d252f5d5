//! Programs that nobody would write by hand: one that is very long, and one that computes for long.

use std::fmt::Write;

/// How long the long one is, about.
pub(super) const LINES: usize = 20_000;

/// How many calls that communicate are in it.
pub(super) const CALLS: usize = FUNCTIONS * 5;

/// How many functions it has.
const FUNCTIONS: usize = 100;

/// The lines of a function that do not communicate.
const FILLING: usize = LINES / FUNCTIONS - 8;

/// A program of many functions, each with an exchange of its own among computations.
pub(super) fn large() -> String {
    let mut text = String::from(
        "#include <mpi.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n\
         #define N 256\n#define TAG(part, step) ((part) * 10 + (step))\n\n\
         static double table[N];\nstatic int rank, size;\n\n",
    );
    for part in 0..FUNCTIONS {
        function(&mut text, part);
    }
    text.push_str(
        "int main(int argc, char **argv)\n{\n    double *data = malloc(N * sizeof(double));\n\
         \x20   MPI_Init(&argc, &argv);\n\
         \x20   MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
         \x20   MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
         \x20   for (int i = 0; i < N; i++)\n        data[i] = table[i] = rank + i;\n",
    );
    for part in 0..FUNCTIONS {
        line(&mut text, format_args!("    data[{part}] += part_{part}(data, N);"));
    }
    text.push_str("    free(data);\n    MPI_Finalize();\n    return 0;\n}\n");
    text
}

/// One part: five calls, and lines of computation before and after them.
fn function(text: &mut String, part: usize) {
    line(text, format_args!("static double part_{part}(double *data, int n)\n{{"));
    line(text, format_args!("    double sum = 0.0, halo[N], other = {part}.5;"));
    text.push_str(
        "    int next = (rank + 1) % size, previous = (rank + size - 1) % size;\n    \
         MPI_Request request;\n",
    );
    filling(text, part, FILLING / 2);
    line(
        text,
        format_args!(
            "    MPI_Irecv(halo, n, MPI_DOUBLE, previous, TAG({part}, 0), MPI_COMM_WORLD, &request);\n\
             \x20   MPI_Send(data, n, MPI_DOUBLE, next, TAG({part}, 0), MPI_COMM_WORLD);\n\
             \x20   MPI_Wait(&request, MPI_STATUS_IGNORE);\n\
             \x20   if (rank == 0) {{\n\
             \x20       for (int i = 1; i < size; i++)\n\
             \x20           MPI_Recv(&other, 1, MPI_DOUBLE, i, TAG({part}, 1), MPI_COMM_WORLD, \
             MPI_STATUS_IGNORE);\n\
             \x20   }} else {{\n\
             \x20       MPI_Send(&other, 1, MPI_DOUBLE, 0, TAG({part}, 1), MPI_COMM_WORLD);\n\
             \x20   }}"
        ),
    );
    filling(text, part + 7, FILLING / 2);
    text.push_str("    return sum + halo[0] + other;\n}\n\n");
}

/// Lines of computation, in blocks of eight.
fn filling(text: &mut String, seed: usize, lines: usize) {
    for block in 0..lines / 8 {
        let index = (seed * 31 + block * 17) % 256;
        line(
            text,
            format_args!(
                "    for (int i = 1; i < n - 1; i++) {{\n\
                 \x20       double left = data[i - 1], right = data[i + 1];\n\
                 \x20       table[i] = 0.5 * (left + right) + {block}.0 / (i + 1);\n\
                 \x20   }}\n\
                 \x20   if (table[{index}] > other)\n\
                 \x20       sum += fabs(table[{index}] - other) * {seed}.25;\n\
                 \x20   else\n\
                 \x20       other = sum + data[{index}] - table[0];"
            ),
        );
    }
}

/// A program whose loops compute, and whose messages are few.
pub(super) fn loops(turns: usize) -> String {
    format!(
        "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n#define TURNS {turns}\n\n\
         int main(int argc, char **argv)\n{{\n    int rank, size;\n    \
         double x = 0.5, sum = 0.0, other = 0.0;\n    \
         double *field = malloc(TURNS * sizeof(double));\n\n    \
         MPI_Init(&argc, &argv);\n    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    \
         MPI_Comm_size(MPI_COMM_WORLD, &size);\n    \
         for (int i = 0; i < TURNS; i++) {{\n        x = 3.7 * x * (1.0 - x);\n        \
         field[i] = x + rank;\n    }}\n    \
         for (long k = TURNS; k > 0; k--)\n        sum += field[k - 1] * (k % 7);\n    \
         int steps = 0;\n    while (steps < TURNS) {{\n        \
         if (steps % 3 == 0)\n            sum *= 0.999;\n        steps++;\n    }}\n    \
         MPI_Sendrecv(&sum, 1, MPI_DOUBLE, (rank + 1) % size, 0, &other, 1, MPI_DOUBLE,\n                 \
         (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n    \
         MPI_Bcast(field, TURNS, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n    \
         printf(\"%g %g %d\\n\", sum, other, steps);\n    free(field);\n    \
         MPI_Finalize();\n    return 0;\n}}\n"
    )
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String takes what is written");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_program_is_as_long_as_it_is_said_to_be() {
        let text = large();
        let lines = text.lines().count();
        assert!(lines.abs_diff(LINES) < LINES / 10, "{lines} lines");
        let calls = ["MPI_Irecv(", "MPI_Send(", "MPI_Wait(", "MPI_Recv("];
        let count: usize = calls.iter().map(|call| text.matches(call).count()).sum();
        assert_eq!(count, CALLS);
    }
}
