//! A question of one rank, and the answer to another.

#[p2p_protocol(ranks = 3)]
mod answers {
    type Question = i32;
    type Answer = i32;

    #[rank(0)]
    fn root() {
        for turn in 1..size {
            let worker = probe(any(1..size), Question);
            recv(worker, Question);
            send(worker, Answer);
        }
    }

    #[rank(1..)]
    fn worker() {
        let question = isend(0, Question);
        recv(0, Answer);
        wait(question);
    }
}
