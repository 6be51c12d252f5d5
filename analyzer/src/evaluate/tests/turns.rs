//! Loops of C of which turns are left out because it is known that they do what others do.

use super::c::evaluated;

/// How many events the first rank has.
fn length(text: &str) -> usize {
    evaluated(text, 2).worlds[0].0.behaviours[0].events.len()
}

const EXCHANGE: &str = "MPI_Sendrecv(a, 4, MPI_DOUBLE, 1 - rank, 0, b, 4, MPI_DOUBLE, 1 - rank, 0,
    MPI_COMM_WORLD, MPI_STATUS_IGNORE);";

/// How many events the first rank has if it makes an exchange in each of 100 turns, and what is said
/// besides.
fn turns(before: &str, besides: &str) -> usize {
    length(&format!(
        "double a[4], b[4]; {before}
        for (int step = 0; step < 100; step++) {{ {EXCHANGE} {besides} }}"
    ))
}

#[test]
fn turns_that_do_the_same_are_left_out() {
    let few = turns("", "");
    assert!(few < 15, "{few} events");
    assert_eq!(turns("", "printf(\"%d %g\\n\", step, b[0]);"), few);
    assert_eq!(turns("", "a[1] = b[2] + 1; if (b[0] > 3) a[2] = b[3];"), few);
    let swapped = turns("double *p = a, *q = b;", "double *kept = p; p = q; q = kept;");
    assert_eq!(swapped, few);
    let outside =
        format!("double a[4], b[4]; int step; for (step = 0; step < 100; step++) {{ {EXCHANGE} }}");
    assert_eq!(length(&outside), few);
}

#[test]
fn what_is_done_in_a_later_turn_is_seen() {
    let barrier = "MPI_Barrier(MPI_COMM_WORLD);";
    let all = turns("", &format!("if (step == 77) {barrier}"));
    assert_eq!(all, 100 + 1 + 2);
    let counted = turns("int sent = 3;", &format!("sent += 2; if (sent == 155) {barrier}"));
    assert_eq!(counted, all);
    let timed = turns("double t = 0;", &format!("t += 0.5; if (t == 40) {barrier}"));
    assert_eq!(timed, all);
    let marked =
        turns("int *p = malloc(400);", &format!("*p = 1; p++; if (p - 90 == 0) {barrier}"));
    assert!(marked >= 100, "{marked} events");
    let indexed =
        turns("int seen[100] = {0};", &format!("seen[step] = 1; if (seen[60]) {barrier}"));
    assert_eq!(indexed, 100 + 40 + 2);
}

#[test]
fn what_counts_elsewhere_is_known_after_the_loop() {
    let text = format!(
        "double a[4], b[4]; int step;
        for (step = 0; step < 101; step++) {{ {EXCHANGE} }}
        if (step == 101) MPI_Barrier(MPI_COMM_WORLD);"
    );
    let events = &evaluated(&text, 2).worlds[0].0.behaviours[0].events;
    let is_barrier = |event: &p2p_protocol::model::Event| {
        matches!(event.action, p2p_protocol::model::Action::Collective(_))
    };
    assert!(events.len() < 20 && events.iter().any(is_barrier));
}

#[test]
fn ranks_that_turn_otherwise_are_run_turn_by_turn() {
    let text = "double a[4];
        if (rank == 0) {
            for (int i = 0; i < 100; i++) MPI_Send(a, 4, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else {
            for (int i = 0; i < 99; i++)
                MPI_Recv(a, 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }";
    let world = &evaluated(text, 2).worlds[0].0;
    assert_eq!([0, 1].map(|rank| world.behaviours[rank].events.len()), [102, 101]);
}
