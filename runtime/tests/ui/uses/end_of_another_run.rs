//! The end of one run is not that of another.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>, other: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| {
        other.run(|_| {
            let (_, done) = s.send_block(&[1.0])?.recv_count()?;
            Ok(done)
        })?;
        unreachable!()
    })
}

fn main() {}
