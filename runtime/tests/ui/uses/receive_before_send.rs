//! The steps in the wrong order.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| {
        let (count, s) = s.recv_count()?;
        println!("{count}");
        s.send_block(&[1.0])
    })
}

fn main() {}
