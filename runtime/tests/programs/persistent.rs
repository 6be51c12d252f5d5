//! Planned sends and receives around a ring, started again and again with the same buffers, and now
//! and then with others.
//!
// run: -n 2, ends
// run: -n 4, ends
// run: P2P_WATCH=5 -n 3, ends
// run: P2P_NODES=2 -n 4, ends

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod ring {
    /// Of any length.
    pub type Block = [u32];
    /// One number.
    pub type Count = u32;

    #[rank(_)]
    fn member(steps: usize) {
        let left = (rank + size - 1) % size;
        let right = (rank + 1) % size;
        let from = recv_init(left, Block);
        let to = send_init(right, Block);
        let count = recv_init(left, Count);
        let counted = send_init(right, Count);
        for _step in 0..steps {
            start(from);
            start(count);
            start(to);
            start(counted);
            wait_all(from, to, count, counted);
        }
    }
}

const STEPS: usize = 300;
/// In numbers: shorter than a header, as long as one, longer, and so long that it is announced.
const LENGTHS: [usize; 5] = [3, 15, 16, 900, 40_000];

fn main() -> p2p::Result<()> {
    p2p::launch(|world| LENGTHS.into_iter().try_for_each(|length| turn(&world, length)))
}

fn turn(world: &p2p::World, length: usize) -> p2p::Result<()> {
    let ring::Role::Member(member) = ring::join(world, ring::Parameters { steps: STEPS })?;
    let (rank, size) = (world.rank() as u32, world.size() as u32);
    let left = (rank + size - 1) % size;
    let (mut out, mut into) = (vec![0; length], vec![0; length]);
    member.run(|s| {
        s.recv_init_block()?.send_init_block()?.recv_init_count()?.send_init_count()?.for_each_step(
            |step, s| {
                if step % 20 > 16 {
                    // Two times the same, and then once more another.
                    (out, into) = (out.clone(), vec![1; length]);
                }
                let number = |rank: u32, at: usize| rank * 1000 + (step + at) as u32;
                (0..).zip(&mut out).for_each(|(at, place)| *place = number(rank, at));
                let (sent, received) = (std::mem::take(&mut out), std::mem::take(&mut into));
                let s = s.start_from(received)?.start_count()?.start_to(sent)?;
                let (received, sent, count, s) = s.start_counted(step as u32)?.wait_all()?;
                (into, out) = (received, sent);
                assert_eq!(count, step as u32);
                assert!((0..).zip(&into).all(|(at, &found)| found == number(left, at)));
                Ok(s)
            },
        )
    })
}

#[test]
fn what_is_planned_arrives_each_time() -> p2p::Result<()> {
    main()
}
