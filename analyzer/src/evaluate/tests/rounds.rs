//! What ranks must tell each other.

use super::does;

#[test]
fn communicators_by_color() {
    does(
        "let color = mpi::topology::Color::with_value(rank % 2);
         let half = world.split_by_color(color).unwrap();
         if half.rank() == 0 { half.process_at_rank(1).send(&1u8); } else { half.process_at_rank(0).receive::<u8>(); }",
        4,
        &[
            "0: make_communicator; send 2 tag 0 on world, color 0 1 x u8",
            "1: make_communicator; send 3 tag 0 on world, color 1 1 x u8",
            "2: make_communicator; receive 0 tag any on world, color 0 1 x u8",
            "3: make_communicator; receive 1 tag any on world, color 1 1 x u8",
        ],
    );
}

#[test]
fn what_the_root_knows_is_known_to_all() {
    does(
        "let mut n = if rank == 0 { 3 } else { 0 };
         world.process_at_rank(0).broadcast_into(&mut n);
         for k in 0..n { if rank == 1 { world.process_at_rank(0).send_with_tag(&k, k); } }",
        2,
        &[
            "0: bcast root 0 1 x i32",
            "1: bcast root 0 1 x i32; send 0 tag 0 1 x i32; send 0 tag 1 1 x i32; send 0 tag 2 1 x i32",
        ],
    );
}

/// An answer goes back with the tag that came, whichever it is.
#[test]
fn tags_that_came_go_back() {
    does(
        "if rank == 0 {
             let to = world.process_at_rank(1);
             to.send_with_tag(&1u8, 4); to.send_with_tag(&1u8, 6);
             to.receive_with_tag::<u8>(4); to.receive_with_tag::<u8>(6);
         } else {
             for _ in 0..2 {
                 let (x, status) = world.any_process().receive::<u8>();
                 world.process_at_rank(status.source_rank()).send_with_tag(&x, status.tag());
             }
         }",
        2,
        &[
            "0: send 1 tag 4 1 x u8; send 1 tag 6 1 x u8; receive 1 tag 4 1 x u8; receive 1 tag 6 1 x u8",
            "1: receive any tag any 1 x u8 -> s0; branch s0 4 => 2, 6 => 4 else 12; \
             send s0 tag 4 1 x u8; jump 5; send s0 tag 6 1 x u8; \
             receive any tag any 1 x u8 -> s1; branch s1 4 => 7, 6 => 9 else 11; \
             send s1 tag 4 1 x u8; jump 13; send s1 tag 6 1 x u8; jump 13; opaque; opaque",
        ],
    );
}
