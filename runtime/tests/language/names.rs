//! Names of a specification never meet those that the generated code uses, and a right protocol
//! can be wherever a module can.

use p2p::p2p_protocol;

/// Every type here is called as one that generated code uses itself.
#[p2p_protocol(ranks = 2)]
mod prelude {
    #[message]
    pub struct Option {
        pub value: u8,
    }
    #[message]
    #[derive(Clone)]
    pub struct Vec {
        pub value: u8,
    }
    #[message]
    #[derive(Copy, Clone, PartialEq)]
    pub struct Result {
        pub value: u8,
    }
    pub type Session = [Result];
    pub type Request = [Result; 2];
    pub type Mode = u8;

    /// No message either.
    #[derive(Debug)]
    pub struct Some(pub u8);

    #[rank(0)]
    fn ok(session: usize) {
        for operation in 0..session {
            let buffer = isend(1, Option);
            let status = isend(1, Session);
            wait_all(buffer, status);
        }
        for index in 0..session {
            let peer = recv(any(1..size), Vec);
            send(peer, Result);
            let head = irecv(peer, Request);
            wait(head);
        }
        send(1, Mode);
    }

    #[rank(1)]
    fn r#loop(session: usize) {
        for data in 0..session {
            let value = irecv(0, Option);
            let request = irecv(0, Session);
            wait_all(value, request);
        }
        for r#type in 0..session {
            send(0, Vec);
            recv(0, Result);
            let r#match = isend(0, Request);
            wait(r#match);
        }
        recv(0, Mode);
    }
}

#[test]
fn any_name_will_do() {
    let parameters = prelude::Parameters { session: 2 };
    p2p::threads(2, |world| match prelude::join(&world, parameters)? {
        prelude::Role::Ok(role) => role.run(|s| {
            let s = s.for_each_operation(|turn, s| {
                let option = prelude::Option { value: turn as u8 };
                let s = s.isend_option(option)?.isend_session(vec![
                    prelude::Result {
                        value: turn as u8
                    };
                    3
                ])?;
                let (_, s) = s.wait_all()?;
                Ok(s)
            })?;
            let s = s.for_each_index(|turn, s| {
                let (_, vec, s) = s.recv_vec()?;
                assert_eq!(vec.value, 10 + turn as u8);
                let s = s.send_result(prelude::Result { value: 1 })?;
                let (results, s) =
                    s.irecv_request(Box::from([prelude::Result { value: 0 }; 2]))?.wait_head()?;
                assert!(results[..] == [prelude::Result { value: 3 }; 2]);
                Ok(s)
            })?;
            s.send_mode(prelude::Some(4).0)
        }),
        prelude::Role::Loop(role) => role.run(|s| {
            let s = s.for_each_data(|turn, s| {
                let room = vec![prelude::Result { value: 9 }; 3];
                let (option, options, s) = s.irecv_option()?.irecv_session(room)?.wait_all()?;
                assert_eq!((option.value, options[2].value), (turn as u8, turn as u8));
                Ok(s)
            })?;
            let s = s.for_each_type(|turn, s| {
                let s = s.send_vec(prelude::Vec { value: 10 + turn as u8 })?;
                let (result, s) = s.recv_result()?;
                assert_eq!(result.value, 1);
                let (_, s) = s.isend_request(vec![prelude::Result { value: 3 }; 2])?.wait()?;
                Ok(s)
            })?;
            let (mode, s) = s.recv_mode()?;
            assert_eq!(mode, 4);
            Ok(s)
        }),
    })
    .unwrap();
}

/// Right on every MPI that buffers, and said to be enough.
#[p2p_protocol(ranks = 2, allow(deadlock_unbuffered))]
pub(crate) mod lenient {
    /// Small enough.
    pub type Number = u32;

    /// Whoever.
    #[rank(_)]
    fn partner() {
        send(1 - rank, Number);
        recv(1 - rank, Number);
    }
}

/// Plays [`lenient::Partner`] by hand.
#[p2p_protocol(role = lenient::Partner)]
fn by_hand(number: u32) -> u32 {
    number + 1
}

#[test]
fn a_rule_can_be_lowered_and_a_function_annotated() {
    p2p::threads(2, |world| {
        let lenient::Role::Partner(partner) = lenient::join(&world)?;
        partner.run(|s| {
            let (number, s) = s.send_number(by_hand(4))?.recv_number()?;
            assert_eq!(number, 5);
            Ok(s)
        })
    })
    .unwrap();
}

#[test]
fn a_protocol_may_stand_in_a_function() {
    #[p2p_protocol(ranks = 1..)]
    mod alone {
        #[rank(_)]
        fn member() {}
    }

    p2p::threads(2, |world| {
        let alone::Role::Member(member) = alone::join(&world)?;
        member.run(|s| Ok(s))
    })
    .unwrap();
}
