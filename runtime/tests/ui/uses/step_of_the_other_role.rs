//! A step that only the other role has.

include!("../shared/pair.rs");

fn follow(sender: pair::Sender<'_>) -> p2p::Result<()> {
    let mut block = [0.0; 4];
    sender.run(|s| {
        let s = s.recv_block(&mut block)?;
        s.send_count(1)
    })
}

fn main() {}
