//! What buffers are made of.

use super::{all_do, does, evaluated, ranks};

#[test]
fn views_have_a_datatype_of_their_own() {
    let body = "let b = vec![0i32; 12]; let to = world.process_at_rank(0);
        let t = UserDatatype::vector(2, 2, 3, &i32::equivalent_datatype());
        to.send(&unsafe { View::with_count_and_datatype(&b[..], 1, &t) });
        let t = UserDatatype::contiguous(3, &i32::equivalent_datatype());
        to.send(&unsafe { View::with_count_and_datatype(&b[..], 4, &t) });
        let t = UserDatatype::indexed(&[1, 2], &[0, 4], &f64::equivalent_datatype());
        to.send(&unsafe { View::with_count_and_datatype(&b[..], 1, &t) });";
    does(body, 1, 0, &["send 0 #0 4 i32", "send 0 #0 12 i32", "send 0 #0 3 f64"]);
}

#[test]
fn derived_structs_are_their_scalars() {
    let text = "use mpi::traits::*;
        #[derive(Equivalence, Clone, Default)] struct Mixed { x: f64, n: i32 }
        #[derive(Equivalence, Clone, Default)] struct Three(i32, [i32; 2]);
        struct Unsaid(u8);
        fn main() {
            let universe = mpi::initialize().unwrap(); let world = universe.world();
            let to = world.process_at_rank(0);
            to.send(&Mixed { x: 1.0, n: 2 }); to.send(&Three(1, [2, 3]));
            to.send(&vec![Three(1, [2, 3]), Three(4, [5, 6])][..]);
            let (m, _) = to.receive::<Mixed>();
        }";
    let evaluated = evaluated(text, 1);
    assert_eq!(
        ranks(&evaluated)[0],
        ["send 0 #0 1 {f64, i32}", "send 0 #0 3 i32", "send 0 #0 6 i32", "receive 0 1 {f64, i32}",]
    );
}

#[test]
fn what_says_itself_what_it_is_made_of_is_believed() {
    let text = "use mpi::traits::*; use mpi::datatype::UserDatatype;
        struct Ints([i32; 3]);
        unsafe impl Equivalence for Ints {
            type Out = UserDatatype;
            fn equivalent_datatype() -> Self::Out {
                UserDatatype::structured(&[1, 1, 1], &[8, 4, 0], &[i32::equivalent_datatype(); 3])
            }
        }
        fn main() {
            let universe = mpi::initialize().unwrap(); let world = universe.world();
            world.process_at_rank(0).send(&Ints([1, 2, 3]));
        }";
    assert_eq!(ranks(&evaluated(text, 1))[0], ["send 0 #0 3 i32"]);
}

#[test]
fn the_types_of_generic_functions_are_those_of_their_calls() {
    let text = "use mpi::traits::*;
        fn give<C: Communicator, T: Equivalence>(comm: &C, x: &[T]) { comm.process_at_rank(0).send(x); }
        fn take<T: Equivalence>(comm: &impl Communicator) -> T { comm.any_process().receive().0 }
        fn main() {
            let universe = mpi::initialize().unwrap(); let world = universe.world();
            give(&world, &[1u8, 2]); give(&world, &[1.5f32]);
            let x: i64 = take(&world); let y = take::<f64>(&world);
        }";
    assert_eq!(
        ranks(&evaluated(text, 1))[0],
        ["send 0 #0 2 u8", "send 0 #0 1 f32", "receive any 1 i64", "receive any 1 f64",]
    );
}

#[test]
fn machine_words_are_what_travels() {
    let body = "world.process_at_rank(0).send(&(rank as usize));
        let (x, _) = world.process_at_rank(0).receive::<u64>();";
    all_do(body, &[&["send 0 #0 1 u64", "receive 0 1 u64"]]);
}

/// Where a pointer is cast, what is there is taken for something else.
#[test]
fn bytes_of_a_vector_are_bytes() {
    let body = "let v = vec![1.0_f64; 16]; let to = world.process_at_rank(0);
        to.send(unsafe { std::slice::from_raw_parts(v.as_ptr() as *const u8, 128) });
        to.send(unsafe { std::slice::from_raw_parts(v.as_ptr().cast::<u8>(), 128) });
        to.send(unsafe { std::slice::from_raw_parts(v.as_ptr(), 8) });";
    all_do(body, &[&["send 0 #0 128 u8", "send 0 #0 128 u8", "send 0 #0 8 f64"]]);
}
