//! Collective operations on every number of ranks up to nine, with every root.

use std::sync::atomic::{AtomicUsize, Ordering};

use p2p::session::{Error, Fresh, Max, Product, Sum};

use super::*;

static BCAST: Operation = operation("bcast", "Block", 0, 30);
static SCATTER: Operation = operation("scatter", "Block", 0, 31);
static GATHER: Operation = operation("gather", "Block", 0, 32);
static ALL_GATHER: Operation = operation("all_gather", "Block", 0, 33);
static REDUCE: Operation = operation("reduce", "Block", 0, 34);
static ALL_REDUCE: Operation = operation("all_reduce", "Block", 0, 35);
static ALL_TO_ALL: Operation = operation("all_to_all", "Block", 0, 36);

/// Runs `steps` for all sizes, lengths of a part, and bufferings.
fn everywhere(steps: impl Fn(&mut Session<'_>, usize) -> Result<()> + Sync) {
    for size in 1..=9 {
        for buffering in ALL_BUFFERINGS {
            for length in [1, 3, 2000] {
                run_buffering(size, buffering, |session| steps(session, length)).unwrap();
            }
        }
    }
}

/// What rank `rank` contributes at `index`.
fn value(rank: usize, index: usize) -> u64 {
    (rank * 10_000 + index) as u64
}

fn part(rank: usize, length: usize) -> Vec<u64> {
    (0..length).map(|index| value(rank, index)).collect()
}

fn parts(size: usize, length: usize) -> Vec<u64> {
    (0..size).flat_map(|rank| part(rank, length)).collect()
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    for size in 1..=9 {
        let come = AtomicUsize::new(0);
        run(size, |session| {
            for round in 1..=20 {
                come.fetch_add(1, Ordering::Relaxed);
                session.barrier(&BARRIER)?;
                assert!(come.load(Ordering::Relaxed) >= round * size);
                session.barrier(&BARRIER)?;
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn bcast_gives_all_what_the_root_has() {
    everywhere(|session, length| {
        for root in 0..session.size() {
            let mut data = if session.rank() == root { part(root, length) } else { vec![] };
            session.bcast(&BCAST, root as i64, &mut data)?;
            assert_eq!(data, part(root, length));
            data.fill(session.rank() as u64);
            session.bcast(&BCAST, root as i64, &mut data[..])?;
            assert_eq!(data, vec![root as u64; length]);
        }
        Ok(())
    });
}

#[test]
fn scatter_and_gather_are_each_other_backwards() {
    everywhere(|session, length| {
        for root in 0..session.size() {
            let at_root = session.rank() == root;
            let all = if at_root { parts(session.size(), length) } else { vec![] };
            let mine: Vec<u64> = session.scatter(&SCATTER, root as i64, &all, Fresh::new())?;
            assert_eq!(mine, part(session.rank(), length));
            assert_eq!(session.gather(&GATHER, root as i64, &mine)?, all);
        }
        Ok(())
    });
}

#[test]
fn all_gather_and_all_to_all_give_every_part() {
    everywhere(|session, length| {
        let (rank, size) = (session.rank(), session.size());
        let all = session.all_gather(&ALL_GATHER, &part(rank, length))?;
        assert_eq!(all, parts(size, length));
        // The part for rank r holds r in addition to what this rank contributes.
        let out: Vec<u64> = (0..size)
            .flat_map(|to| part(rank, length).into_iter().map(move |value| value * 10 + to as u64))
            .collect();
        let into = session.all_to_all(&ALL_TO_ALL, &out)?;
        let expected: Vec<u64> =
            parts(size, length).into_iter().map(|value| value * 10 + rank as u64).collect();
        assert_eq!(into, expected);
        Ok(())
    });
}

#[test]
fn reductions_combine_in_the_order_of_ranks() {
    everywhere(|session, length| {
        let (rank, size) = (session.rank(), session.size());
        for root in 0..size {
            let mut data = part(rank, length);
            session.reduce(&REDUCE, root as i64, &mut data, Sum)?;
            if rank == root {
                let sum = |index| (0..size).map(|rank| value(rank, index)).sum::<u64>();
                assert_eq!(data, (0..length).map(sum).collect::<Vec<_>>());
            } else {
                assert_eq!(data, part(rank, length));
            }
        }
        let mut data = [rank as f64, -(rank as f64)];
        session.all_reduce(&ALL_REDUCE, &mut data, Max)?;
        assert_eq!(data, [(size - 1) as f64, 0.0]);
        let mut data = [3u8];
        session.all_reduce(&ALL_REDUCE, &mut data, Product)?;
        assert_eq!(data, [(0..size).fold(1u8, |product, _| product.wrapping_mul(3))]);
        // Not commutative: each value is one digit more.
        let mut data = [rank as u64 + 1];
        let append = |low: u64, high: u64| low * 10u64.pow(high.ilog10() + 1) + high;
        session.all_reduce(&ALL_REDUCE, &mut data, append)?;
        let digits: String = (1..=size).map(|digit| digit.to_string()).collect();
        assert_eq!(data[0].to_string(), digits);
        Ok(())
    });
}

#[test]
fn many_ranks_meet() {
    run(200, |session| {
        session.barrier(&BARRIER)?;
        let all = session.all_gather(&ALL_GATHER, &[session.rank() as u64])?;
        assert_eq!(all, (0..200).collect::<Vec<u64>>());
        Ok(())
    })
    .unwrap();
}

#[test]
fn parts_of_different_lengths_are_an_error() {
    let error = run(3, |session| {
        let part = vec![0u32; 1 + session.rank() % 2];
        session.gather(&GATHER, 0, &part).map(drop)
    })
    .unwrap_err();
    assert!(matches!(error, Error::Truncated { .. } | Error::Length { .. }), "{error}");
    let error = run(3, |session| {
        let parts = if session.rank() == 1 { vec![0u32; 4] } else { vec![] };
        session.scatter(&SCATTER, 1, &parts, Fresh::new()).map(drop)
    })
    .unwrap_err();
    let Error::Length { found: 4, rank: 1, .. } = error else { panic!("{error}") };
}
