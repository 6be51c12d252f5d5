//! The harder places of the example programs that rsmpi ships, cut down to what decides a type.

use super::check;

/// The beginning of every program.
fn with_world(rest: &str) -> String {
    format!(
        "use mpi::{{traits::*, request, topology::Rank, Count, collective::SystemOperation}};
        fn main() {{
            let universe = mpi::initialize().unwrap();
            let world = universe.world();
            let (rank, size) = (world.rank(), world.size());
            let root = world.process_at_rank(0);
            {rest}
        }}"
    )
}

#[test]
fn a_received_value_is_what_it_is_compared_with() {
    check(
        &with_world(
            "let x = std::f32::consts::PI;
            let mut future = world.any_process().immediate_receive();
            loop {
                match future.r#try() {
                    Ok((msg, _)) => { assert_eq!(x, msg); break; }
                    Err(again) => { future = again; }
                }
            }
            let (list, status) = world.any_process().receive_vec();
            let from = status.source_rank();
            assert_eq!(vec![from, 2 * from], list);",
        ),
        &["future: ReceiveFuture<f32>", "msg: f32", "list: Vec<i32>", "from: i32"],
    );
}

#[test]
fn buffers_are_what_their_elements_are_made_of() {
    check(
        &with_world(
            "let i = 2_u64.pow(rank as u32 + 1);
            let a = (1_u64..).take(3).map(|x| x * i).collect::<Vec<_>>();
            let mut t = vec![0u64; 9];
            root.gather_into_root(&a[..], &mut t[..]);
            assert!((0_u64..).zip(t.iter()).all(|(n, &b)| b == n / i));
            let b1 = (1..).map(|x| rank * x).take(6).collect::<Vec<_>>();
            let b2 = std::iter::repeat(-1).take(6).collect::<Vec<_>>();
            assert_eq!(b1, b2);
            let mut late; if rank == 0 { late = vec![2, 4]; } else { late = vec![0; 2]; }
            root.broadcast_into(&mut late[..]);
            let part: Vec<_> = (0..size).flat_map(|r| 0..r).collect();",
        ),
        &[
            "a: Vec<u64>",
            "t: Vec<u64>",
            "b: u64",
            "b1: Vec<i32>",
            "b2: Vec<i32>",
            "late: Vec<i32>",
            "part: Vec<i32>",
        ],
    );
}

#[test]
fn counts_and_displacements_are_counts() {
    check(
        &with_world(
            "let counts: Vec<Count> = (0..size).collect();
            let displs: Vec<Count> = counts.iter().scan(0, |acc, &x| {
                let tmp = *acc; *acc += x; Some(tmp)
            }).collect();
            let mut buf = vec![0; (size * (size - 1) / 2) as usize];
            let partition = mpi::datatype::PartitionMut::new(&mut buf[..], counts, &displs[..]);",
        ),
        &["acc: &i32", "tmp: i32", "displs: Vec<i32>", "buf: Vec<i32>", "partition: PartitionMut"],
    );
}

#[test]
fn collections_of_requests_tie_their_buffers() {
    check(
        &with_world(
            "let mut v = vec![0u8; 4];
            request::scope(|scope| {
                let reqs = v.iter_mut().zip(1..).map(|(x, i)| {
                    world.process_at_rank(i as Rank).immediate_receive_into(scope, x)
                }).collect::<Vec<_>>();
                for req in reqs { req.wait(); }
            });
            let x = vec![[1, 2, 3, 4i32]; 2];
            request::multiple_scope(2, |scope, coll| {
                for elm in &x { coll.add(root.immediate_send(scope, elm)); }
                let mut complete = vec![];
                while !coll.test_all(&mut complete) {}
                let buf: Vec<_> = complete.iter().map(|done| *done.2).collect();
            });",
        ),
        &[
            "i: i32",
            "reqs: Vec<Request<u8, &LocalScope>>",
            "elm: &[i32; 4]",
            "coll: &RequestCollection<[i32; 4]>",
            "complete: Vec<(usize, Status, &[i32; 4])>",
            "buf: Vec<[i32; 4]>",
        ],
    );
}
