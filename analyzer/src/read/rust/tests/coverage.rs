//! Which calls count as communication.

use crate::read::rust::{from_text, mentions_mpi};

/// The calls in the text, those with another possible meaning in parentheses.
fn calls(text: &str) -> Vec<String> {
    let program = from_text(text).unwrap();
    let name = |call: &crate::program::CallSite| {
        if call.is_certain { call.name.clone() } else { format!("({})", call.name) }
    };
    program.calls.iter().map(name).collect()
}

#[test]
fn names_that_only_rsmpi_has_count() {
    let text = "use mpi::traits::*;
        fn main() {
            world.process_at_rank(1).send_with_tag(&1, 2);
            world.barrier();
            world.any_process().immediate_receive_into(scope, &mut x);
            mpi::point_to_point::send_receive_into(&a, &p, &mut b, &q);
            unsafe { mpi::ffi::MPI_Bcast(); mpi::ffi::MPI_Comm_rank(); }
            let _guard = mpi::request::WaitGuard::from(r);
        }";
    let expected = [
        "send_with_tag",
        "barrier",
        "immediate_receive_into",
        "send_receive_into",
        "MPI_Bcast",
        "WaitGuard::from",
    ];
    assert_eq!(calls(text), expected);
}

#[test]
fn calls_in_macros_that_are_not_read_count() {
    let text = "use mpi::traits::*;
        fn main() { mine!(world.process_at_rank(0).receive_vec::<i32>(), map.get(1)); }";
    assert_eq!(calls(text), ["receive_vec"]);
}

#[test]
fn files_without_mpi_have_no_calls() {
    assert!(calls("fn main() { tx.send(1); world.barrier(); }").is_empty());
}

#[test]
fn mpi_is_a_word() {
    for text in ["use mpi::traits::*;", "rsmpi", "(mpi)", "#[p2p_protocol(role = a::B)]"] {
        assert!(mentions_mpi(text), "{text}");
    }
    for text in ["simplify", "mpi_sys", "empire", "compile", "xrsmpi", "", "#[p2p_protocol]"] {
        assert!(!mentions_mpi(text), "{text}");
    }
}
