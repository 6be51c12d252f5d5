//! One rank hands out jobs to whoever is ready, the others work until there are none.
//!
//! The work is to find out how many steps it takes from each number to 1, if an even number is
//! halved and an odd one tripled and increased (Collatz). Some take much longer than others, so
//! handing the next job to the first who asks keeps everybody busy.

#![expect(clippy::print_stdout, reason = "an example shows what it has found")]

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
pub mod farm {
    /// Says that a worker is ready; with the result of its last job, if it had one.
    #[message]
    #[derive(Debug)]
    pub struct Ready {
        /// The number that was looked at, 0 at first.
        pub number: u64,
        /// How many steps it takes to 1.
        pub steps: u64,
    }

    /// A number to look at.
    pub type Job = u64;

    #[rank(0)]
    fn farmer(jobs: usize) {
        for _job in 0..jobs {
            let worker = recv(any(1..size), Ready);
            match choose(worker) {
                Work => send(worker, Job),
            }
        }
        for _worker in 1..size {
            let worker = recv(any(1..size), Ready);
            match choose(worker) {
                Rest => {}
            }
        }
    }

    #[rank(1..)]
    fn worker() {
        loop {
            send(0, Ready);
            match offer(0) {
                Work => recv(0, Job),
                Rest => break,
            }
        }
    }
}

/// The last number to look at.
const LAST: u64 = 3000;

fn main() -> p2p::Result<()> {
    p2p::launch(|world| {
        let jobs = usize::try_from(LAST).expect("it is small");
        match farm::join(&world, farm::Parameters { jobs })? {
            farm::Role::Farmer(farmer) => {
                let (number, steps) = hand_out(farmer)?;
                assert_eq!((number, steps), (2919, 216));
                println!("of the numbers up to {LAST}, {number} needs most steps: {steps}");
                Ok(())
            }
            farm::Role::Worker(worker) => work(worker),
        }
    })
}

/// Hands out all numbers; gives back the one that needs most steps, and how many.
fn hand_out(farmer: farm::Farmer<'_>) -> p2p::Result<(u64, u64)> {
    let mut most = (0, 0);
    let mut keep = |result: farm::Ready| {
        if result.steps > most.1 {
            most = (result.number, result.steps);
        }
    };
    farmer.run(|s| {
        let s = s.for_each_job(|job, s| {
            let (_, result, s) = s.recv_ready()?;
            keep(result);
            s.choose_work()?.send_job(job as u64 + 1)
        })?;
        s.for_each_worker(|_, s| {
            let (_, result, s) = s.recv_ready()?;
            keep(result);
            s.choose_rest()
        })
    })?;
    Ok(most)
}

/// Asks for numbers until there are none.
fn work(worker: farm::Worker<'_>) -> p2p::Result<()> {
    let mut result = farm::Ready { number: 0, steps: 0 };
    worker.run(|mut s| {
        loop {
            match s.send_ready(result)?.offer()? {
                farm::WorkerOffered::Work(work) => {
                    let (number, next) = work.recv_job()?;
                    result = farm::Ready { number, steps: steps_to_one(number) };
                    s = next;
                }
                farm::WorkerOffered::Rest(done) => break Ok(done),
            }
        }
    })
}

fn steps_to_one(number: u64) -> u64 {
    let next = |&n: &u64| (n != 1).then(|| if n % 2 == 0 { n / 2 } else { 3 * n + 1 });
    std::iter::successors(Some(number), next).count() as u64 - 1
}

#[test]
fn the_longest_way_is_found() -> p2p::Result<()> {
    main()
}
