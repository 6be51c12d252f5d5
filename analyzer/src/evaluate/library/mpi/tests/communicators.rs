//! Duplicates, colors, groups and grids.

use super::{all_do, does, events};

#[test]
fn a_duplicate_has_the_same_ranks() {
    let body = "let other = world.duplicate(); other.process_at_rank(0).send(&other.rank());";
    does(body, 2, 1, &["make_communicator", "send 0 #0 1 i32 on world, duplicate"]);
}

#[test]
fn colors_make_groups() {
    let body = "let color = Color::with_value(rank % 2);
        let part = world.split_by_color(color).unwrap();
        if part.rank() == 0 { part.process_at_rank(part.size() - 1).send(&1u8); }";
    let ranks = events(body, 5);
    assert_eq!(ranks[0], ["make_communicator", "send 4 #0 1 u8 on world, color 0"]);
    assert_eq!(ranks[1], ["make_communicator", "send 3 #0 1 u8 on world, color 1"]);
    assert_eq!(ranks[2], ["make_communicator"]);
}

#[test]
fn keys_order_and_no_color_leaves_out() {
    let body = "let color = if rank == 0 { Color::undefined() } else { Color::with_value(7) };
        match world.split_by_color_with_key(color, -rank) {
            Some(part) => part.process_at_rank(0).barrier(),
            None => {}
        }";
    let ranks = events(body, 3);
    assert_eq!(ranks[0], ["make_communicator"]);
    assert_eq!(ranks[1], ["make_communicator", "barrier on world, color 7"]);
}

#[test]
fn groups_are_communicators_of_their_members() {
    let body = "let odd: Vec<i32> = (0..size).filter(|x| x % 2 != 0).collect();
        let odd = world.group().include(&odd[..]); let even = world.group().difference(&odd);
        let mine = if odd.rank().is_some() { &odd } else { &even };
        let part = world.split_by_subgroup_collective(mine);
        assert!(part.is_some());
        let empty = world.split_by_subgroup_collective(&SystemGroup::empty());
        assert!(empty.is_none());
        part.unwrap().barrier();
        if odd.rank().is_some() {
            let again = world.split_by_subgroup(&odd).unwrap();
            again.process_at_rank(0).send(&2.5f32);
        }";
    let ranks = events(body, 4);
    assert_eq!(
        ranks[0],
        ["make_communicator", "make_communicator", "barrier on world, group [0, 2]",]
    );
    assert_eq!(
        ranks[3][..3],
        ["make_communicator", "make_communicator", "barrier on world, group [1, 3]",]
    );
    assert_eq!(ranks[3][4], "send 1 #0 1 f32 on world, group [1, 3]");
}

#[test]
fn a_grid_has_neighbours() {
    let body = "let grid = world.create_cartesian_communicator(&[2, 3], &[false, true], false);
        let grid = match grid { Some(grid) => grid, None => return };
        let (up, down) = grid.shift(0, 1);
        if let Some(down) = down { grid.process_at_rank(down).send(&0i32); }
        if let Some(up) = up { grid.process_at_rank(up).receive::<i32>(); }
        let (left, right) = grid.shift(1, 1);
        grid.process_at_rank(right.unwrap()).send(&1i32);
        let here = grid.rank_to_coordinates(grid.rank());
        if here[1] == 2 { grid.process_at_rank(grid.coordinates_to_rank(&[0, 0])).send(&2i32); }";
    let on = "on world, grid [2, 3]";
    let expected: Vec<Vec<String>> = vec![
        vec![
            "make_communicator".into(),
            format!("send 3 #0 1 i32 {on}"),
            format!("send 1 #0 1 i32 {on}"),
        ],
        vec![
            "make_communicator".into(),
            format!("receive 2 1 i32 {on}"),
            format!("send 3 #0 1 i32 {on}"),
            format!("send 0 #0 1 i32 {on}"),
        ],
        vec!["make_communicator".into()],
    ];
    let ranks = events(body, 7);
    assert_eq!(ranks[0], expected[0]);
    assert_eq!(ranks[5], expected[1]);
    assert_eq!(ranks[6], expected[2]);
}

#[test]
fn parts_of_a_grid_are_communicators() {
    let body =
        "let grid = world.create_cartesian_communicator(&[2, 2], &[false; 2], true).unwrap();
        let row = grid.subgroup(&[false, true]); row.process_at_rank(1 - row.rank()).send(&1u8);";
    let ranks = events(body, 4);
    assert_eq!(ranks[2][2], "send 3 #0 1 u8 on world, grid [2, 2], part [1]");
}

#[test]
fn alone_with_oneself() {
    let body = "let alone = mpi::topology::SimpleCommunicator::self_comm(); alone.barrier();
        let all = mpi::topology::SystemCommunicator::world(); all.barrier();";
    all_do(body, &[&["barrier on self", "barrier"], &["barrier on self", "barrier"]]);
}

#[test]
fn ranks_are_taken_to_share_a_node() {
    let body = "let node = world.split_shared(0); node.barrier(); world.barrier();";
    all_do(body, &[&["make_communicator", "barrier on world, node", "barrier"]]);
}

#[test]
fn relations_are_known() {
    let body = "use mpi::topology::CommunicatorRelation;
        let other = world.duplicate();
        assert_eq!(world.compare(&other), CommunicatorRelation::Congruent);
        if world.compare(&world) == CommunicatorRelation::Identical { world.barrier(); }";
    does(body, 1, 0, &["make_communicator", "barrier"]);
}

#[test]
fn what_is_not_of_this_job_is_left_out() {
    let body = "if let Some(parent) = world.parent() { parent.process_at_rank(0).send(&1); }
        world.barrier();";
    does(body, 1, 0, &["barrier"]);
}

/// A rank that a part of the world does not have may be one of the world's.
#[test]
fn a_rank_outside_of_a_part_of_the_world_is_named_as_the_part_counts() {
    let body = "let part = world.split_by_color(Color::with_value(rank % 2)).unwrap();
        part.process_at_rank(part.size()).send(&rank);";
    let each = |color: u32| {
        vec![
            "make_communicator".to_owned(),
            format!("probe 1 on world, color {color}"),
            "leave Panicked".to_owned(),
        ]
    };
    assert_eq!(super::ranks(&super::evaluated(&super::program(body), 2)), [each(0), each(1)]);
}
