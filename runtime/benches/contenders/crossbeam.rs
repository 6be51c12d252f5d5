//! crossbeam-channel, `bounded(1)`, one channel for each direction.

use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::{MEGABYTE, Sample, pin, time, warm_up};

fn link<T>() -> (Sender<T>, Receiver<T>) {
    bounded(1)
}

/// Sends back whatever comes, so often.
fn echo<T>(trips: u32, incoming: &Receiver<T>, outgoing: &Sender<T>) {
    for _ in 0..trips {
        outgoing.send(incoming.recv().expect("the peer is there")).expect("the peer is there");
    }
}

pub(crate) fn pair(trips: u32) -> Sample {
    pair_after(trips, |_| ())
}

pub(crate) fn pinned_pair(trips: u32) -> Sample {
    aside(|| pair_after(trips, pin))
}

/// On a thread of its own, so that the benchmark's own thread may still go where it likes.
fn aside(run: impl FnOnce() -> Sample + Send) -> Sample {
    thread::scope(|scope| scope.spawn(run).join().expect("it does not panic"))
}

fn pair_after(trips: u32, place: fn(usize)) -> Sample {
    let (there, at_other) = link::<u32>();
    let (back, at_one) = link();
    thread::scope(|scope| {
        scope.spawn(move || {
            place(1);
            echo(trips + warm_up(trips), &at_other, &back);
        });
        place(0);
        time(trips, || {
            there.send(7).expect("the peer is there");
            assert_eq!(at_one.recv().expect("the peer is there"), 7);
        })
    })
}

pub(crate) fn two_pairs(trips: u32) -> Sample {
    thread::scope(|scope| {
        let other = scope.spawn(|| pair(trips));
        let one = pair(trips);
        other.join().expect("the pair does not panic");
        one
    })
}

pub(crate) fn ring(trips: u32) -> Sample {
    let (first, mut incoming) = link::<u32>();
    thread::scope(|scope| {
        for _ in 1..4 {
            let (outgoing, next) = link();
            let from = std::mem::replace(&mut incoming, next);
            scope.spawn(move || echo(trips + warm_up(trips), &from, &outgoing));
        }
        time(trips, || {
            first.send(7).expect("the peer is there");
            assert_eq!(incoming.recv().expect("the peer is there"), 7);
        })
    })
}

pub(crate) fn moved(trips: u32) -> Sample {
    moved_after(trips, |_| ())
}

pub(crate) fn pinned_moved(trips: u32) -> Sample {
    aside(|| moved_after(trips, pin))
}

fn moved_after(trips: u32, place: fn(usize)) -> Sample {
    let (there, at_other) = link::<Vec<f32>>();
    let (back, at_one) = link();
    thread::scope(|scope| {
        scope.spawn(move || {
            place(1);
            echo(trips + warm_up(trips), &at_other, &back);
        });
        place(0);
        let mut data = Some(vec![1.0; MEGABYTE]);
        time(trips, || {
            there.send(data.take().expect("it came back")).expect("the peer is there");
            data = Some(at_one.recv().expect("the peer is there"));
        })
    })
}
