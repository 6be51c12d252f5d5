//! What is not known: that it is never taken for something, and whether it is the same everywhere.

use super::{told, told_by};
use crate::evaluate::tests::evaluated;

/// The tags that stand for numbers which are not known, but are the same on every rank.
fn is_uniform(tag: i32) -> bool {
    tag <= -1_000_000_000
}

#[test]
fn arguments_are_the_same_everywhere() {
    let text = "let n: i32 = std::env::args().nth(1).unwrap().parse().unwrap(); tell(n);
                let n: i32 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(10);
                tell(n);
                let all: Vec<String> = std::env::args().collect();
                tell(all[1].parse::<i32>().unwrap() + 1);
                tell(std::env::var(\"N\").unwrap().parse::<i32>().unwrap());";
    let (one, other) = (told_by(0, text), told_by(1, text));
    assert_eq!(one, other);
    assert!(one.len() == 4 && one.iter().all(|tag| is_uniform(*tag)), "{one:?}");
    assert!(one[0] != one[1] && one[1] != one[2] && one[2] != one[3]);
}

#[test]
fn a_vector_of_an_unknown_length_has_it() {
    let text = "let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
                let v: Vec<f64> = (0..n).map(|i| i as f64).collect();
                let w = vec![0.0; n];
                if v.len() == n { tell(1); } else { tell(2); }
                if w.len() == n { tell(1); } else { tell(2); }
                if v.iter().map(|x| x + 1.0).collect::<Vec<_>>().len() == w.len() { tell(1); }";
    assert_eq!(told(text), [1, 1, 1]);
}

#[test]
fn time_is_not_the_same_everywhere() {
    let text = "let t = std::time::Instant::now(); let x = t.elapsed().as_secs() as i32;
                world.process_at_rank(0).send_with_tag(&1, x);";
    let evaluated = evaluated(text, 2);
    assert!(!evaluated.lost.is_empty());
}

#[test]
fn a_closure_on_what_may_not_be_there_leaves_what_it_changes_unknown() {
    let text = "let x: Option<i32> = std::env::args().nth(1).map(|s| s.parse().unwrap());
                let mut seen = 0;
                x.map(|_| { seen = 1; });
                let tag = if seen == 1 { 5 } else { 5 }; tell(tag);
                std::env::args().skip(1).for_each(|_| seen += 1);
                tell(6);";
    assert_eq!(told(text), [5, 6]);
}

#[test]
fn a_slice_with_unknown_ends_has_no_known_length() {
    crate::evaluate::tests::does(
        "let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
         let v = vec![0.5_f64; 10];
         if rank == 0 {
             let to = world.process_at_rank(1);
             to.send(&v[..n]); to.send(&v[n..]); to.send(&v[n..n + 2]); to.send(&v[n]);
             to.send(v.split_at(n).0);
             for c in v.chunks(n) { to.send(c); break; }
             to.send(&[0_u8; 4][..2]);
         }",
        2,
        &[
            "0: send 1 tag 0 ? x f64; send 1 tag 0 ? x f64; send 1 tag 0 ? x f64; \
             send 1 tag 0 1 x f64; send 1 tag 0 ? x f64; send 1 tag 0 ? x f64; send 1 tag 0 2 x u8",
            "1:",
        ],
    );
}

/// Nobody knows what it is, but to ask for its length does not make it another one.
#[test]
fn what_is_only_looked_at_stays_the_same() {
    let text = "let a = somewhere::else_entirely();
        if a.len() == a.len() { tell(1); } else { tell(2); }";
    assert_eq!(told(text), [1]);
}

#[test]
fn derived_arguments_are_the_same_everywhere() {
    let text = "#[derive(Parser)] struct Args { #[arg(long)] window: usize, name: Option<String> }
        let args = Args::parse(); tell(args.window as i32);
        let again: Args = Args::try_parse().unwrap(); tell(again.window as i32);";
    let (one, other) = (told_by(0, text), told_by(1, text));
    assert_eq!(one, other);
    assert!(one.len() == 2 && one[0] == one[1] && is_uniform(one[0]), "{one:?}");
}

#[test]
fn what_is_made_of_a_value_to_be_sent_are_bytes() {
    crate::evaluate::tests::does(
        "use bincode::serde::encode_to_vec;
         if rank == 0 {
             let to = world.process_at_rank(1);
             to.send(&bincode::serialize(&rank).unwrap());
             to.send(&encode_to_vec(&rank, bincode::config::standard()).expect(\"bytes\")[..]);
             to.send(&serde_json::to_vec(&rank).unwrap());
             let mut bytes = vec![]; ciborium::into_writer(&rank, &mut bytes).unwrap(); to.send(&bytes[..]);
             to.send(&format!(\"rank {rank} of {}\", size).into_bytes());
         }",
        2,
        &[
            "0: send 1 tag 0 ? x u8; send 1 tag 0 ? x u8; send 1 tag 0 ? x u8; \
             send 1 tag 0 ? x ?; send 1 tag 0 11 x u8",
            "1:",
        ],
    );
}
