//! Collective operations and what they hand on.

use super::{all_do, does};

#[test]
fn everyone_together() {
    let body = "let n = size as usize; let mut all = vec![0i32; n]; let mut one = 0i32;
        world.barrier();
        world.all_gather_into(&rank, &mut all[..]);
        world.all_to_all_into(&vec![rank; 2 * n][..], &mut vec![0; 2 * n][..]);
        world.all_reduce_into(&rank, &mut one, SystemOperation::max());
        world.reduce_scatter_block_into(&all[..], &mut one, SystemOperation::sum());
        world.scan_into(&rank, &mut one, SystemOperation::product());
        world.exclusive_scan_into(&rank, &mut one, &SystemOperation::bitwise_and());";
    does(
        body,
        2,
        1,
        &[
            "barrier",
            "all_gather 1 i32",
            "all_to_all 2 i32",
            "all_reduce 1 i32 by max",
            "reduce_scatter_block 1 i32 by sum",
            "scan 1 i32 by product",
            "exclusive_scan 1 i32 by bitwise_and",
        ],
    );
}

#[test]
fn both_halves_are_one_operation() {
    let body = "let root = world.process_at_rank(1); let n = size as usize; let mut x = 0.5;
        root.broadcast_into(&mut x);
        if rank == 1 {
            let mut all = vec![0.0; 2 * n];
            root.gather_into_root(&[1.0, 2.0][..], &mut all[..]);
            root.scatter_into_root(&all[..n], &mut x);
            root.reduce_into_root(&x, &mut 0.0, SystemOperation::sum());
        } else {
            root.gather_into(&[1.0, 2.0]);
            root.scatter_into(&mut x);
            root.reduce_into(&x, SystemOperation::sum());
        }";
    let both: &[&str] = &[
        "bcast at 1 1 f64",
        "gather at 1 2 f64",
        "scatter at 1 1 f64",
        "reduce at 1 1 f64 by sum",
    ];
    all_do(body, &[both, both, both]);
}

#[test]
fn ranks_bring_amounts_of_their_own() {
    let body = "let root = world.process_at_rank(0); let mine = vec![1u8; rank as usize];
        let counts: Vec<i32> = (0..size).collect(); let displacements = vec![0, 0];
        let mut all = vec![0u8; 1]; let mut some = vec![0u8; rank as usize];
        if rank == 0 {
            let mut parts = PartitionMut::new(&mut all[..], counts.clone(), &displacements[..]);
            root.gather_varcount_into_root(&mine[..], &mut parts);
            let parts = Partition::new(&all[..], counts.clone(), &displacements[..]);
            root.scatter_varcount_into_root(&parts, &mut some[..]);
        } else {
            root.gather_varcount_into(&mine[..]);
            root.scatter_varcount_into(&mut some[..]);
        }
        let mut parts = PartitionMut::new(&mut all[..], counts.clone(), &displacements[..]);
        world.all_gather_varcount_into(&mine[..], &mut parts);";
    let root: &[&str] =
        &["gather_varcount at 0 0 u8", "scatter_varcount at 0 n u8", "all_gather_varcount 0 u8"];
    let other: &[&str] =
        &["gather_varcount at 0 1 u8", "scatter_varcount at 0 1 u8", "all_gather_varcount 1 u8"];
    all_do(body, &[root, other]);
    does(body, 2, 1, other);
}

#[test]
fn immediate_ones_are_waited_for() {
    let body = "let root = world.process_at_rank(0); let mut x = 1i64; let mut y = 0i64;
        mpi::request::scope(|scope| {
            world.immediate_barrier().wait();
            root.immediate_broadcast_into(scope, &mut x).wait();
            world.immediate_all_reduce_into(scope, &x, &mut y, SystemOperation::min()).wait();
            world.immediate_scan_into(scope, &x, &mut y, SystemOperation::sum()).wait();
            if rank == 0 {
                let mut all = vec![0i64; size as usize];
                root.immediate_gather_into_root(scope, &x, &mut all[..]).wait();
            } else {
                root.immediate_gather_into(scope, &x).wait();
            }
        });";
    let both: &[&str] = &[
        "ibarrier -> 0",
        "wait all [0]",
        "ibcast at 0 1 i64 -> 0",
        "wait all [0]",
        "iall_reduce 1 i64 by min -> 0",
        "wait all [0]",
        "iscan 1 i64 by sum -> 0",
        "wait all [0]",
        "igather at 0 1 i64 -> 0",
        "wait all [0]",
    ];
    all_do(body, &[both, both]);
}

#[test]
fn a_broadcast_hands_on_what_the_root_knows() {
    let body = "let mut n = if rank == 0 { 2 } else { 0 };
        world.process_at_rank(0).broadcast_into(&mut n);
        for _ in 0..n { world.barrier(); }";
    let both: &[&str] = &["bcast at 0 1 i32", "barrier", "barrier"];
    all_do(body, &[both, both]);
}

#[test]
fn results_are_computed_where_all_is_known() {
    let body = "let mut sum = 0; world.all_reduce_into(&rank, &mut sum, SystemOperation::sum());
        if sum == 3 { world.this_process().send(&sum); }
        let mut all = vec![0; size as usize]; world.all_gather_into(&(rank * 10), &mut all[..]);
        if rank == 0 { world.process_at_rank(all[2] / 10).send(&sum); }";
    does(
        body,
        3,
        0,
        &["all_reduce 1 i32 by sum", "send 0 #0 1 i32", "all_gather 1 i32", "send 2 #0 1 i32"],
    );
}

#[test]
fn the_wrong_half_panics() {
    let body = "world.process_at_rank(0).gather_into_root(&rank, &mut vec![0; 2][..]);";
    all_do(body, &[&["gather at 0 1 i32"], &["leave Panicked"]]);
}

#[test]
fn every_communicator_of_a_process_has_collectives() {
    all_do("world.process_at_rank(1).barrier();", &[&["barrier"], &["barrier"]]);
}

#[test]
fn operations_of_the_program_have_no_name() {
    let body = "let sum = mpi::collective::UserOperation::commutative(|x, y| {});
        let mut all = 0; world.all_reduce_into(&rank, &mut all, &sum);";
    does(body, 1, 0, &["all_reduce 1 i32"]);
}

#[test]
fn what_stays_here_is_no_event() {
    let body = "let mut c = 3u16;
        mpi::collective::reduce_local_into(&1u16, &mut c, SystemOperation::bitwise_or());
        let bytes = world.pack(&c); unsafe { world.unpack_into(&bytes, &mut c, 0); }
        let t = mpi::time(); let name = mpi::environment::processor_name();";
    does(body, 1, 0, &[]);
}

/// The root has what it has sent to all from where only it knows it: the same as all others.
#[test]
fn what_the_root_has_broadcast_is_the_same_everywhere() {
    let body = "let mut lines = 0; let mut text = vec![];
        if rank == 0 { text = std::fs::read(\"in\").unwrap(); lines = text.len(); }
        world.process_at_rank(0).broadcast_into(&mut lines);
        let n = if rank == 0 { text.len() } else { lines };
        let mut i = 0;
        while i < n { world.barrier(); i += 1; }";
    let bcast = "bcast at 0 1 u64";
    all_do(body, &[&[bcast, "barrier", "barrier"], &[bcast, "barrier", "barrier"]]);
}

/// Whatever it was before, a vector has the length that it is given.
#[test]
fn a_vector_is_as_long_as_all_ranks_have_it() {
    let body = "let mut n = 0; let mut v = vec![];
        if rank == 0 { v = std::fs::read(\"in\").unwrap(); n = v.len(); }
        world.process_at_rank(0).broadcast_into(&mut n);
        v.resize(n, 0);
        for _ in 0..v.len() { world.barrier(); }";
    let bcast = "bcast at 0 1 u64";
    all_do(body, &[&[bcast, "barrier", "barrier"], &[bcast, "barrier", "barrier"]]);
}
