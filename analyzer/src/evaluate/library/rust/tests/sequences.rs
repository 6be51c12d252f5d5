//! Arrays, slices, vectors, and which part of which memory is sent.

use super::{tells, told};
use crate::evaluate::tests::does;

#[test]
fn lengths_and_elements() {
    tells(&[
        ("vec![1, 2, 3].len() as i32", 3),
        ("Vec::<i32>::with_capacity(10).len() as i32", 0),
        ("[1, 2, 3].iter().max().copied().unwrap()", 3),
        ("*vec![1, 2, 3].last().unwrap()", 3),
        ("vec![1, 2, 3].get(7).copied().unwrap_or(5)", 5),
        ("if [1, 2].contains(&2) { 1 } else { 0 }", 1),
        ("[1, 2, 3, 4].windows(2).count() as i32", 3),
        ("[1, 2, 3, 4, 5].chunks(2).last().unwrap()[0]", 5),
        ("[3, 1, 2].iter().position(|x| *x == 2).unwrap() as i32", 2),
        ("vec![vec![1, 2], vec![3]].concat().len() as i32", 3),
        ("vec![1, 2, 3][1..].to_vec().iter().sum::<i32>()", 5),
        ("vec![1, 2].repeat(3).len() as i32", 6),
        ("vec![1, 2, 3].split_first().map(|(a, b)| a + b[1]).unwrap()", 4),
    ]);
}

#[test]
fn changes() {
    assert_eq!(
        told(
            "let mut v = vec![3, 1, 2];
             v.push(9); tell(v.len() as i32);
             v.sort(); tell(v[0]);
             v.swap(0, 3); tell(v[0]);
             tell(v.pop().unwrap());
             v.insert(1, 7); tell(v[1]);
             tell(v.remove(0));
             v.extend(vec![4, 5]); tell(v[v.len() - 1]);
             v.retain(|x| *x < 5); tell(v.len() as i32);
             v.truncate(1); tell(v.len() as i32);
             v.resize(3, 6); tell(v[2]);
             v.fill(8); tell(v[1]);
             v.reverse(); v.clear(); tell(v.is_empty() as i32);"
        ),
        [4, 1, 9, 1, 7, 9, 5, 3, 1, 6, 8, 1]
    );
}

#[test]
fn queues() {
    assert_eq!(
        told(
            "let mut q = std::collections::VecDeque::new();
             q.push_back(1); q.push_back(2); q.push_front(0);
             while let Some(x) = q.pop_front() { tell(x); }"
        ),
        [0, 1, 2]
    );
}

#[test]
fn rows_and_elements_change_where_they_are() {
    assert_eq!(
        told(
            "let mut rows = vec![vec![0; 2]; 3];
             for (i, row) in rows.iter_mut().enumerate() { row[1] = i as i32; }
             tell(rows[2][1]); tell(rows[2][0]);
             let (a, b) = rows.split_at_mut(1);
             a[0][0] = 5; b[1][0] = 6;
             tell(rows[0][0]); tell(rows[2][0]);
             let mut v = [1, 2, 3, 4];
             for c in v.chunks_mut(2) { c[0] *= 10; }
             tell(v[0]); tell(v[2]);
             std::mem::swap(&mut v[0], &mut rows[0][0]);
             tell(v[0]);
             let old = std::mem::replace(&mut v[1], 9); tell(old); tell(v[1]);
             v[..2].copy_from_slice(&[7, 8]); tell(v[1]); tell(v[2]);"
        ),
        [2, 0, 5, 6, 10, 30, 5, 2, 9, 8, 30]
    );
}

#[test]
fn parts_are_sent_with_their_lengths() {
    does(
        "let mut v = vec![0.5_f64; 10];
         if rank == 0 {
             let to = world.process_at_rank(1);
             to.send(&v[2..5]);
             let (a, b) = v.split_at(4);
             to.send(b);
             for c in v.chunks(6) { to.send(c); }
             to.send(v.as_slice());
             to.send(&v.iter().map(|x| *x as f32).collect::<Vec<f32>>()[..]);
         }",
        2,
        &[
            "0: send 1 tag 0 3 x f64; send 1 tag 0 6 x f64; send 1 tag 0 6 x f64; \
             send 1 tag 0 4 x f64; send 1 tag 0 10 x f64; send 1 tag 0 10 x f32",
            "1:",
        ],
    );
}
