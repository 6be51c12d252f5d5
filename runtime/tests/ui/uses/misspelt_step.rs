//! A step that no state has.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| {
        let (_, s) = s.send_blok(&[1.0])?.recv_count()?;
        Ok(s)
    })
}

fn main() {}
