//! Two protocols of one program may have the same roles and messages.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
pub mod there {
    pub type Block = [f32];
    pub type Count = u32;

    #[rank(0)]
    fn sender() {
        send(1, Block);
        recv(1, Count);
    }

    #[rank(1)]
    fn receiver() {
        recv(0, Block);
        send(0, Count);
    }
}

#[p2p_protocol(ranks = 2)]
pub mod back {
    pub type Block = [f32];
    pub type Count = u32;

    #[rank(1)]
    fn sender() {
        send(0, Block);
        recv(0, Count);
    }

    #[rank(0)]
    fn receiver() {
        recv(1, Block);
        send(1, Count);
    }
}

fn follow(sender: back::Sender<'_>) -> p2p::Result<()> {
    sender.run(|s| {
        let (count, s) = s.recv_count()?;
        println!("{count}");
        s.send_block(&[1.0])
    })
}

fn main() {}
