//! Loops that only compute with floats.

use super::c::evaluated;

/// What rank 0 does between the beginning and the end of MPI.
fn shown(text: &str) -> String {
    let evaluated = evaluated(text, 2);
    assert_eq!(evaluated.worlds.len(), 1, "{text}");
    super::show::world(&evaluated.worlds[0].0)
}

#[test]
fn what_is_no_float_stays_known() {
    let text = "double a[64][64], sum = 0; int i, j, k = 3;
        for (i = 0; i < 64; i++) for (j = 0; j < 64; j++) { a[i][j] = i * j; sum += a[i][j]; }
        if (i == 64 && j == 64 && k == 3) MPI_Barrier(MPI_COMM_WORLD);";
    assert_eq!(shown(text).matches("barrier").count(), 2);
}

#[test]
fn what_all_ranks_compute_alike_is_the_same_on_all() {
    let text = "double sum = 0; for (int i = 0; i < 50; i++) sum += 0.5 * i;
        if (sum > 3) MPI_Barrier(MPI_COMM_WORLD);";
    // Either all of them are there, or none is: no world has one of them alone.
    for (world, _) in &evaluated(text, 2).worlds {
        assert_ne!(super::show::world(world).matches("barrier").count(), 1);
    }
}

#[test]
fn integers_in_a_loop_are_counted_as_before() {
    let text = "double a[40]; int even = 0;
        for (int i = 0; i < 40; i++) { a[i] = i; if (i % 2 == 0) even++; }
        if (even == 20) MPI_Barrier(MPI_COMM_WORLD);";
    assert_eq!(shown(text).matches("barrier").count(), 2);
}
