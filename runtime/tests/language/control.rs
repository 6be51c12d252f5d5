//! Loops and branches: every number of turns, every way out.

use std::cell::Cell;

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
mod ranges {
    pub type Number = u32;

    const THREE: usize = 3;

    #[rank(0)]
    fn counter(end: usize) {
        for up in 0..end {
            send(1, Number);
        }
        for down in (0..end).rev() {
            send(1, Number);
        }
        for all in 1..=end {
            send(1, Number);
        }
        for odd in (0..end).step_by(THREE) {
            send(1, Number);
        }
        for back in (0..end).step_by(THREE).rev() {
            send(1, Number);
        }
        for last in (0..end).rev().step_by(THREE) {
            send(1, Number);
        }
        for below in 0 - 2..end.min(2) {
            send(1, Number);
        }
        for _ in 0..0 {
            send(1, Number);
        }
    }

    #[rank(1)]
    fn listener(end: usize) {
        for _number in 0..2 * end {
            recv(0, Number);
        }
        for _number in 0..end {
            recv(0, Number);
        }
        for _number in 0..3 * ((end + 2) / 3) {
            recv(0, Number);
        }
        for _number in 0..2 + end.min(2) {
            recv(0, Number);
        }
    }
}

#[test]
fn loops_run_over_what_rust_would() {
    for end in [0, 1, 2, 5, 7] {
        p2p::threads(2, |world| match ranges::join(&world, ranges::Parameters { end })? {
            ranges::Role::Counter(counter) => counter.run(|s| {
                let s = s.for_each_up(|i, s| s.send_number(i as u32))?;
                let s = s.for_each_down(|i, s| s.send_number(i as u32))?;
                let s = s.for_each_all(|i, s| s.send_number(i as u32))?;
                let s = s.for_each_odd(|i, s| s.send_number(i as u32))?;
                let s = s.for_each_back(|i, s| s.send_number(i as u32))?;
                let s = s.for_each_last(|i, s| s.send_number(i as u32))?;
                let s = s.for_each_below(|i: i64, s| s.send_number((i + 2) as u32))?;
                s.for_each(|_, _| unreachable!("there are no turns"))
            }),
            ranges::Role::Listener(listener) => {
                let mut heard = Vec::new();
                listener.run(|s| {
                    let s = s.for_each_number(|_, s| {
                        let (number, s) = s.recv_number()?;
                        heard.push(number as usize);
                        Ok(s)
                    })?;
                    let s = s.for_each_number(|_, s| {
                        let (number, s) = s.recv_number()?;
                        heard.push(number as usize);
                        Ok(s)
                    })?;
                    let s = s.for_each_number(|_, s| {
                        let (number, s) = s.recv_number()?;
                        heard.push(number as usize);
                        Ok(s)
                    })?;
                    s.for_each_number(|_, s| {
                        let (number, s) = s.recv_number()?;
                        heard.push(number as usize);
                        Ok(s)
                    })
                })?;
                let mut expected: Vec<usize> = (0..end).collect();
                expected.extend((0..end).rev());
                expected.extend(1..=end);
                expected.extend((0..end).step_by(3));
                expected.extend((0..end).step_by(3).rev());
                expected.extend((0..end).rev().step_by(3));
                expected.extend(0..2 + end.min(2));
                assert_eq!(heard, expected);
                Ok(())
            }
        })
        .unwrap();
    }
}

#[p2p_protocol(ranks = 2)]
mod ways_out {
    pub type Number = u32;

    #[rank(0)]
    fn sender(limit: usize) {
        'rows: for row in 0..4 {
            for column in 0..4 {
                if column > row {
                    continue 'rows;
                }
                if row * column == limit {
                    break 'rows;
                }
                if (row + column) % 2 == 1 {
                    continue;
                }
                send(1, Number);
            }
        }
        let mut_free = isend(1, Number);
        wait(mut_free);
    }

    #[rank(1)]
    fn receiver(limit: usize) {
        'rows: for row in 0..4 {
            for column in 0..4 {
                if column > row {
                    continue 'rows;
                }
                if row * column == limit {
                    break 'rows;
                }
                if (row + column) % 2 == 1 {
                    continue;
                }
                recv(0, Number);
            }
        }
        recv(0, Number);
    }
}

#[test]
fn labelled_jumps_lead_where_rust_would() {
    use ways_out::{
        ReceiverBranch, ReceiverBranch2, ReceiverBranch3, ReceiverEachColumn, ReceiverEachRow,
        SenderBranch, SenderBranch2, SenderBranch3, SenderEachColumn, SenderEachRow,
    };
    for limit in [2, 4, 100] {
        let results = p2p::threads(2, |world| {
            let mut seen = Vec::new();
            match ways_out::join(&world, ways_out::Parameters { limit })? {
                ways_out::Role::Sender(sender) => sender.run(|s| {
                    let mut rows = s;
                    let s = 'rows: loop {
                        let (row, mut columns) = match rows.next() {
                            SenderEachRow::Item(row, columns) => (row, columns),
                            SenderEachRow::End(s) => break s,
                        };
                        loop {
                            let (column, s) = match columns.next() {
                                SenderEachColumn::Item(column, s) => (column, s),
                                SenderEachColumn::End(s) => {
                                    rows = s;
                                    continue 'rows;
                                }
                            };
                            let s = match s.branch() {
                                SenderBranch::Then(s) => {
                                    rows = s;
                                    continue 'rows;
                                }
                                SenderBranch::Else(s) => s,
                            };
                            let s = match s.branch() {
                                SenderBranch2::Then(s) => break 'rows s,
                                SenderBranch2::Else(s) => s,
                            };
                            columns = match s.branch() {
                                SenderBranch3::Then(s) => s,
                                SenderBranch3::Else(s) => {
                                    seen.push((10 * row + column) as u32);
                                    s.send_number((10 * row + column) as u32)?
                                }
                            };
                        }
                    };
                    s.isend_number(99)?.wait()
                })?,
                ways_out::Role::Receiver(receiver) => receiver.run(|s| {
                    let mut rows = s;
                    let s = 'rows: loop {
                        let mut columns = match rows.next() {
                            ReceiverEachRow::Item(_, columns) => columns,
                            ReceiverEachRow::End(s) => break s,
                        };
                        loop {
                            let s = match columns.next() {
                                ReceiverEachColumn::Item(_, s) => s,
                                ReceiverEachColumn::End(s) => {
                                    rows = s;
                                    continue 'rows;
                                }
                            };
                            let s = match s.branch() {
                                ReceiverBranch::Then(s) => {
                                    rows = s;
                                    continue 'rows;
                                }
                                ReceiverBranch::Else(s) => s,
                            };
                            let s = match s.branch() {
                                ReceiverBranch2::Then(s) => break 'rows s,
                                ReceiverBranch2::Else(s) => s,
                            };
                            columns = match s.branch() {
                                ReceiverBranch3::Then(s) => s,
                                ReceiverBranch3::Else(s) => {
                                    let (number, s) = s.recv_number()?;
                                    seen.push(number);
                                    s
                                }
                            };
                        }
                    };
                    let (last, s) = s.recv_number()?;
                    assert_eq!(last, 99);
                    Ok(s)
                })?,
            }
            Ok(seen)
        })
        .unwrap();
        let mut expected = Vec::new();
        'rows: for row in 0..4 {
            for column in 0..4 {
                if column > row {
                    continue 'rows;
                }
                if row * column == limit as u32 {
                    break 'rows;
                }
                if (row + column) % 2 == 1 {
                    continue;
                }
                expected.push(10 * row + column);
            }
        }
        assert_eq!(results, [expected.clone(), expected]);
    }
}

#[p2p_protocol(ranks = 2..)]
mod branches {
    pub type Number = u32;
    pub type Word = u32;

    #[rank(_)]
    fn member(mode: i64) {
        if rank % 2 == 0 && rank + 1 < size {
            if mode < 0 {
                send(rank + 1, Word);
            } else {
                send(rank + 1, Number);
            }
        }
        if rank % 2 == 1 {
            if mode < 0 {
                recv(rank - 1, Word);
            } else {
                recv(rank - 1, Number);
            }
        } else if !(mode == 5) || (if mode > 3 { 1 } else { 2 }) == 2 {
        } else {
            barrier();
        }
        if rank % 2 == 1 && mode == 5 {
            barrier();
        }
    }
}

#[test]
fn branches_go_the_same_way_as_their_condition() {
    for mode in [-1, 0, 5] {
        p2p::threads(3, |world| {
            let rank = world.rank() as u32;
            let parameters = branches::Parameters { mode };
            let branches::Role::Member(member) = branches::join(&world, parameters)?;
            let received = Cell::new(None);
            member.run(|s| {
                let s =
                    s.when(|s| s.either(|s| s.send_word(rank), |s| s.send_number(10 + rank)))?;
                let s = s.either(
                    |s| {
                        s.either(
                            |s| {
                                let (word, s) = s.recv_word()?;
                                received.set(Some(word));
                                Ok(s)
                            },
                            |s| {
                                let (number, s) = s.recv_number()?;
                                received.set(Some(number));
                                Ok(s)
                            },
                        )
                    },
                    |s| s.either(Ok, |s| s.barrier()),
                )?;
                s.when(|s| s.barrier())
            })?;
            let expected = (rank == 1).then_some(if mode < 0 { 0 } else { 10 });
            assert_eq!(received.get(), expected);
            Ok(())
        })
        .unwrap();
    }
}

#[p2p_protocol(ranks = 2)]
mod nested {
    pub type Number = u32;

    #[rank(0)]
    fn sender(turns: usize) {
        for session in 0..turns {
            for grid in 0..session + 1 {
                let peer = isend(1, Number);
                wait(peer);
            }
            for grid in 0..2 {
                send(1, Number);
            }
        }
    }

    #[rank(1)]
    fn receiver(turns: usize) {
        for i in 0..turns {
            for _j in 0..i + 3 {
                recv(0, Number);
            }
        }
    }
}

#[test]
fn names_of_the_specification_do_not_meet_those_of_the_macro() {
    p2p::threads(2, |world| match nested::join(&world, nested::Parameters { turns: 3 })? {
        nested::Role::Sender(sender) => sender.run(|s| {
            s.for_each_session(|i, s| {
                let s = s.for_each_grid(|j, s| s.isend_number((10 * i + j) as u32)?.wait())?;
                s.for_each_grid(|k, s| s.send_number((100 + k) as u32))
            })
        }),
        nested::Role::Receiver(receiver) => {
            let mut seen = Vec::new();
            receiver.run(|s| {
                s.for_each_i(|_, s| {
                    s.for_each_j(|_, s| {
                        let (number, s) = s.recv_number()?;
                        seen.push(number);
                        Ok(s)
                    })
                })
            })?;
            assert_eq!(seen, [0, 100, 101, 10, 11, 100, 101, 20, 21, 22, 100, 101]);
            Ok(())
        }
    })
    .unwrap();
}
