//! What is measured: the same loops for every contender.

use p2p::{Error, Result};

use super::contender::{Buffers, Contender, Together, WINDOW};

/// Which ranks a rank talks to.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) rank: usize,
    pub(crate) size: usize,
}

/// Does so many trips, and gives back for how many messages or steps that was.
pub(crate) fn run(
    contender: &mut impl Contender,
    subject: &str,
    place: Place,
    (words, trips): (usize, usize),
    buffers: &mut Buffers,
) -> Result<f64> {
    let peer = place.rank ^ 1;
    let asks = place.rank.is_multiple_of(2);
    let Buffers { out, into, cells } = buffers;
    let (out, into) = (&out[..words], &mut into[..words]);
    let mut messages = trips;
    match subject {
        "latency" => {
            messages = 2 * trips;
            for _ in 0..trips {
                if asks {
                    contender.send(peer, out)?;
                    contender.receive(peer, into)?;
                } else {
                    contender.receive(peer, into)?;
                    contender.send(peer, out)?;
                }
            }
        }
        "rate" => {
            messages = WINDOW * trips;
            for _ in 0..trips {
                if asks {
                    contender.send_window(peer)?;
                } else {
                    contender.receive_window(peer)?;
                }
                acknowledge(contender, peer, asks)?;
            }
        }
        "one-way" => {
            for _ in 0..trips {
                if asks {
                    contender.send(peer, out)?;
                } else {
                    contender.receive(peer, into)?;
                }
            }
            acknowledge(contender, peer, asks)?;
        }
        "fresh" => {
            for _ in 0..trips {
                if asks {
                    contender.send(peer, out)?;
                } else if contender.receive_fresh(peer)?.last() != out.last() {
                    return Err(Error::other("a fresh buffer brings something else"));
                }
            }
            acknowledge(contender, peer, asks)?;
        }
        "planned" => {
            for _ in 0..trips {
                contender.planned(peer, words)?;
            }
        }
        "put" => {
            for _ in 0..trips {
                contender.put(peer, out)?;
            }
        }
        "barrier" | "bcast" | "all-reduce" | "all-gather" | "all-to-all" => {
            let what = match subject {
                "barrier" => Together::Barrier,
                "bcast" => Together::Bcast,
                "all-reduce" => Together::AllReduce,
                "all-gather" => Together::AllGather,
                _ => Together::AllToAll,
            };
            let out = if subject == "all-gather" { &out[..words / place.size] } else { out };
            into.fill(0);
            for _ in 0..trips {
                contender.together(what, out, into)?;
            }
            into.fill(1);
        }
        "both-ways" => {
            for _ in 0..trips {
                contender.exchange(peer, out, into)?;
            }
        }
        "halo" | "halo-overlap" => {
            let Place { rank, size } = place;
            let neighbours = [(rank + size - 1) % size, (rank + 1) % size];
            for _ in 0..trips {
                if subject == "halo" {
                    contender.halo(neighbours, words, || ())?;
                    Buffers::compute(cells);
                } else {
                    contender.halo(neighbours, words, || Buffers::compute(cells))?;
                }
            }
        }
        _ => return Err(Error::other(format!("there is no subject `{subject}`"))),
    }
    Ok(messages as f64)
}

/// One word back, so that the clock stops when the last message has come.
fn acknowledge(contender: &mut impl Contender, peer: usize, asks: bool) -> Result<()> {
    if asks { contender.receive(peer, &mut [0]) } else { contender.send(peer, &[0]) }
}
