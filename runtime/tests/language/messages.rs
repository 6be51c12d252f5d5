//! What messages carry, and the operations that are over when they return.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
mod shapes {
    use std::marker::PhantomData;

    /// How many corners there are.
    pub const CORNERS: usize = 4;

    /// A helper that is no message.
    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    pub struct Point {
        /// Across.
        pub x: f64,
        /// Up.
        pub y: f64,
    }

    /// Uses what is imported.
    pub type Nothing = PhantomData<Point>;

    /// A struct of numbers, tagged far away from the others.
    #[message(tag = 99)]
    #[derive(Debug, PartialEq)]
    pub struct Body {
        /// Which.
        pub number: u32,
        /// Where.
        pub position: [f64; 3],
    }

    /// Its corners.
    pub type Corners = [f32; CORNERS];

    /// Letters.
    pub type Name = [char];

    /// Whether there is more.
    pub type More = bool;

    /// As many as there are ranks, twice.
    #[message(count = 2 * size)]
    pub type Counted = [u16];

    #[rank(0)]
    fn left() {
        send(1, Body);
        send(1, Corners);
        send(1, Name);
        send(1, More);
        send(1, Counted);
        let body = isend(1, Body);
        let corners = isend(1, Corners);
        let counted = isend(1, Counted);
        wait_all(body, corners, counted);
    }

    #[rank(1)]
    fn right() {
        recv(0, Body);
        recv(0, Corners);
        recv(0, Name);
        recv(0, More);
        recv(0, Counted);
        let body = irecv(0, Body);
        let corners = irecv(0, Corners);
        let counted = irecv(0, Counted);
        wait_all(body, corners, counted);
    }
}

#[test]
fn every_shape_arrives_as_it_was_sent() {
    let body = shapes::Body { number: 7, position: [1.0, 2.0, 3.0] };
    let corners: shapes::Corners = [0.5, 1.5, 2.5, 3.5];
    p2p::threads(2, |world| match shapes::join(&world)? {
        shapes::Role::Left(left) => left.run(|s| {
            let s = s.send_body(body)?.send_corners(&corners)?.send_name(&['a', 'ß'])?;
            let s = s.send_more(true)?.send_counted(vec![1, 2, 3, 4])?;
            let s = s.isend_body(body)?.isend_corners(&corners)?.isend_counted(vec![5, 6, 7, 8])?;
            let (_, _, s) = s.wait_all()?;
            Ok(s)
        }),
        shapes::Role::Right(right) => right.run(|s| {
            let (got, s) = s.recv_body()?;
            assert_eq!(got, body);
            let mut got = [0.0; shapes::CORNERS];
            let s = s.recv_corners(&mut got)?;
            assert_eq!(got, corners);
            let (name, s) = s.recv_name_vec()?;
            assert_eq!(name, ['a', 'ß']);
            let (more, s) = s.recv_more()?;
            assert!(more);
            let (counted, s) = s.recv_counted_vec()?;
            assert_eq!(counted, [1, 2, 3, 4]);
            let s = s.irecv_body()?.irecv_corners(vec![0.0; 4])?.irecv_counted(vec![0; 4])?;
            let (got, got_corners, counted, s) = s.wait_all()?;
            assert_eq!((got, got_corners, counted), (body, corners.to_vec(), vec![5, 6, 7, 8]));
            Ok(s)
        }),
    })
    .unwrap();
    let _nothing: shapes::Nothing = std::marker::PhantomData;
    assert_eq!(shapes::Point::default(), shapes::Point { x: 0.0, y: 0.0 });
}

#[test]
fn a_length_that_is_not_the_stated_one_is_an_error_of_the_sender() {
    let error = p2p::threads(2, |world| match shapes::join(&world)? {
        shapes::Role::Left(left) => left.run(|s| {
            let s = s.send_body(shapes::Body { number: 0, position: [0.0; 3] })?;
            let s = s.send_corners(&[0.0; 4])?.send_name(&[])?.send_more(false)?;
            let _ = s.send_counted(&[1, 2, 3])?;
            unreachable!("three is not four");
        }),
        shapes::Role::Right(right) => right.run(|s| {
            let (_, s) = s.recv_body()?;
            let (_, s) = s.recv_corners(&mut [0.0; 4])?.recv_name_vec()?;
            let (_, s) = s.recv_more()?;
            let _ = s.recv_counted_vec()?;
            unreachable!("nothing is sent");
        }),
    })
    .unwrap_err();
    assert!(matches!(error, p2p::Error::Length { found: 3, rank: 0, .. }), "{error}");
    assert!(error.to_string().contains("4, as the protocol says"), "{error}");
}

#[p2p_protocol(ranks = 2)]
mod measured {
    /// As long as it says.
    #[message(count = rank + length)]
    pub type Line = [u8];
    pub type Four = [u8; 4];

    #[rank(0)]
    fn sender(length: usize) {
        let line = isend(1, Line);
        let four = isend(1, Four);
        wait_all(line, four);
    }

    #[rank(1)]
    fn receiver() {
        recv(0, Line);
        recv(0, Four);
    }
}

#[test]
fn a_started_send_has_the_stated_length_too() {
    for (line, four, found) in [(3, 4, None), (2, 4, Some(2)), (3, 5, Some(5))] {
        let length = measured::Parameters { length: 3 };
        let outcome = p2p::threads(2, |world| match measured::join(&world, length)? {
            measured::Role::Sender(sender) => sender.run(|s| {
                let s = s.isend_line(vec![1; line])?.isend_four(vec![2; four])?;
                let (_, _, s) = s.wait_all()?;
                Ok(s)
            }),
            measured::Role::Receiver(receiver) => receiver.run(|s| {
                let (_, s) = s.recv_line_vec()?;
                s.recv_four(&mut [0; 4])
            }),
        });
        match (outcome, found) {
            (Ok(_), None) => {}
            (Err(p2p::Error::Length { found, .. }), Some(length)) => assert_eq!(found, length),
            (outcome, _) => panic!("{outcome:?}"),
        }
    }
}

#[p2p_protocol(ranks = 2..)]
mod exchange {
    pub type Right = [u32];
    pub type Left = u64;

    #[rank(_)]
    fn member() {
        sendrecv((rank + 1) % size, Right, (rank + size - 1) % size, Right);
        sendrecv((rank + size - 1) % size, Left, (rank + 1) % size, Left);
    }
}

#[p2p_protocol(ranks = 2)]
mod swap {
    pub type Line = [u32];
    pub type Number = u64;

    #[rank(0)]
    fn left() {
        sendrecv(1, Line, any(1..2), Number);
    }

    #[rank(1)]
    fn right() {
        sendrecv(0, Number, 0, Line);
    }
}

#[test]
fn both_halves_of_a_send_receive_arrive() {
    p2p::threads(3, |world| {
        let rank = world.rank() as u32;
        let left = (rank + 2) % 3;
        let exchange::Role::Member(member) = exchange::join(&world)?;
        member.run(|s| {
            let mut from_left = Vec::new();
            let s = s.sendrecv_right(&[rank, 10 * rank], &mut from_left)?;
            assert_eq!(from_left, [left, 10 * left]);
            let (from_right, s) = s.sendrecv_left(u64::from(rank))?;
            assert_eq!(from_right, u64::from((rank + 1) % 3));
            Ok(s)
        })
    })
    .unwrap();
}

#[test]
fn the_halves_may_carry_different_messages() {
    p2p::threads(2, |world| match swap::join(&world)? {
        swap::Role::Left(left) => left.run(|s| {
            let (from, number, s) = s.sendrecv_line_number(vec![1, 2])?;
            assert_eq!((from, number), (1, 3));
            Ok(s)
        }),
        swap::Role::Right(right) => right.run(|s| {
            let (line, s) = s.sendrecv_number_line_vec(3)?;
            assert_eq!(line, [1, 2]);
            Ok(s)
        }),
    })
    .unwrap();
}

#[p2p_protocol(ranks = 3..)]
mod wildcards {
    pub type Number = u32;
    pub type Text = [u8];
    pub type Last = [u8];
    pub type Answer = u32;

    #[rank(0)]
    fn server() {
        for _client in 1..size {
            let from = recv(any(1..size), Number);
            send(from, Answer);
        }
        for _client in 1..size {
            let from = probe(any(1..size), Text);
            recv(from, Text);
            send(from, Answer);
        }
        for _client in 1..size {
            recv(any(1..size), Last);
        }
        probe(1, Number);
        recv(1, Number);
    }

    #[rank(1..)]
    fn client() {
        send(0, Number);
        recv(0, Answer);
        send(0, Text);
        recv(0, Answer);
        send(0, Last);
        if rank == 1 {
            send(0, Number);
        }
    }
}

#[test]
fn whoever_came_first_is_named_and_answered() {
    p2p::threads(4, |world| match wildcards::join(&world)? {
        wildcards::Role::Server(server) => server.run(|s| {
            let mut seen = [false; 4];
            let s = s.for_each_client(|_, s| {
                let (from, number, s) = s.recv_number()?;
                assert_eq!(number as usize, from);
                assert!(!std::mem::replace(&mut seen[from], true));
                s.send_answer(10 * number)
            })?;
            let s = s.for_each_client(|_, s| {
                let (status, s) = s.probe_text()?;
                let mut text = vec![0; status.count];
                let s = s.recv_text(&mut text)?;
                assert_eq!(text, vec![b'x'; status.source]);
                s.send_answer(status.count as u32)
            })?;
            let s = s.for_each_client(|_, s| {
                let (from, text, s) = s.recv_last_vec()?;
                assert_eq!(text, [from as u8]);
                Ok(s)
            })?;
            let (status, s) = s.probe_number()?;
            assert_eq!(status, p2p::Status { source: 1, count: 1 });
            let (number, s) = s.recv_number()?;
            assert_eq!(number, 77);
            Ok(s)
        }),
        wildcards::Role::Client(client) => {
            let rank = client.rank();
            assert_eq!(client.size(), 4);
            client.run(|s| {
                let (answer, s) = s.send_number(rank as u32)?.recv_answer()?;
                assert_eq!(answer as usize, 10 * rank);
                let (answer, s) = s.send_text(vec![b'x'; rank])?.recv_answer()?;
                assert_eq!(answer as usize, rank);
                s.send_last(&[rank as u8])?.when(|s| s.send_number(77))
            })
        }
    })
    .unwrap();
}

#[p2p_protocol(ranks = 2)]
mod communicators {
    pub type Plain = u32;
    /// The same tag, in another world.
    #[message(tag = 0, communicator = control)]
    pub type Control = u32;

    #[rank(0)]
    fn sender() {
        bsend(1, Plain);
        bsend(1, Control);
    }

    #[rank(1)]
    fn receiver() {
        recv(0, Control);
        recv(0, Plain);
    }
}

#[test]
fn communicators_keep_messages_apart() {
    p2p::threads(2, |world| match communicators::join(&world)? {
        communicators::Role::Sender(sender) => sender.run(|s| s.bsend_plain(1)?.bsend_control(2)),
        communicators::Role::Receiver(receiver) => receiver.run(|s| {
            let (control, s) = s.recv_control()?;
            let (plain, s) = s.recv_plain()?;
            assert_eq!((control, plain), (2, 1));
            Ok(s)
        }),
    })
    .unwrap();
}
