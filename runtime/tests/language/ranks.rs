//! Who plays which role: patterns, grids, sizes, parameters.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = n if n.is_power_of_two() && n > 2 && n < 16)]
mod patterns {
    const FIRST: usize = 0;

    #[rank(FIRST)]
    fn first() {
        barrier();
    }

    #[rank(size - 1)]
    fn last() {
        barrier();
    }

    #[rank(r if r > 0 && r < size - 1 && r % 2 == 1)]
    fn odd() {
        barrier();
    }

    #[rank(2 | 4 | 6)]
    fn even() {
        barrier();
    }
}

#[test]
fn every_rank_plays_the_role_that_is_its() {
    let roles = p2p::threads(8, |world| {
        Ok(match patterns::join(&world)? {
            patterns::Role::First(role) => role.run(|s| s.barrier()).map(|()| "first")?,
            patterns::Role::Last(role) => role.run(|s| s.barrier()).map(|()| "last")?,
            patterns::Role::Odd(role) => role.run(|s| s.barrier()).map(|()| "odd")?,
            patterns::Role::Even(role) => role.run(|s| s.barrier()).map(|()| "even")?,
        })
    });
    let expected = ["first", "odd", "even", "odd", "even", "odd", "even", "last"];
    assert_eq!(roles.unwrap(), expected);
}

#[test]
fn a_size_that_the_protocol_is_not_for_is_an_error_on_every_rank() {
    for size in [2, 3, 6] {
        let errors = p2p::threads(size, |world| Ok(patterns::join(&world).err()));
        for error in errors.unwrap() {
            let error = error.expect("nobody may start");
            assert!(
                matches!(error, p2p::Error::WrongSize { size: found, .. } if found == size),
                "{error}"
            );
        }
    }
}

#[p2p_protocol(ranks = 1.., grid(P, Q))]
mod sheet {
    /// Where it comes from.
    pub type Place = [u32; 2];

    #[rank((x, y))]
    fn cell() {
        let sent = requests();
        let received = requests();
        if x > 0 {
            received.push(irecv((x - 1, y), Place));
        }
        if y > 0 {
            received.push(irecv((x, y - 1), Place));
        }
        if x + 1 < P {
            sent.push(isend((x + 1, y), Place));
        }
        if y + 1 < Q {
            sent.push(isend((x, y + 1), Place));
        }
        wait_all(received);
        wait_all(sent);
    }
}

#[test]
fn coordinates_are_those_of_a_row_major_grid() {
    // Six ranks are three rows of two.
    p2p::threads(6, |world| {
        let (x, y) = (world.rank() as u32 / 2, world.rank() as u32 % 2);
        let sheet::Role::Cell(cell) = sheet::join(&world)?;
        cell.run(|s| {
            let s = s.when(|s| s.irecv_place(vec![0; 2]))?.when(|s| s.irecv_place(vec![0; 2]))?;
            let here = || vec![x, y];
            let s = s.when(|s| s.isend_place(here()))?.when(|s| s.isend_place(here()))?;
            let (received, s) = s.wait_all_received()?;
            let above = (x > 0).then(|| vec![x - 1, y]);
            let left = (y > 0).then(|| vec![x, y - 1]);
            assert_eq!(received, above.into_iter().chain(left).collect::<Vec<_>>());
            let (_, s) = s.wait_all_sent()?;
            Ok(s)
        })
    })
    .unwrap();
}

#[p2p_protocol(ranks = 2.., grid(2, Q))]
mod two_rows {
    pub type Number = u32;

    #[rank((0, y))]
    fn top() {
        send((1, y), Number);
    }

    #[rank((1, 0..Q))]
    fn bottom() {
        recv((0, rank - Q), Number);
    }
}

#[test]
fn a_wrong_size_is_told_as_the_protocol_writes_it() {
    let alone = p2p::threads(1, |world| Ok(two_rows::join(&world).err())).unwrap();
    let text = alone[0].as_ref().expect("it needs two rows").to_string();
    assert!(text.contains("is for 2.. ranks"), "{text}");
    let odd = p2p::threads(3, |world| Ok(two_rows::join(&world).is_err())).unwrap();
    assert_eq!(odd, [true; 3], "three ranks make no two rows");
}

#[test]
fn a_fixed_extent_fixes_the_other() {
    p2p::threads(6, |world| match two_rows::join(&world)? {
        two_rows::Role::Top(top) => {
            let rank = top.rank() as u32;
            top.run(|s| s.send_number(rank))
        }
        two_rows::Role::Bottom(bottom) => {
            let rank = bottom.rank() as u32;
            bottom.run(|s| {
                let (number, s) = s.recv_number()?;
                assert_eq!(number, rank - 3);
                Ok(s)
            })
        }
    })
    .unwrap();
}

#[p2p_protocol(ranks = 2.., require(root < size, root != 1))]
mod rooted {
    pub type Number = u32;

    #[rank(_)]
    fn all(root: usize) {
        bcast(root, Number);
    }
}

#[test]
fn parameters_that_are_not_allowed_are_an_error_on_every_rank() {
    let join = |root| {
        p2p::threads(3, move |world| {
            let rooted::Role::All(all) = rooted::join(&world, rooted::Parameters { root })?;
            let mut number = if all.rank() == root { 7 } else { 0 };
            all.run(|s| s.bcast_number(&mut number))?;
            Ok(number)
        })
    };
    assert_eq!(join(2).unwrap(), [7; 3]);
    for (root, requirement) in [(3, "root < size"), (1, "root != 1")] {
        let refused =
            p2p::threads(3, |world| Ok(rooted::join(&world, rooted::Parameters { root }).err()));
        for error in refused.unwrap() {
            let expected = format!(
                "protocol `rooted` requires `{requirement}`, which does not hold with \
                 root = {root}, 3 ranks; join it with parameters that fulfil it"
            );
            assert_eq!(error.expect("nobody may start").to_string(), expected);
        }
    }
}

#[p2p_protocol(grid(P, P))]
mod transposition {
    /// Where it comes from.
    pub type Place = [u32; 2];

    #[rank((x, y))]
    fn cell(turns: u8) {
        let across = (y, x);
        let last = turns - 1;
        for turn in 0..turns {
            let returning = turn == last;
            if returning {
                sendrecv(across, Place, across, Place);
            }
        }
    }
}

#[test]
fn values_have_names_and_squares_one_extent() {
    p2p::threads(9, |world| {
        let (x, y) = (world.rank() as u32 / 3, world.rank() as u32 % 3);
        let given = transposition::Parameters { turns: 2 };
        let transposition::Role::Cell(cell) = transposition::join(&world, given)?;
        let mut turns = 0;
        cell.run(|s| {
            s.for_each_turn(|_turn, s| {
                s.when(|s| {
                    turns += 1;
                    let mut received = [0; 2];
                    let s = s.sendrecv_place(&[x, y], &mut received)?;
                    assert_eq!(received, [y, x]);
                    Ok(s)
                })
            })
        })?;
        assert_eq!(turns, 1);
        Ok(())
    })
    .unwrap();
    let given = transposition::Parameters { turns: 1 };
    let refused = p2p::threads(6, |world| Ok(transposition::join(&world, given).is_err()));
    assert_eq!(refused.unwrap(), [true; 6], "six ranks are no square");
}

#[p2p_protocol(ranks = 2)]
mod parameters {
    pub type Number = u32;

    #[rank(0)]
    fn sender(turns: u8, extra: i32) {
        for _turn in 0..turns + extra {
            send(1, Number);
        }
    }

    #[rank(1)]
    fn receiver(extra: i32, turns: u8) {
        for _turn in 0..extra + turns {
            recv(0, Number);
        }
    }
}

#[test]
fn parameters_are_shared_by_name() {
    let given = parameters::Parameters { turns: 2, extra: 1 };
    p2p::threads(2, |world| match parameters::join(&world, given)? {
        parameters::Role::Sender(sender) => {
            sender.run(|s| s.for_each_turn(|turn, s| s.send_number(turn as u32)))
        }
        parameters::Role::Receiver(receiver) => {
            let mut turns = 0;
            receiver.run(|s| {
                s.for_each_turn(|turn, s| {
                    turns += 1;
                    let (number, s) = s.recv_number()?;
                    assert_eq!(number as usize, turn);
                    Ok(s)
                })
            })?;
            assert_eq!(turns, 3);
            Ok(())
        }
    })
    .unwrap();
}

#[test]
fn different_parameters_are_an_error_on_every_rank() {
    let errors = p2p::threads(2, |world| {
        let given = parameters::Parameters { turns: 2, extra: world.rank() as i32 };
        Ok(parameters::join(&world, given).err())
    });
    for error in errors.unwrap() {
        let text = error.expect("nobody may start").to_string();
        assert!(text.contains("extra = 0") && text.contains("extra = 1"), "{text}");
    }
}

#[test]
fn different_protocols_are_an_error_on_every_rank() {
    let errors = p2p::threads(2, |world| {
        Ok(if world.rank() == 0 { sheet::join(&world).err() } else { two_rows::join(&world).err() })
    });
    for error in errors.unwrap() {
        let text = error.expect("nobody may start").to_string();
        assert!(text.contains("`sheet`") && text.contains("`two_rows`"), "{text}");
    }
}
