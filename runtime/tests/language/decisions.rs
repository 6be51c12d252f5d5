//! One rank decides, the others learn it.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2..)]
mod voting {
    pub type Number = u64;

    #[rank(0)]
    fn leader() {
        loop {
            match choose(1..size) {
                Add => {
                    for dest in 1..size {
                        send(dest, Number);
                    }
                }
                Double => {}
                Finish => {
                    for source in 1..size {
                        recv(source, Number);
                    }
                    break;
                }
            }
        }
        match choose() {
            Loud => {}
            Silent => {}
        }
        match choose([1, 1]) {
            Once => {}
            Never => {}
        }
    }

    #[rank(1..)]
    fn follower() {
        loop {
            match offer(0) {
                Add => recv(0, Number),
                Double => {}
                Finish => {
                    send(0, Number);
                    break;
                }
            }
        }
        if rank == 1 {
            match offer(0) {
                Once => {}
                Never => {}
            }
            match offer(0) {
                Never => {}
                Once => {}
            }
        }
    }
}

#[test]
fn every_follower_learns_every_decision() {
    use voting::{FollowerOffered, FollowerOffered2, FollowerOffered3};
    p2p::threads(3, |world| match voting::join(&world)? {
        voting::Role::Leader(leader) => leader.run(|s| {
            let s = s.choose_add()?.for_each_dest(|dest, s| s.send_number(dest as u64))?;
            let s = s.choose_double()?.choose_double()?;
            let s = s.choose_finish()?.for_each_source(|source, s| {
                let (number, s) = s.recv_number()?;
                assert_eq!(number, 4 * source as u64);
                Ok(s)
            })?;
            s.choose_silent()?.choose_once()
        }),
        voting::Role::Follower(follower) => {
            let mut number = 0;
            follower.run(|mut s| {
                let s = loop {
                    match s.offer()? {
                        FollowerOffered::Add(add) => {
                            let (more, next) = add.recv_number()?;
                            number += more;
                            s = next;
                        }
                        FollowerOffered::Double(next) => {
                            number *= 2;
                            s = next;
                        }
                        FollowerOffered::Finish(finish) => break finish.send_number(number)?,
                    }
                };
                s.when(|s| {
                    let s = match s.offer()? {
                        FollowerOffered2::Once(s) => s,
                        FollowerOffered2::Never(_) => unreachable!("the leader said once"),
                    };
                    match s.offer()? {
                        FollowerOffered3::Once(s) => Ok(s),
                        FollowerOffered3::Never(_) => unreachable!("the leader said once"),
                    }
                })
            })
        }
    })
    .unwrap();
}
