//! Each mode of sending, blocking and not.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
mod blocking {
    pub type Value = i32;
    pub type Block = [i32];
    /// Says that a receive is posted.
    pub type Posted = u8;

    #[rank(0)]
    fn sender() {
        send(1, Value);
        ssend(1, Value);
        bsend(1, Value);
        recv(1, Posted);
        rsend(1, Value);
        send(1, Block);
        ssend(1, Block);
        bsend(1, Block);
    }

    #[rank(1)]
    fn receiver() {
        recv(0, Value);
        recv(0, Value);
        recv(0, Value);
        let last = irecv(0, Value);
        send(0, Posted);
        wait(last);
        recv(0, Block);
        recv(0, Block);
        recv(0, Block);
    }
}

#[test]
fn every_blocking_mode_delivers() {
    p2p::threads(2, |world| match blocking::join(&world)? {
        blocking::Role::Sender(sender) => sender.run(|s| {
            let s = s.send_value(1)?.ssend_value(2)?.bsend_value(3)?;
            let (_, s) = s.recv_posted()?;
            let s = s.rsend_value(4)?;
            // Borrowed in every way, and given away.
            let owned = vec![7, 8, 9];
            s.send_block(&[5, 6])?.ssend_block(&owned[1..])?.bsend_block(owned)
        }),
        blocking::Role::Receiver(receiver) => {
            let mut values = Vec::new();
            let mut room = [0; 4];
            receiver.run(|s| {
                let (value, s) = s.recv_value()?;
                values.push(value);
                let (value, s) = s.recv_value()?;
                values.push(value);
                let (value, s) = s.recv_value()?;
                values.push(value);
                let (value, s) = s.irecv_value()?.send_posted(1)?.wait()?;
                values.push(value);
                let (block, s) = s.recv_block_vec()?;
                assert_eq!(block, [5, 6]);
                let s = s.recv_block(&mut room)?;
                let mut last = Vec::new();
                let s = s.recv_block(&mut last)?;
                assert_eq!(last, [7, 8, 9]);
                Ok(s)
            })?;
            assert_eq!(values, [1, 2, 3, 4]);
            assert_eq!(room, [8, 9, 0, 0], "what is longer than the message stays as it was");
            Ok(())
        }
    })
    .unwrap();
}

#[p2p_protocol(ranks = 2)]
mod started {
    pub type Block = [u8];
    /// Says that a receive is posted.
    pub type Posted = u8;

    #[rank(0)]
    fn sender() {
        let standard = isend(1, Block);
        let synchronous = issend(1, Block);
        let buffered = ibsend(1, Block);
        recv(1, Posted);
        let ready = irsend(1, Block);
        wait_all(standard, synchronous, buffered);
        wait(ready);
    }

    #[rank(1)]
    fn receiver() {
        let last = irecv(0, Block);
        let second = irecv(0, Block);
        let third = irecv(0, Block);
        let fourth = irecv(0, Block);
        send(0, Posted);
        wait_all(last, second, third, fourth);
    }
}

#[test]
fn every_non_blocking_mode_delivers_and_hands_the_buffer_back() {
    p2p::threads(2, |world| {
        let still = [1_u8, 2];
        match started::join(&world)? {
            started::Role::Sender(sender) => sender.run(|s| {
                let s = s.isend_block(vec![0_u8, 1])?.issend_block(&still[..])?;
                let s = s.ibsend_block(vec![2_u8, 3].into_boxed_slice())?;
                let (_, s) = s.recv_posted()?;
                let s = s.irsend_block(vec![3_u8, 4])?;
                let (standard, synchronous, buffered, s) = s.wait_all()?;
                assert_eq!((standard, synchronous), (vec![0, 1], &still[..]));
                assert_eq!(*buffered, [2, 3]);
                let (ready, s) = s.wait_ready()?;
                assert_eq!(ready, [3, 4]);
                Ok(s)
            }),
            started::Role::Receiver(receiver) => {
                let (mut first, mut second) = ([0; 2], [0; 2]);
                receiver.run(|s| {
                    let s = s.irecv_block(&mut first)?.irecv_block(&mut second[..])?;
                    let s = s.irecv_block(vec![0; 2])?.irecv_block(vec![9; 3])?.send_posted(1)?;
                    let (first, second, third, fourth, s) = s.wait_all()?;
                    assert_eq!((*first, &*second), ([0, 1], &[1, 2][..]));
                    assert_eq!((third, fourth), (vec![2, 3], vec![3, 4, 9]));
                    Ok(s)
                })?;
                assert_eq!((first, second), ([0, 1], [1, 2]));
                Ok(())
            }
        }
    })
    .unwrap();
}
