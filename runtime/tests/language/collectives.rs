//! Operations of all ranks together, where a role's side is known and where it is not.

use p2p::{Max, Min, Product, Sum, p2p_protocol};

#[p2p_protocol(ranks = 2..)]
mod sided {
    pub type Size = u32;
    pub type Row = [u32];
    pub type Pair = [u32; 2];

    #[rank(0)]
    fn root() {
        barrier();
        bcast(0, Size);
        bcast(0, Row);
        bcast(0, Pair);
        scatter(0, Size);
        scatter(0, Row);
        scatter(0, Pair);
        gather(0, Size);
        gather(0, Row);
        gather(0, Pair);
        reduce(0, Size);
        reduce(0, Row);
        reduce(0, Pair);
    }

    #[rank(1..)]
    fn other() {
        barrier();
        bcast(0, Size);
        bcast(0, Row);
        bcast(0, Pair);
        scatter(0, Size);
        scatter(0, Row);
        scatter(0, Pair);
        gather(0, Size);
        gather(0, Row);
        gather(0, Pair);
        reduce(0, Size);
        reduce(0, Row);
        reduce(0, Pair);
    }
}

#[test]
fn each_side_has_what_it_needs() {
    p2p::threads(3, |world| match sided::join(&world)? {
        sided::Role::Root(root) => root.run(|s| {
            let mut row = vec![4, 5, 6];
            let s = s.barrier()?.bcast_size(7)?.bcast_row(&mut row)?.bcast_pair(&mut [8, 9])?;
            let (mine, s) = s.scatter_size(&[0, 10, 20])?;
            assert_eq!(mine, 0);
            let mut part = Vec::new();
            let s = s.scatter_row(&[0, 0, 1, 1, 2, 2], &mut part)?;
            assert_eq!(part, [0, 0]);
            let mut pair = [9, 9];
            let s = s.scatter_pair(&[0, 1, 2, 3, 4, 5], &mut pair)?;
            assert_eq!(pair, [0, 1]);
            let (sizes, s) = s.gather_size(100)?;
            assert_eq!(sizes, [100, 1, 2]);
            let (rows, s) = s.gather_row(&[0])?;
            assert_eq!(rows, [0, 10, 20]);
            let (pairs, s) = s.gather_pair(&[0, 0])?;
            assert_eq!(pairs, [0, 0, 1, 1, 2, 2]);
            let (sum, s) = s.reduce_size(5, Sum)?;
            assert_eq!(sum, 5 + 1 + 2);
            let mut row = vec![1, 2];
            let s = s.reduce_row(&mut row, Max)?;
            assert_eq!(row, [2, 2]);
            let mut pair = [1, 5];
            let s = s.reduce_pair(&mut pair, |low, high| 10 * low + high)?;
            assert_eq!(pair, [112, 512]);
            Ok(s)
        }),
        sided::Role::Other(other) => {
            let rank = other.rank() as u32;
            other.run(|s| {
                let (size, s) = s.barrier()?.bcast_size()?;
                assert_eq!(size, 7);
                let (mut row, mut pair) = (Vec::new(), [0; 2]);
                let s = s.bcast_row(&mut row)?.bcast_pair(&mut pair)?;
                assert_eq!((row, pair), (vec![4, 5, 6], [8, 9]));
                let (mine, s) = s.scatter_size()?;
                assert_eq!(mine, 10 * rank);
                let mut part = vec![9; 2];
                let s = s.scatter_row(&mut part[..])?.scatter_pair(&mut pair)?;
                assert_eq!((part, pair), (vec![rank; 2], [2 * rank, 2 * rank + 1]));
                let s = s.gather_size(rank)?.gather_row(&[10 * rank])?.gather_pair(&[rank; 2])?;
                let s = s.reduce_size(rank, Sum)?.reduce_row(&mut [rank, rank], Max)?;
                s.reduce_pair(&mut [rank, rank], |low, high| 10 * low + high)
            })
        }
    })
    .unwrap();
}

#[p2p_protocol(ranks = 2..)]
mod alike {
    pub type Size = u32;
    pub type Row = [u32];
    pub type Pair = [u32; 2];

    #[rank(_)]
    fn member(root: usize) {
        bcast(root % size, Size);
        bcast(root % size, Row);
        scatter(root % size, Size);
        scatter(root % size, Row);
        gather(root % size, Size);
        reduce(root % size, Size);
        all_gather(Size);
        all_gather(Row);
        all_gather(Pair);
        all_reduce(Size);
        all_reduce(Row);
        all_reduce(Pair);
        all_to_all(Size);
        all_to_all(Row);
        all_to_all(Pair);
    }
}

#[test]
fn one_role_plays_both_sides() {
    for root in [0, 2] {
        p2p::threads(3, |world| {
            let rank = world.rank() as u32;
            let is_root = world.rank() == root;
            let alike::Role::Member(member) = alike::join(&world, alike::Parameters { root })?;
            member.run(|s| {
                let mut size = if is_root { 5 } else { 0 };
                let mut row = if is_root { vec![1, 2] } else { Vec::new() };
                let s = s.bcast_size(&mut size)?.bcast_row(&mut row)?;
                assert_eq!((size, row), (5, vec![1, 2]));
                let parts: &[u32] = if is_root { &[0, 1, 2] } else { &[] };
                let (mine, s) = s.scatter_size(parts)?;
                assert_eq!(mine, rank);
                let mut part = [0];
                let s = s.scatter_row(parts, &mut part)?;
                assert_eq!(part, [rank]);
                let (all, s) = s.gather_size(rank * rank)?;
                assert_eq!(all, if is_root { vec![0, 1, 4] } else { Vec::new() });
                let (product, s) = s.reduce_size(rank + 1, Product)?;
                assert_eq!(product, is_root.then_some(6));
                let (all, s) = s.all_gather_size(rank)?;
                assert_eq!(all, [0, 1, 2]);
                let (all, s) = s.all_gather_row(&[rank, 7])?;
                assert_eq!(all, [0, 7, 1, 7, 2, 7]);
                let (all, s) = s.all_gather_pair(&[7, rank])?;
                assert_eq!(all, [7, 0, 7, 1, 7, 2]);
                let (least, s) = s.all_reduce_size(rank + 3, Min)?;
                assert_eq!(least, 3);
                let mut row = vec![rank, 1];
                let s = s.all_reduce_row(&mut row, Sum)?;
                assert_eq!(row, [3, 3]);
                let mut pair = [rank, 9 - rank];
                let s = s.all_reduce_pair(&mut pair, Max)?;
                assert_eq!(pair, [2, 9]);
                let (all, s) = s.all_to_all_size(&[10 * rank, 10 * rank + 1, 10 * rank + 2])?;
                assert_eq!(all, [rank, 10 + rank, 20 + rank]);
                let (all, s) = s.all_to_all_row(&[rank; 6])?;
                assert_eq!(all, [0, 0, 1, 1, 2, 2]);
                let (all, s) = s.all_to_all_pair(&[rank; 6])?;
                assert_eq!(all, [0, 0, 1, 1, 2, 2]);
                Ok(s)
            })
        })
        .unwrap();
    }
}
