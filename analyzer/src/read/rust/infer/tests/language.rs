//! The language itself.
use super::check;

#[test]
fn later_uses_decide() {
    check(
        "use mpi::traits::*;
        fn main() {
            let universe = mpi::initialize().unwrap();
            let world = universe.world();
            let p = world.process_at_rank(0);
            let mut y = Default::default();
            p.receive_into(&mut y);
            let (msg, status) = p.receive();
            let total: f32 = y + 1.0;
            let x: f32 = 0.0;
            assert_eq!(x, msg);
            y = x;
        }",
        &["p: Process", "y: f32", "msg: f32", "status: Status", "total: f32", "world: SimpleCommunicator"],
    );
}
