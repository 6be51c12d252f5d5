//! One-sided operations.

use p2p::session::Error;

use super::*;

static PUT: Operation = operation("put", "Block", 0, 40);
static GET: Operation = operation("get", "Other", 1, 41);
static FENCE: Operation = operation("fence", "", 0, 42);

#[test]
fn what_was_put_is_there_after_the_fence_and_not_before() {
    for size in 1..=6 {
        run(size, |session| {
            session.open_window::<u32>(&PUT);
            let (rank, size) = (session.rank(), session.size());
            for round in 0..20u32 {
                let before = session.window::<u32>(&PUT).clone();
                for peer in 0..size {
                    let value = (rank as u32) * 100 + round;
                    session.put(&PUT, peer as i64, rank * 2, &[value, value + 50])?;
                }
                assert_eq!(*session.window::<u32>(&PUT), before);
                session.fence(&FENCE)?;
                let expected: Vec<u32> = (0..size as u32)
                    .flat_map(|rank| [rank * 100 + round, rank * 100 + round + 50])
                    .collect();
                assert_eq!(*session.window::<u32>(&PUT), expected);
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn a_get_brings_what_the_owner_had_at_the_fence() {
    run(4, |session| {
        session.open_window::<u64>(&GET);
        let rank = session.rank() as u64;
        for round in 0..20 {
            *session.window::<u64>(&GET) = vec![rank * 1000 + round; 3];
            for peer in 0..4 {
                session.get::<u64>(&GET, peer, 1, 2)?;
            }
            assert_eq!(session.fetched::<u64>(&GET), None);
            session.fence(&FENCE)?;
            for peer in 0..4 {
                let data = session.fetched::<u64>(&GET).expect("a fence has completed it");
                assert_eq!(data, [peer * 1000 + round; 2]);
            }
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_put_of_the_whole_window_moves() {
    let addresses = run(2, |session| {
        session.open_window::<u8>(&PUT);
        let mut address = 0;
        if session.rank() == 0 {
            let data = vec![1u8; 1000];
            address = data.as_ptr().addr();
            session.put(&PUT, 1, 0, data)?;
        }
        session.fence(&FENCE)?;
        if session.rank() == 1 {
            address = session.window::<u8>(&PUT).as_ptr().addr();
        }
        Ok(address)
    })
    .unwrap();
    assert_eq!(addresses[0], addresses[1]);
}

#[test]
fn a_get_beyond_the_window_is_an_error() {
    let error = run(2, |session| {
        session.open_window::<u8>(&GET);
        if session.rank() == 0 {
            session.get::<u8>(&GET, 1, 0, 3)?;
        }
        session.fence(&FENCE)
    })
    .unwrap_err();
    let Error::Length { found: 0, rank: 0, .. } = error else { panic!("{error}") };
}
