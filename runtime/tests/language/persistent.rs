//! Requests that are planned once and started many times.

use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
mod steady {
    pub type Row = [f64];
    pub type Count = u32;

    #[rank(0)]
    fn sender(steps: usize) {
        let row = send_init(1, Row);
        let count = send_init(1, Count);
        for _step in 0..steps {
            start(row);
            start(count);
            wait(row);
            wait(count);
        }
    }

    #[rank(1)]
    fn receiver(steps: usize) {
        let row = recv_init(0, Row);
        let count = recv_init(any(0..1), Count);
        for _step in 0..steps {
            start(row);
            start(count);
            wait_all(row, count);
        }
    }
}

#[test]
fn planned_requests_are_started_again_with_any_buffer() {
    p2p::threads(2, |world| match steady::join(&world, steady::Parameters { steps: 3 })? {
        steady::Role::Sender(sender) => {
            let mut row = vec![0.0; 2];
            sender.run(|s| {
                s.send_init_row()?.send_init_count()?.for_each_step(|step, s| {
                    row[1] = step as f64;
                    let s = s.start_row(std::mem::take(&mut row))?.start_count(step as u32)?;
                    let (back, s) = s.wait_row()?;
                    row = back;
                    s.wait_count()
                })
            })?;
            assert_eq!(row, [0.0, 2.0]);
            Ok(())
        }
        steady::Role::Receiver(receiver) => receiver.run(|s| {
            s.recv_init_row()?.recv_init_count()?.for_each_step(|step, s| {
                let (row, from, count, s) = s.start_row(vec![9.0; 3])?.start_count()?.wait_all()?;
                assert_eq!(row, [0.0, step as f64, 9.0]);
                assert_eq!((from, count), (0, step as u32));
                Ok(s)
            })
        }),
    })
    .unwrap();
}
