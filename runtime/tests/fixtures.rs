//! The fixtures that are right compile: the macro accepts them, and the code it generates for them
//! is code.

#![allow(dead_code, missing_docs, unreachable_pub, reason = "a fixture is a program of its own")]

use std::fs;
use std::path::Path;

/// Every fixture without an expectation is listed below.
#[test]
fn no_right_fixture_is_left_out() {
    let list = include_str!("fixtures.rs");
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                // The programs on MPI are built and run by `cargo xtask rsmpi` and `cargo xtask c`.
                let is_of_mpi = path.ends_with("rsmpi") || path.ends_with("fixtures/c");
                folders.extend((!is_of_mpi).then_some(path));
            } else if !fs::read_to_string(&path).expect("a fixture is text").contains("//~") {
                let (_, name) =
                    path.to_str().expect("a plain name").split_once("..").expect("a parent");
                assert!(list.contains(&format!("\"../..{name}\"")), "{name} is not listed");
            }
        }
    }
}

#[path = "../../fixtures/protocols/all_pairs/good/collective.rs"]
mod all_pairs_collective;
#[path = "../../fixtures/protocols/all_pairs/good/lower_rank_first.rs"]
mod all_pairs_lower_rank_first;
#[path = "../../fixtures/protocols/all_pairs/good/non_blocking.rs"]
mod all_pairs_non_blocking;
#[path = "../../fixtures/protocols/all_pairs/good/one_sided.rs"]
mod all_pairs_one_sided;
#[path = "../../fixtures/protocols/all_pairs/good/shifted.rs"]
mod all_pairs_shifted;
#[path = "../../fixtures/protocols/all_pairs/good/tournament.rs"]
mod all_pairs_tournament;
#[path = "../../fixtures/protocols/butterfly/good/folded.rs"]
mod butterfly_folded;
#[path = "../../fixtures/protocols/butterfly/good/halves_in_two_orders.rs"]
mod butterfly_halves_in_two_orders;
#[path = "../../fixtures/protocols/butterfly/good/lower_first.rs"]
mod butterfly_lower_first;
#[path = "../../fixtures/protocols/butterfly/good/sendrecv.rs"]
mod butterfly_sendrecv;
#[path = "../../fixtures/chapter4/cure_even_odd.rs"]
mod chapter4_cure_even_odd;
#[path = "../../fixtures/chapter4/cure_sendrecv.rs"]
mod chapter4_cure_sendrecv;
#[path = "../../fixtures/chapter4/first_message.rs"]
mod chapter4_first_message;
#[path = "../../fixtures/chapter4/matrix_blocks.rs"]
mod chapter4_matrix_blocks;
#[path = "../../fixtures/chapter4/matrix_pipeline.rs"]
mod chapter4_matrix_pipeline;
#[path = "../../fixtures/chapter4/modes.rs"]
mod chapter4_modes;
#[path = "../../fixtures/chapter4/non_blocking.rs"]
mod chapter4_non_blocking;
#[path = "../../fixtures/protocols/farm/good/everybody_decides_alike.rs"]
mod farm_everybody_decides_alike;
#[path = "../../fixtures/protocols/farm/good/one_task_each.rs"]
mod farm_one_task_each;
#[path = "../../fixtures/protocols/farm/good/probe_then_receive.rs"]
mod farm_probe_then_receive;
#[path = "../../fixtures/protocols/farm/good/reply_to_sender.rs"]
mod farm_reply_to_sender;
#[path = "../../fixtures/protocols/farm/good/until_stop.rs"]
mod farm_until_stop;
#[path = "../../fixtures/protocols/halo_1d/good/chain_open_at_an_end.rs"]
mod halo_1d_chain_open_at_an_end;
#[path = "../../fixtures/protocols/halo_1d/good/lower_rank_sends_first.rs"]
mod halo_1d_lower_rank_sends_first;
#[path = "../../fixtures/protocols/halo_1d/good/non_blocking.rs"]
mod halo_1d_non_blocking;
#[path = "../../fixtures/protocols/halo_1d/good/persistent_periodic.rs"]
mod halo_1d_persistent_periodic;
#[path = "../../fixtures/protocols/halo_1d/good/sendrecv.rs"]
mod halo_1d_sendrecv;
#[path = "../../fixtures/protocols/halo_2d/good/checkerboard.rs"]
mod halo_2d_checkerboard;
#[path = "../../fixtures/protocols/halo_2d/good/open.rs"]
mod halo_2d_open;
#[path = "../../fixtures/protocols/halo_2d/good/periodic.rs"]
mod halo_2d_periodic;
#[path = "../../fixtures/protocols/halo_2d/good/transposition.rs"]
mod halo_2d_transposition;
#[path = "../../fixtures/protocols/large/good/five_roles.rs"]
mod large_five_roles;
#[path = "../../fixtures/protocols/ping_pong/good/length_first.rs"]
mod ping_pong_length_first;
#[path = "../../fixtures/protocols/ping_pong/good/polling.rs"]
mod ping_pong_polling;
#[path = "../../fixtures/protocols/ping_pong/good/rounds.rs"]
mod ping_pong_rounds;
#[path = "../../fixtures/protocols/ping_pong/good/until_missed.rs"]
mod ping_pong_until_missed;
#[path = "../../fixtures/protocols/pipeline/good/blocking.rs"]
mod pipeline_blocking;
#[path = "../../fixtures/protocols/pipeline/good/overlapped.rs"]
mod pipeline_overlapped;
#[path = "../../fixtures/protocols/pipeline/good/until_done.rs"]
mod pipeline_until_done;
#[path = "../../fixtures/protocols/ring/good/even_odd.rs"]
mod ring_even_odd;
#[path = "../../fixtures/protocols/ring/good/named_neighbours.rs"]
mod ring_named_neighbours;
#[path = "../../fixtures/protocols/ring/good/non_blocking.rs"]
mod ring_non_blocking;
#[path = "../../fixtures/protocols/ring/good/one_receives_first.rs"]
mod ring_one_receives_first;
#[path = "../../fixtures/protocols/ring/good/persistent.rs"]
mod ring_persistent;
#[path = "../../fixtures/protocols/ring/good/sendrecv.rs"]
mod ring_sendrecv;
#[path = "../../fixtures/protocols/token_ring/good/rounds.rs"]
mod token_ring_rounds;
#[path = "../../fixtures/protocols/token_ring/good/two_tokens.rs"]
mod token_ring_two_tokens;
#[path = "../../fixtures/protocols/token_ring/good/until_stopped.rs"]
mod token_ring_until_stopped;
#[path = "../../fixtures/protocols/tree_reduction/good/any_size.rs"]
mod tree_reduction_any_size;
#[path = "../../fixtures/protocols/tree_reduction/good/down_and_up.rs"]
mod tree_reduction_down_and_up;
#[path = "../../fixtures/protocols/tree_reduction/good/named_root.rs"]
mod tree_reduction_named_root;
#[path = "../../fixtures/protocols/tree_reduction/good/power_of_two.rs"]
mod tree_reduction_power_of_two;
#[path = "../../fixtures/protocols/unusual/good/alone.rs"]
mod unusual_alone;
#[path = "../../fixtures/protocols/unusual/good/constants_and_alternatives.rs"]
mod unusual_constants_and_alternatives;
#[path = "../../fixtures/protocols/unusual/good/either_request_first.rs"]
mod unusual_either_request_first;
#[path = "../../fixtures/protocols/unusual/good/exchange_with_whoever.rs"]
mod unusual_exchange_with_whoever;
#[path = "../../fixtures/protocols/unusual/good/phases_with_wildcards.rs"]
mod unusual_phases_with_wildcards;
#[path = "../../fixtures/protocols/unusual/good/receives_before_barrier.rs"]
mod unusual_receives_before_barrier;
#[path = "../../fixtures/protocols/unusual/good/stop_after_either.rs"]
mod unusual_stop_after_either;
#[path = "../../fixtures/protocols/unusual/good/taken_out_of_order.rs"]
mod unusual_taken_out_of_order;
#[path = "../../fixtures/protocols/unusual/good/two_libraries.rs"]
mod unusual_two_libraries;
#[path = "../../fixtures/protocols/unusual/good/wildcard_for_one.rs"]
mod unusual_wildcard_for_one;
