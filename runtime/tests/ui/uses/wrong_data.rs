//! Data of another type.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| {
        let (_, s) = s.send_block(&[1_u8])?.recv_count()?;
        Ok(s)
    })
}

fn main() {}
