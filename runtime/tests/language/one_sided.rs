//! Windows: what others put into them and get from them between fences.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
mod windows {
    pub type Row = [u32];
    pub type Count = u64;
    pub type Pair = [u8; 2];

    #[rank(_)]
    fn member() {
        fence();
        put((rank + 1) % size, Row);
        put((rank + 1) % size, Count);
        put((rank + 1) % size, Pair);
        fence();
        get((rank + size - 1) % size, Row);
        get((rank + size - 1) % size, Count);
        get((rank + size - 1) % size, Pair);
        fence();
    }
}

#[test]
fn what_was_put_and_got_is_there_after_the_fence() {
    p2p::threads(3, |world| {
        let rank = world.rank() as u32;
        let (left, before) = ((rank + 2) % 3, (rank + 1) % 3);
        let windows::Role::Member(member) = windows::join(&world)?;
        member.run(|mut s| {
            *s.window_row() = vec![9; 4];
            let s = s.fence()?.put_row(1, &[rank, 10 * rank])?;
            let s = s.put_count(u64::from(rank))?.put_pair(&[rank as u8, 1])?;
            let mut s = s.fence()?;
            assert_eq!(*s.window_row(), [9, left, 10 * left, 9]);
            assert_eq!(*s.window_count(), [u64::from(left)]);
            let s = s.get_row(1, 2)?.get_count()?.get_pair()?;
            let mut s = s.fence()?;
            assert_eq!(s.fetched_row(), Some(vec![before, 10 * before]));
            assert_eq!(s.fetched_count(), Some(vec![u64::from(before)]));
            assert_eq!(s.fetched_pair(), Some(vec![before as u8, 1]));
            assert_eq!(s.fetched_row(), None);
            Ok(s)
        })
    })
    .unwrap();
}
