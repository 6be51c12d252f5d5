//! The same exchanges in typed steps.

use p2p::{Result, p2p_protocol};

use super::{Clock, Sample, pin, warm_up};

#[p2p_protocol(ranks = 2)]
pub(crate) mod ping {
    pub type Token = u32;

    #[rank(0)]
    fn asker(warm_up: usize, trips: usize) {
        for _trip in 0..warm_up {
            send(1, Token);
            recv(1, Token);
        }
        for _trip in 0..trips {
            send(1, Token);
            recv(1, Token);
        }
    }

    #[rank(1)]
    fn answerer(warm_up: usize, trips: usize) {
        for _trip in 0..warm_up + trips {
            recv(0, Token);
            send(0, Token);
        }
    }
}

#[p2p_protocol(ranks = 1)]
pub(crate) mod alone {
    pub type Token = u32;

    #[rank(0)]
    fn one(warm_up: usize, trips: usize) {
        for _trip in 0..warm_up {
            bsend(0, Token);
            recv(0, Token);
        }
        for _trip in 0..trips {
            bsend(0, Token);
            recv(0, Token);
        }
    }
}

fn parameters(trips: u32) -> (usize, usize) {
    (warm_up(trips) as usize, trips as usize)
}

pub(crate) fn pinned_pair(trips: u32) -> Sample {
    let (warm_up, count) = parameters(trips);
    let samples = p2p::threads(2, |world| {
        pin(world.rank());
        match ping::join(&world, ping::Parameters { warm_up, trips: count })? {
            ping::Role::Asker(asker) => ask(asker, trips).map(Some),
            ping::Role::Answerer(answerer) => answer(answerer).map(|()| None),
        }
    });
    samples.expect("the exchange is right")[0].expect("rank 0 measures")
}

fn ask(asker: ping::Asker<'_>, trips: u32) -> Result<Sample> {
    let mut sample = None;
    asker.run(|s| {
        let s = s.for_each_trip(|_, s| {
            let (value, s) = s.send_token(7)?.recv_token()?;
            assert_eq!(value, 7);
            Ok(s)
        })?;
        let clock = Clock::start();
        let done = s.for_each_trip(|_, s| {
            let (value, s) = s.send_token(7)?.recv_token()?;
            assert_eq!(value, 7);
            Ok(s)
        })?;
        sample = Some(clock.stop(trips));
        Ok(done)
    })?;
    Ok(sample.expect("the steps ended"))
}

fn answer(answerer: ping::Answerer<'_>) -> Result<()> {
    answerer.run(|s| {
        s.for_each_trip(|_, s| {
            let (value, s) = s.recv_token()?;
            s.send_token(value)
        })
    })
}

pub(crate) fn alone(trips: u32) -> Sample {
    let (warm_up, count) = parameters(trips);
    let samples = p2p::threads(1, |world| {
        let alone::Role::One(one) =
            alone::join(&world, alone::Parameters { warm_up, trips: count })?;
        talk_to_itself(one, trips)
    });
    samples.expect("the exchange is right")[0]
}

fn talk_to_itself(one: alone::One<'_>, trips: u32) -> Result<Sample> {
    let mut sample = None;
    one.run(|s| {
        let s = s.for_each_trip(|_, s| {
            let (value, s) = s.bsend_token(7)?.recv_token()?;
            assert_eq!(value, 7);
            Ok(s)
        })?;
        let clock = Clock::start();
        let done = s.for_each_trip(|_, s| {
            let (value, s) = s.bsend_token(7)?.recv_token()?;
            assert_eq!(value, 7);
            Ok(s)
        })?;
        sample = Some(clock.stop(trips));
        Ok(done)
    })?;
    Ok(sample.expect("the steps ended"))
}
