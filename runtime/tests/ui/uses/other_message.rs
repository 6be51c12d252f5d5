//! Another message than the protocol says.

include!("../shared/pair.rs");

fn follow(receiver: pair::Receiver<'_>) -> p2p::Result<()> {
    let mut block = [0.0; 4];
    receiver.run(|s| {
        let s = s.recv_block(&mut block)?;
        s.send_block(&block)
    })
}

fn main() {}
