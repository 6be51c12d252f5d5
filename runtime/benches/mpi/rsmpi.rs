//! Raw rsmpi, as its own examples use it.

use mpi::collective::SystemOperation;
use mpi::request::{WaitGuard, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use p2p::Result;

use super::beyond::Beyond;
use super::contender::{Contender, Together, WINDOW};

const LEFT: i32 = 2;
const RIGHT: i32 = 3;

pub(crate) struct Rsmpi {
    world: SimpleCommunicator,
    window: Vec<u64>,
    /// What a halo sends and receives, on each side.
    rims: [Vec<u64>; 4],
    /// What rsmpi has no names for.
    beyond: Beyond,
}

impl Rsmpi {
    /// MPI runs already.
    pub(crate) fn new(rank: usize, words: usize) -> Self {
        let world = SimpleCommunicator::world().duplicate();
        let beyond = Beyond::new(&world, rank ^ 1, words);
        Rsmpi { world, window: vec![rank as u64; WINDOW], rims: Default::default(), beyond }
    }
}

/// Waits until all ranks have come.
pub(crate) fn barrier() {
    SimpleCommunicator::world().barrier();
}

impl Contender for Rsmpi {
    fn send(&mut self, peer: usize, data: &[u64]) -> Result<()> {
        self.world.process_at_rank(peer as i32).send(data);
        Ok(())
    }

    fn receive(&mut self, peer: usize, data: &mut [u64]) -> Result<()> {
        self.world.process_at_rank(peer as i32).receive_into(data);
        Ok(())
    }

    fn receive_fresh(&mut self, peer: usize) -> Result<Vec<u64>> {
        Ok(self.world.process_at_rank(peer as i32).receive_vec().0)
    }

    fn exchange(&mut self, peer: usize, data: &[u64], room: &mut [u64]) -> Result<()> {
        let peer = self.world.process_at_rank(peer as i32);
        mpi::point_to_point::send_receive_into(data, &peer, room, &peer);
        Ok(())
    }

    fn send_window(&mut self, peer: usize) -> Result<()> {
        let (peer, window) = (self.world.process_at_rank(peer as i32), &self.window);
        mpi::request::multiple_scope(WINDOW, |scope, requests| {
            for word in window {
                requests.add(peer.immediate_send(scope, word));
            }
            requests.wait_all(&mut Vec::with_capacity(WINDOW));
        });
        Ok(())
    }

    fn receive_window(&mut self, peer: usize) -> Result<()> {
        let (peer, window) = (self.world.process_at_rank(peer as i32), &mut self.window);
        mpi::request::multiple_scope(WINDOW, |scope, requests| {
            for word in window {
                requests.add(peer.immediate_receive_into(scope, word));
            }
            requests.wait_all(&mut Vec::with_capacity(WINDOW));
        });
        Ok(())
    }

    fn halo(&mut self, [left, right]: [usize; 2], words: usize, work: impl FnOnce()) -> Result<()> {
        self.rims.iter_mut().for_each(|rim| rim.resize(words, 1));
        let [above, below, up, down] = &mut self.rims;
        let left = self.world.process_at_rank(left as i32);
        let right = self.world.process_at_rank(right as i32);
        scope(|scope| {
            let _above =
                WaitGuard::from(left.immediate_receive_into_with_tag(scope, &mut above[..], LEFT));
            let _below = WaitGuard::from(right.immediate_receive_into_with_tag(
                scope,
                &mut below[..],
                RIGHT,
            ));
            let _up = WaitGuard::from(left.immediate_send_with_tag(scope, &up[..], RIGHT));
            let _down = WaitGuard::from(right.immediate_send_with_tag(scope, &down[..], LEFT));
            work();
        });
        Ok(())
    }

    fn planned(&mut self, _: usize, _: usize) -> Result<()> {
        self.beyond.planned();
        Ok(())
    }

    fn put(&mut self, peer: usize, data: &[u64]) -> Result<()> {
        self.beyond.put(peer, data);
        Ok(())
    }

    fn together(&mut self, what: Together, out: &[u64], into: &mut [u64]) -> Result<()> {
        match what {
            Together::Barrier => self.world.barrier(),
            Together::Bcast => self.world.process_at_rank(0).broadcast_into(into),
            Together::AllReduce => {
                let own = into.to_vec();
                self.world.all_reduce_into(&own[..], into, SystemOperation::sum());
            }
            Together::AllGather => self.world.all_gather_into(out, into),
            Together::AllToAll => self.world.all_to_all_into(out, into),
        }
        Ok(())
    }
}
