//! However a role ends, nothing hangs and nothing is unsound.

use std::mem::forget;

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
mod pair {
    pub type Block = [u8];
    pub type Number = u32;

    #[rank(0)]
    fn sender() {
        let block = isend(1, Block);
        let number = irecv(1, Number);
        wait_all(block, number);
    }

    #[rank(1)]
    fn receiver() {
        recv(0, Block);
        send(0, Number);
    }
}

/// Runs the sender with this, and gives back what both ranks end with.
fn sender_that(
    leaves: impl Fn(pair::SenderIsendBlock<'_, '_>) -> p2p::Error + Sync,
) -> [p2p::Error; 2] {
    let errors = std::sync::Mutex::new(Vec::new());
    let outcome = p2p::threads(2, |world| {
        let result = match pair::join(&world)? {
            pair::Role::Sender(sender) => sender.run(|s| Err(leaves(s))),
            pair::Role::Receiver(receiver) => receiver.run(|s| {
                let (_, s) = s.recv_block_vec()?;
                s.send_number(1)
            }),
        };
        let error = result.expect_err("the sender leaves");
        let text = error.to_string();
        errors.lock().unwrap().push((world.rank(), error));
        Err::<(), _>(p2p::Error::other(text))
    });
    assert!(outcome.is_err());
    let mut errors = errors.into_inner().unwrap();
    errors.sort_by_key(|(rank, _)| *rank);
    let mut errors = errors.into_iter().map(|(_, error)| error);
    [errors.next().unwrap(), errors.next().unwrap()]
}

#[test]
fn an_error_of_one_rank_ends_the_other() {
    let [own, other] = sender_that(|_| p2p::Error::other("no more paper"));
    assert!(own.to_string().contains("no more paper"), "{own}");
    assert!(matches!(other, p2p::Error::PeerGone { rank: 0, .. }), "{other}");
}

#[test]
fn a_forgotten_state_ends_as_a_dropped_one_does() {
    let [_, other] = sender_that(|s| {
        forget(s);
        p2p::Error::other("forgot")
    });
    assert!(matches!(other, p2p::Error::PeerGone { rank: 0, .. }), "{other}");
}

#[test]
fn a_panic_of_one_rank_ends_the_other() {
    let error = p2p::threads(2, |world| match pair::join(&world)? {
        pair::Role::Sender(sender) => sender.run(|_| panic!("out of range")),
        pair::Role::Receiver(receiver) => receiver.run(|s| {
            let (_, s) = s.recv_block_vec()?;
            s.send_number(1)
        }),
    })
    .unwrap_err();
    assert!(matches!(error, p2p::Error::Panicked { rank: 0, .. }), "{error}");
}

#[test]
fn borrowed_buffers_are_whole_again_after_a_run_that_failed() {
    p2p::threads(2, |world| match pair::join(&world)? {
        pair::Role::Sender(sender) => {
            let block = vec![7; 1 << 20];
            let result = sender.run(|s| {
                forget(s.isend_block(&block[..])?);
                Err(p2p::Error::other("left"))
            });
            assert!(result.is_err());
            assert!(block.iter().all(|&byte| byte == 7));
            Ok(())
        }
        pair::Role::Receiver(receiver) => {
            let mut block = vec![0; 1 << 20];
            // It may have been through before the other left.
            let _ = receiver.run(|s| s.recv_block(&mut block[..])?.send_number(1));
            block.fill(1);
            Ok(())
        }
    })
    .unwrap();
}

#[test]
fn two_runs_of_one_world_follow_each_other() {
    p2p::threads(2, |world| {
        for turn in 0..3 {
            match pair::join(&world)? {
                pair::Role::Sender(sender) => sender.run(|s| {
                    let (_, number, s) =
                        s.isend_block(vec![turn; 3])?.irecv_number()?.wait_all()?;
                    assert_eq!(number, u32::from(turn) + 1);
                    Ok(s)
                })?,
                pair::Role::Receiver(receiver) => receiver.run(|s| {
                    let (block, s) = s.recv_block_vec()?;
                    assert_eq!(block, [turn; 3]);
                    s.send_number(u32::from(turn) + 1)
                })?,
            }
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn one_run_inside_another_does_not_disturb_it() {
    p2p::threads(2, |world| match pair::join(&world)? {
        pair::Role::Sender(sender) => {
            let pair::Role::Sender(inner) = pair::join(&world)? else { unreachable!() };
            sender.run(|s| {
                let s = s.isend_block(vec![1])?;
                inner.run(|s| {
                    let (_, _, s) = s.isend_block(vec![2])?.irecv_number()?.wait_all()?;
                    Ok(s)
                })?;
                let (_, number, s) = s.irecv_number()?.wait_all()?;
                assert_eq!(number, 1);
                Ok(s)
            })
        }
        pair::Role::Receiver(receiver) => {
            let pair::Role::Receiver(inner) = pair::join(&world)? else { unreachable!() };
            inner.run(|s| {
                let (block, s) = s.recv_block_vec()?;
                assert_eq!(block, [2]);
                s.send_number(2)
            })?;
            receiver.run(|s| {
                let (block, s) = s.recv_block_vec()?;
                assert_eq!(block, [1]);
                s.send_number(1)
            })
        }
    })
    .unwrap();
}

#[test]
fn a_role_that_is_never_run_is_told_of() {
    let error = p2p::threads(2, |world| match pair::join(&world)? {
        // Nobody waits for it.
        pair::Role::Sender(_) => Ok(()),
        pair::Role::Receiver(_) => Ok(()),
    })
    .unwrap_err();
    assert!(matches!(error, p2p::Error::NotRun { .. }), "{error}");
    assert!(error.to_string().contains("was given a role, in `join(pair)`"), "{error}");
    let error = p2p::threads(2, |world| {
        let role = pair::join(&world)?;
        let missing = world.rank() == 0;
        if missing {
            return Err(p2p::Error::other("no input"));
        }
        match role {
            pair::Role::Sender(sender) => sender.run(|_| unreachable!()),
            pair::Role::Receiver(receiver) => receiver.run(|s| {
                let (_, s) = s.recv_block_vec()?;
                s.send_number(1)
            }),
        }
    })
    .unwrap_err();
    assert!(error.to_string().contains("no input"), "{error}");
}

#[p2p_protocol(ranks = 3)]
mod idle {
    pub type Number = u32;

    #[rank(0)]
    fn speaker() {
        send(1, Number);
    }

    #[rank(1)]
    fn listener() {
        recv(0, Number);
    }

    #[rank(2)]
    fn nobody() {}
}

#[test]
fn a_role_without_steps_need_not_be_run() {
    p2p::threads(3, |world| match idle::join(&world)? {
        idle::Role::Speaker(speaker) => speaker.run(|s| s.send_number(1)),
        idle::Role::Listener(listener) => listener.run(|s| Ok(s.recv_number()?.1)),
        idle::Role::Nobody(_) => Ok(()),
    })
    .unwrap();
}
