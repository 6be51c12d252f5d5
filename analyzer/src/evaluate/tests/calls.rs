//! Functions, methods, closures, generics.

use super::{does, run};

#[test]
fn functions_and_their_generic_parameters() {
    does(
        "fn exchange<C: Communicator, T: Equivalence + Default>(world: &C, peer: i32, value: &T) -> T {
             if world.rank() < peer {
                 world.process_at_rank(peer).send(value);
                 world.process_at_rank(peer).receive::<T>().0
             } else {
                 let received = world.process_at_rank(peer).receive::<T>().0;
                 world.process_at_rank(peer).send(value);
                 received
             }
         }
         fn main() {
             let universe = mpi::initialize().unwrap();
             let world = universe.world();
             exchange(&world, 1 - world.rank(), &2.5f32);
         }",
        2,
        &[
            "0: send 1 tag 0 1 x f32; receive 1 tag any 1 x f32",
            "1: receive 0 tag any 1 x f32; send 0 tag 0 1 x f32",
        ],
    );
}

#[test]
fn methods_on_structs_with_communicators() {
    does(
        "struct Solver { world: SimpleCommunicator, field: Vec<f64>, step: usize }
         impl Solver {
             fn new(world: SimpleCommunicator) -> Self { Solver { world, field: vec![0.0; 8], step: 0 } }
             fn advance(&mut self) { self.step += 1; self.field[0] = 1.0; }
             fn share(&self) {
                 if self.world.rank() == 0 { self.world.process_at_rank(1).send_with_tag(&self.field[..], self.step as i32); }
                 else { let _ = self.world.process_at_rank(0).receive_vec_with_tag::<f64>(self.step as i32); }
             }
         }
         fn main() {
             let universe = mpi::initialize().unwrap();
             let mut solver = Solver::new(universe.world());
             for _ in 0..2 { solver.advance(); solver.share(); }
         }",
        2,
        &[
            "0: send 1 tag 1 8 x f64; send 1 tag 2 8 x f64",
            "1: receive 0 tag 1 ? x f64; receive 0 tag 2 ? x f64",
        ],
    );
}

#[test]
fn closures_see_their_variables() {
    does(
        "let mut tag = 0;
         let mut send = |to: i32| { tag += 1; world.process_at_rank(to).send_with_tag(&tag, tag); };
         if rank == 0 { send(1); send(2); }",
        3,
        &["0: send 1 tag 1 1 x i32; send 2 tag 2 1 x i32", "1:", "2:"],
    );
}

#[test]
fn early_returns_and_drops() {
    does(
        "struct Farewell<'a> { world: &'a SimpleCommunicator }
         impl Drop for Farewell<'_> { fn drop(&mut self) { self.world.barrier(); } }
         fn work(world: &SimpleCommunicator) -> i32 {
             let _farewell = Farewell { world };
             if world.rank() == 0 { return 1; }
             world.process_at_rank(0).send(&1i32);
             2
         }
         fn main() {
             let universe = mpi::initialize().unwrap();
             let world = universe.world();
             let n = work(&world);
             if n == 1 { let (_x, _s) = world.any_process().receive::<i32>(); }
         }",
        2,
        &["0: barrier; receive any tag any 1 x i32", "1: send 0 tag 0 1 x i32; barrier"],
    );
}

#[test]
fn conversions_of_the_program_are_called() {
    does(
        "#[derive(Clone, Copy)] enum Tag { Ping = 17 }
         impl From<Tag> for i32 { fn from(tag: Tag) -> i32 { tag as i32 } }
         struct Peer(i32);
         impl From<i32> for Peer { fn from(rank: i32) -> Peer { Peer(rank + 1) } }
         fn main() {
             let universe = mpi::initialize().unwrap();
             let world = universe.world();
             let peer: Peer = world.rank().into();
             if world.rank() == 0 { world.process_at_rank(peer.0).send_with_tag(&1u8, Tag::Ping.into()); }
         }",
        2,
        &["0: send 1 tag 17 1 x u8", "1:"],
    );
}

#[test]
fn which_of_several_methods_is_called_is_not_known() {
    let text = "trait Task { fn run(&self); }
        struct A; struct B;
        impl Task for A { fn run(&self) {
            mpi::topology::SimpleCommunicator::world().process_at_rank(1).send(&1);
        } }
        impl Task for B { fn run(&self) {
            mpi::topology::SimpleCommunicator::world().process_at_rank(1).send(&2);
        } }
        fn main() {
            let universe = mpi::initialize().unwrap();
            let world = universe.world();
            let tasks: Vec<Box<dyn Task>> = inventory::tasks().collect();
            if world.rank() == 0 { for task in tasks { task.run(); } }
        }";
    let shown = run(text, 2);
    assert!(shown.contains("opaque"), "{shown}");
}

#[test]
fn what_a_type_derefs_to_has_the_methods() {
    does(
        "struct Guard { universe: mpi::environment::Universe }
         impl std::ops::Deref for Guard {
             type Target = mpi::environment::Universe;
             fn deref(&self) -> &Self::Target { &self.universe }
         }
         trait Backend { fn rank(&self) -> i32; fn give(&self, to: i32); }
         struct Real { world: SimpleCommunicator }
         impl Backend for Real {
             fn rank(&self) -> i32 { self.world.rank() }
             fn give(&self, to: i32) { self.world.process_at_rank(to).send_with_tag(&1u8, 3); }
         }
         struct Single;
         impl Backend for Single { fn rank(&self) -> i32 { 0 } fn give(&self, _: i32) {} }
         struct Resource(Box<dyn Backend>);
         impl std::ops::Deref for Resource {
             type Target = dyn Backend;
             fn deref(&self) -> &(dyn Backend + 'static) { &*self.0 }
         }
         fn main() {
             let guard = Guard { universe: mpi::initialize().unwrap() };
             let resource = Resource(Box::new(Real { world: guard.world() }));
             if resource.rank() == 0 { resource.give(1); }
         }",
        2,
        &["0: send 1 tag 3 1 x u8", "1:"],
    );
}

#[test]
fn associated_functions_of_traits_are_told_by_types() {
    does(
        "trait Pass: Sized { fn pass(to: &Process, value: Option<Self>); }
         impl Pass for i32 {
             fn pass(to: &Process, value: Option<i32>) { to.send_with_tag(&value.unwrap(), 1); }
         }
         impl Pass for f64 {
             fn pass(to: &Process, value: Option<f64>) { to.send_with_tag(&value.unwrap(), 2); }
         }
         fn both<T: Pass>(to: &Process, value: T) { T::pass(to, Some(value)); }
         fn main() {
             let universe = mpi::initialize().unwrap();
             let world = universe.world();
             if world.rank() > 0 { return; }
             let to = world.process_at_rank(1);
             Pass::pass(&to, Some(2.5));
             both(&to, 7i32);
             both(&to, 0.5f64);
         }",
        2,
        &["0: send 1 tag 2 1 x f64; send 1 tag 1 1 x i32; send 1 tag 2 1 x f64", "1:"],
    );
}

#[test]
fn what_a_thread_has_of_its_own_is_known() {
    does(
        "thread_local! {
             static WORLD: std::cell::RefCell<Option<SimpleCommunicator>> = const { std::cell::RefCell::new(None) };
             static RANK: std::cell::Cell<i32> = std::cell::Cell::new(9)
         }
         fn main() {
             let universe = mpi::initialize().unwrap();
             WORLD.with(|world| *world.borrow_mut() = Some(universe.world()));
             RANK.with(|rank| rank.set(universe.world().rank()));
             if RANK.with(|rank| rank.get()) == 1 {
                 WORLD.with(|world| world.borrow().as_ref().unwrap().process_at_rank(0).send(&1u8));
             }
             WORLD.with_borrow(|world| world.as_ref().unwrap().barrier());
         }",
        2,
        &["0: barrier", "1: send 0 tag 0 1 x u8; barrier"],
    );
}

#[test]
fn numbers_stand_for_generic_parameters() {
    does(
        "const SIZE: usize = 4;
         struct Matrix<T, const N: usize> { data: Vec<T> }
         impl<T: Default + Clone, const N: usize> Default for Matrix<T, N> {
             fn default() -> Self { Matrix { data: vec![T::default(); N * N] } }
         }
         impl<T: Equivalence, const N: usize> Matrix<T, N> {
             fn row(&self, i: usize) -> &[T] { &self.data[i * N..(i + 1) * N] }
         }
         struct All { small: Matrix<f32, 2>, large: Matrix<f64, SIZE> }
         fn tagged<const TAG: i32>(to: &Process) { to.send_with_tag(&TAG, TAG); }
         fn main() {
             let universe = mpi::initialize().unwrap();
             let world = universe.world();
             let all = All { small: Matrix::default(), large: Matrix::<f64, { SIZE }>::default() };
             if world.rank() > 0 { return; }
             let to = world.process_at_rank(1);
             to.send(&all.small.data[..]);
             to.send(&all.large.data[..]);
             to.send(all.large.row(1));
             tagged::<7>(&to);
         }",
        2,
        &[
            "0: send 1 tag 0 4 x f32; send 1 tag 0 16 x f64; send 1 tag 0 4 x f64; send 1 tag 7 1 x i32",
            "1:",
        ],
    );
}

#[test]
fn what_is_computed_again_comes_to_the_same() {
    // Rank 2 computes what rank 1 has computed; rank 3 begins with another number.
    let text = "struct Field { cells: Vec<i32> }
         impl Field {
             fn relax(&mut self, by: i32) -> i32 {
                 let old = self.cells.clone();
                 for (index, cell) in self.cells.iter_mut().enumerate().skip(1) { *cell = old[index - 1] + by; }
                 self.cells[31]
             }
         }
         fn main() {
             let universe = mpi::initialize().unwrap();
             let world = universe.world();
             let by = if world.rank() == 3 { 2 } else { 1 };
             let mut field = Field { cells: vec![0; 32] };
             let mut last = 0;
             for _ in 0..3 { last = field.relax(by); }
             if world.rank() > 0 { world.process_at_rank(0).send_with_tag(&field.cells[2], 10 * field.cells[2] + last); }
         }";
    does(
        text,
        4,
        &["0:", "1: send 0 tag 23 1 x i32", "2: send 0 tag 23 1 x i32", "3: send 0 tag 46 1 x i32"],
    );
}

#[test]
fn what_a_computation_asks_of_mpi_is_asked_again() {
    does(
        "fn tag() -> i32 {
             let mut sum = 0;
             for number in 0..60 { for other in 0..8 { sum += (number * other) % 2; } }
             let world = SimpleCommunicator::world();
             100 * world.rank() + sum % 10
         }
         fn main() {
             let universe = mpi::initialize().unwrap();
             let world = universe.world();
             let tags = [tag(), tag()];
             if world.rank() > 0 { world.process_at_rank(0).send_with_tag(&1u8, tags[1]); }
         }",
        3,
        &["0:", "1: send 0 tag 100 1 x u8", "2: send 0 tag 200 1 x u8"],
    );
}
