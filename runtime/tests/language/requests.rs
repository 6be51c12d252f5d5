//! Requests: named, in sets, tested, and whichever is first.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
mod sets {
    pub type Chunk = [u32];
    pub type Mark = u32;

    #[rank(0)]
    fn root(chunks: usize) {
        for dest in 1..size {
            let pending = requests();
            let marks = requests();
            for chunk in 0..chunks {
                pending.push(isend(dest, Chunk));
                marks.push(isend(dest, Mark));
                if chunk % 2 == 1 {
                    wait_all(pending);
                }
            }
            wait_all(marks);
            wait_all(pending);
        }
    }

    #[rank(1..)]
    fn worker(chunks: usize) {
        let incoming = requests();
        let marks = requests();
        for _chunk in 0..chunks {
            incoming.push(irecv(0, Chunk));
            marks.push(irecv(0, Mark));
        }
        for _chunk in 0..chunks {
            wait_any(incoming);
        }
        wait_all(marks);
    }
}

#[test]
fn sets_are_waited_for_whole_and_one_by_one() {
    for chunks in [0, 1, 2, 5] {
        p2p::threads(3, |world| match sets::join(&world, sets::Parameters { chunks })? {
            sets::Role::Root(root) => root.run(|s| {
                s.for_each_dest(|dest, s| {
                    let s = s.for_each_chunk(|chunk, s| {
                        let data = vec![dest as u32, chunk as u32];
                        s.isend_chunk(data)?.isend_mark(chunk as u32)?.when(|s| {
                            let (sent, s) = s.wait_all_pending()?;
                            assert_eq!(sent.len(), 2);
                            assert_eq!(sent[1], [dest as u32, chunk as u32]);
                            Ok(s)
                        })
                    })?;
                    let (tail, s) = s.wait_all_marks()?.wait_all_pending()?;
                    assert_eq!(tail.len(), chunks % 2);
                    Ok(s)
                })
            }),
            sets::Role::Worker(worker) => {
                let rank = worker.rank() as u32;
                worker.run(|s| {
                    let s = s.for_each_chunk(|_, s| s.irecv_chunk(vec![0; 2])?.irecv_mark())?;
                    let mut seen = vec![0; chunks];
                    let s = s.for_each_chunk(|_, s| {
                        let (chunk, s) = s.wait_any_incoming()?;
                        let chunk = chunk.expect("there is one for each turn");
                        assert_eq!(chunk[0], rank);
                        seen[chunk[1] as usize] += 1;
                        Ok(s)
                    })?;
                    assert_eq!(seen, vec![1; chunks]);
                    let (marks, s) = s.wait_all_marks()?;
                    assert_eq!(marks, (0..chunks as u32).collect::<Vec<_>>());
                    Ok(s)
                })
            }
        })
        .unwrap();
    }
}

#[p2p_protocol(ranks = 3)]
mod first {
    pub type Left = [u8];
    pub type Right = u8;
    pub type Go = u8;

    #[rank(0)]
    fn middle() {
        let left = irecv(1, Left);
        let right = irecv(2, Right);
        send(2, Go);
        match wait_any(left, right) {
            left => {
                send(1, Go);
                wait(right);
            }
            right => {
                send(1, Go);
                wait(left);
            }
        }
    }

    #[rank(1)]
    fn west() {
        recv(0, Go);
        send(0, Left);
    }

    #[rank(2)]
    fn east() {
        recv(0, Go);
        send(0, Right);
    }
}

#[test]
fn wait_any_goes_on_with_the_one_that_is_complete() {
    p2p::threads(3, |world| match first::join(&world)? {
        first::Role::Middle(middle) => middle.run(|s| {
            let s = s.irecv_left(vec![0; 2])?.irecv_right()?.send_go(1)?;
            match s.wait_any()? {
                first::MiddleWaitedAny::Left(..) => unreachable!("left waits for us"),
                first::MiddleWaitedAny::Right(right, s) => {
                    assert_eq!(right, 5);
                    let (left, s) = s.send_go(1)?.wait()?;
                    assert_eq!(left, [1, 2]);
                    Ok(s)
                }
            }
        }),
        first::Role::West(west) => west.run(|s| {
            let (_, s) = s.recv_go()?;
            s.send_left(&[1, 2])
        }),
        first::Role::East(east) => east.run(|s| {
            let (_, s) = s.recv_go()?;
            s.send_right(5)
        }),
    })
    .unwrap();
}

#[p2p_protocol(ranks = 2)]
mod polling {
    pub type Value = [u64];
    pub type Question = u8;

    #[rank(0)]
    fn asker() {
        let value = irecv(any(1..size), Value);
        send(1, Question);
        loop {
            if test(value) {
                break;
            }
        }
    }

    #[rank(1)]
    fn answerer() {
        recv(0, Question);
        let value = isend(0, Value);
        if test(value) {
        } else {
            wait(value);
        }
    }
}

#[test]
fn a_test_goes_on_both_ways() {
    p2p::threads(2, |world| match polling::join(&world)? {
        polling::Role::Asker(asker) => {
            let mut turns = 0;
            asker.run(|s| {
                let mut s = s.irecv_value(vec![0; 3])?.send_question(1)?;
                loop {
                    match s.test_value()? {
                        polling::AskerTestedValue::Complete(from, value, s) => {
                            assert_eq!((from, value), (1, vec![4, 5, 6]));
                            break Ok(s);
                        }
                        polling::AskerTestedValue::Pending(again) => {
                            turns += 1;
                            s = again;
                        }
                    }
                }
            })
        }
        polling::Role::Answerer(answerer) => answerer.run(|s| {
            let (_, s) = s.recv_question()?;
            match s.isend_value(vec![4, 5, 6])?.test_value()? {
                polling::AnswererTestedValue::Complete(value, s) => {
                    assert_eq!(value, [4, 5, 6]);
                    Ok(s)
                }
                polling::AnswererTestedValue::Pending(s) => {
                    let (value, s) = s.wait()?;
                    assert_eq!(value, [4, 5, 6]);
                    Ok(s)
                }
            }
        }),
    })
    .unwrap();
}

#[p2p_protocol(ranks = 3)]
mod open {
    pub type Number = u16;
    pub type Line = [u16];

    #[rank(0)]
    fn sink() {
        let numbers = requests();
        let lines = requests();
        for _sender in 1..size {
            numbers.push(irecv(any(1..size), Number));
            lines.push(irecv(any(1..size), Line));
        }
        wait_all(numbers);
        for _sender in 1..size {
            wait_any(lines);
        }
        wait_any(lines);
    }

    #[rank(1..)]
    fn source() {
        let number = isend(0, Number);
        send(0, Line);
        wait(number);
    }
}

#[test]
fn wildcard_requests_say_whose_message_they_took() {
    p2p::threads(3, |world| match open::join(&world)? {
        open::Role::Sink(sink) => sink.run(|s| {
            let s = s.for_each_sender(|_, s| s.irecv_number()?.irecv_line(vec![0; 1]))?;
            let (mut numbers, s) = s.wait_all_numbers()?;
            numbers.sort_unstable();
            assert_eq!(numbers, [(1, 1), (2, 2)]);
            let s = s.for_each_sender(|_, s| {
                let (line, s) = s.wait_any_lines()?;
                let (from, line) = line.expect("there is one for each sender");
                assert_eq!(line, [10 * from as u16]);
                Ok(s)
            })?;
            let (none, s) = s.wait_any_lines()?;
            assert_eq!(none, None);
            Ok(s)
        }),
        open::Role::Source(source) => {
            let rank = source.rank() as u16;
            source.run(|s| s.isend_number(rank)?.send_line(&[10 * rank])?.wait())
        }
    })
    .unwrap();
}
