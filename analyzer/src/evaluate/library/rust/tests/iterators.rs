//! Iterators: what they give, and in which order their closures run.

use super::{tells, told};

#[test]
fn adapters() {
    tells(&[
        ("(0..5).map(|x| x * 2).sum::<i32>()", 20),
        ("(0..5).filter(|x| x % 2 == 1).count() as i32", 2),
        ("(1..=4).product::<i32>()", 24),
        ("(0..10).rev().step_by(3).last().unwrap()", 0),
        ("(0..).skip(3).take(2).sum::<i32>()", 7),
        ("[1, 2, 3].iter().zip([4, 5].iter()).map(|(a, b)| a * b).sum::<i32>()", 14),
        ("(0..3).chain(7..9).max().unwrap()", 8),
        ("(0..3).flat_map(|x| 0..x).count() as i32", 3),
        ("vec![vec![1], vec![2, 3]].into_iter().flatten().sum::<i32>()", 6),
        ("(0..10).take_while(|x| *x < 4).count() as i32", 4),
        ("(0..10).skip_while(|x| *x < 4).next().unwrap()", 4),
        ("(0..5).fold(1, |a, x| a + x)", 11),
        ("(1..5).reduce(|a, x| a * x).unwrap()", 24),
        ("[3, 1, 2].iter().enumerate().min_by_key(|(_, x)| **x).unwrap().0 as i32", 1),
        ("(0..5).find(|x| x * x > 5).unwrap()", 3),
        ("if (0..5).any(|x| x == 3) { 1 } else { 0 }", 1),
        ("if (0..5).all(|x| x < 3) { 1 } else { 0 }", 0),
        (
            "std::iter::successors(Some(1), |x| if *x < 50 { Some(x * 3) } else { None }).last().unwrap()",
            81,
        ),
        ("std::iter::repeat(2).take(3).sum::<i32>()", 6),
        ("(0..5).scan(0, |s, x| { *s += x; Some(*s) }).last().unwrap()", 10),
        ("(0..6).collect::<Vec<i32>>().chunks(4).map(|c| c.len() as i32).last().unwrap()", 2),
        ("[1, 2, 3].iter().rev().enumerate().map(|(i, x)| i as i32 * x).sum::<i32>()", 4),
        ("[5, 6].iter().cycle().nth(3).copied().unwrap()", 6),
        ("(0..4).partition::<Vec<i32>, _>(|x| x % 2 == 0).0.len() as i32", 2),
        ("vec![(1, 2), (3, 4)].into_iter().unzip::<i32, i32, Vec<i32>, Vec<i32>>().1[1]", 4),
        ("vec![Ok(1), Err(5)].into_iter().collect::<Result<Vec<i32>, i32>>().unwrap_err()", 5),
        ("vec![Some(1), Some(2)].into_iter().collect::<Option<Vec<i32>>>().unwrap()[1]", 2),
        ("if (1..size).contains(&1) { 1 } else { 0 }", 1),
        ("(0..10).len() as i32", 10),
        ("(0..100).rev().map(|x| x * 2).nth(1).unwrap()", 196),
    ]);
}

#[test]
fn closures_run_when_their_element_is_asked_for() {
    assert_eq!(told("for x in (0..2).map(|x| { tell(x); x + 10 }) { tell(x); }"), [0, 10, 1, 11]);
    assert_eq!(
        told("(0..3).inspect(|x| tell(*x)).take(2).for_each(|x| tell(x + 10));"),
        [0, 10, 1, 11]
    );
}

#[test]
fn an_iterator_goes_on_where_it_stopped() {
    assert_eq!(
        told(
            "let mut it = (1..6).peekable();
             tell(it.next().unwrap()); tell(*it.peek().unwrap());
             while let Some(x) = it.next() { if x == 3 { break; } }
             for x in it.by_ref().take(1) { tell(x); }
             tell(it.next().unwrap()); tell(it.next().is_none() as i32);"
        ),
        [1, 2, 4, 5, 1]
    );
}

#[test]
fn iterators_of_the_program() {
    let text = "
        struct Down(i32);
        impl Iterator for Down { type Item = i32;
            fn next(&mut self) -> Option<i32> {
                if self.0 == 0 { return None; } self.0 -= 1; Some(self.0) } }
        for x in Down(3) { tell(x); }
        tell(Down(4).map(|x| x * 2).sum::<i32>());";
    assert_eq!(told(text), [2, 1, 0, 12]);
}

#[test]
fn ranks_become_processes() {
    crate::evaluate::tests::does(
        "if rank == 0 {
             let peers: Vec<_> = (1..size).map(|r| world.process_at_rank(r)).collect();
             peers.iter().for_each(|p| p.send(&1_i32));
             let got: Vec<i32> = peers.iter().map(|p| p.receive::<i32>().0).collect();
         }",
        3,
        &[
            "0: send 1 tag 0 1 x i32; send 2 tag 0 1 x i32; receive 1 tag any 1 x i32; \
             receive 2 tag any 1 x i32",
            "1:",
            "2:",
        ],
    );
}

/// One of the inner sequences has a length that nobody knows, and those after it are empty.
#[test]
fn flattened_sequences_of_unknown_length_end() {
    let text = "let n = std::env::args().len();
        let mut v: Vec<Vec<i32>> = vec![vec![]; 4]; v[1] = vec![1; n];
        let mut all: Vec<i32> = vec![]; all.extend(v.iter().flatten());
        all.extend(v.into_iter().flat_map(|x| x.into_iter()));
        tell(5);";
    assert_eq!(told(text), [5]);
}
