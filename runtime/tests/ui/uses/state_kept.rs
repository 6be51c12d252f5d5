//! A state cannot leave its run.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    let mut kept = None;
    sender.run(|s| {
        kept = Some(s);
        Err(p2p::Error::other("kept"))
    })
}

fn main() {}
