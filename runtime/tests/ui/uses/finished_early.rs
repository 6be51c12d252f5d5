//! The protocol goes on, and the closure does not.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| s.send_block(&[1.0]))
}

fn main() {}
