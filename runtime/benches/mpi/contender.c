/* The exchanges of this benchmark in C, on MPI alone: what every binding is measured against.
 *
 * The arguments are the plan, as in main.rs: SUBJECT:BYTES:TRIPS:ROUNDS. Rank 0 prints a line for
 * each round: subject, bytes, contender, round, nanoseconds for each trip. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, CELLS = 32768, PASSES = 40 };

static int rank, size, peer;
static char *out, *in, *out_other, *in_other;

static void ping(int bytes, int trips) {
    for (int trip = 0; trip < trips; trip++) {
        if (rank % 2 == 0) {
            MPI_Send(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        }
    }
}

static void acknowledge(void) {
    char word[8] = {0};
    if (rank % 2 == 0)
        MPI_Recv(word, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(word, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
}

static void windows(int bytes, int trips) {
    MPI_Request requests[WINDOW];
    for (int trip = 0; trip < trips; trip++) {
        for (int i = 0; i < WINDOW; i++) {
            if (rank % 2 == 0)
                MPI_Isend(out + i * bytes, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(in + i * bytes, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        acknowledge();
    }
}

static void one_way(int bytes, int trips) {
    for (int trip = 0; trip < trips; trip++) {
        if (rank % 2 == 0)
            MPI_Send(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    acknowledge();
}

static void fresh(int bytes, int trips) {
    for (int trip = 0; trip < trips; trip++) {
        if (rank % 2 == 0) {
            MPI_Send(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        } else {
            MPI_Message message;
            MPI_Status status;
            int count;
            MPI_Mprobe(peer, 0, MPI_COMM_WORLD, &message, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            char *buffer = malloc(count);
            MPI_Mrecv(buffer, count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            free(buffer);
        }
    }
    acknowledge();
}

static void both_ways(int bytes, int trips) {
    for (int trip = 0; trip < trips; trip++)
        MPI_Sendrecv(out, bytes, MPI_BYTE, peer, 0, in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static double cells[2][CELLS];

static void compute(void) {
    for (int pass = 0; pass < PASSES; pass++) {
        const double *now = cells[pass % 2];
        double *next = cells[1 - pass % 2];
        for (int i = 1; i < CELLS - 1; i++)
            next[i] = 0.5 * now[i] + 0.25 * (now[i - 1] + now[i + 1]);
    }
}

static void halo(int bytes, int trips, int overlap) {
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int trip = 0; trip < trips; trip++) {
        MPI_Request requests[4];
        MPI_Irecv(in, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in_other, bytes, MPI_BYTE, right, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out, bytes, MPI_BYTE, left, 3, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out_other, bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[3]);
        if (overlap)
            compute();
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        if (!overlap)
            compute();
    }
}

/* Does so many trips, and gives back for how many messages or steps that was. */
static double run(const char *subject, int bytes, int trips) {
    if (!strcmp(subject, "latency")) {
        ping(bytes, trips);
        return 2.0 * trips;
    }
    if (!strcmp(subject, "rate")) {
        windows(bytes, trips);
        return (double)WINDOW * trips;
    }
    if (!strcmp(subject, "one-way"))
        one_way(bytes, trips);
    else if (!strcmp(subject, "fresh"))
        fresh(bytes, trips);
    else if (!strcmp(subject, "both-ways"))
        both_ways(bytes, trips);
    else if (!strcmp(subject, "halo"))
        halo(bytes, trips, 0);
    else if (!strcmp(subject, "halo-overlap"))
        halo(bytes, trips, 1);
    return trips;
}

static int is_known(const char *subject) {
    static const char *known[] = {"latency",   "rate", "one-way",      "fresh",
                                  "both-ways", "halo", "halo-overlap", NULL};
    for (const char **one = known; *one; one++)
        if (!strcmp(subject, *one))
            return 1;
    return 0;
}

static char *filled(size_t bytes) {
    char *buffer = malloc(bytes);
    if (!buffer)
        MPI_Abort(MPI_COMM_WORLD, 3);
    memset(buffer, 1, bytes);
    return buffer;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = rank ^ 1;
    char subject[32];
    int bytes, trips, rounds;
    size_t most = 1 << 20;
    for (int i = 1; i < argc; i++)
        if (sscanf(argv[i], "%31[^:]:%d", subject, &bytes) == 2 && (size_t)bytes > most)
            most = bytes;
    out = filled(most), in = filled(most), out_other = filled(most), in_other = filled(most);
    for (int i = 1; i < argc; i++) {
        if (sscanf(argv[i], "%31[^:]:%d:%d:%d", subject, &bytes, &trips, &rounds) != 4)
            continue;
        if (!is_known(subject))
            continue; /* what others measure among themselves */
        run(subject, bytes, trips / 10 + 1);
        for (int round = 0; round < rounds; round++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double start = MPI_Wtime();
            double count = run(subject, bytes, trips);
            double seconds = MPI_Wtime() - start;
            if (rank == 0)
                printf("%s\t%d\tC\t%d\t%.1f\n", subject, bytes, round, seconds * 1e9 / count);
        }
    }
    MPI_Finalize();
    return 0;
}
