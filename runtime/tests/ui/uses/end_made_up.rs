//! The end cannot be made up.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| Ok(pair::Done { session: s.session }))
}

fn main() {}
