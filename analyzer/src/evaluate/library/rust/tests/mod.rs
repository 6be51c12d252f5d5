//! From the text of a program to what Rust's own library makes of it.
//!
//! A program tells its numbers as tags of messages to itself: `tell(3)`.

mod iterators;
mod maps;
mod numbers;
mod options;
mod sequences;
mod unknowns;
mod wrappers;

use p2p_protocol::model::{Action, Tag};

use crate::evaluate::tests::evaluated;

/// What one rank of two tells in the ordinary world.
fn told_by(rank: usize, statements: &str) -> Vec<i32> {
    let text = format!(
        "let me = world.process_at_rank(0); let tell = |x: i32| me.send_with_tag(&x, x);
         {statements}
         world.any_process().receive::<i32>();"
    );
    let evaluated = evaluated(&text, 2);
    let (world, _) = evaluated.worlds.first().expect("there is a world");
    let events = &world.behaviours[rank].events;
    events
        .iter()
        .filter_map(|event| match &event.action {
            Action::Send { envelope, .. } => match envelope.tag {
                Tag::Exact(tag) => Some(tag),
                other => panic!("{other:?} in {text}"),
            },
            // Takes any tag, so that any can be told.
            Action::Receive { .. } => None,
            other => panic!("{other:?} in {text}\n{:?}", evaluated.gaps),
        })
        .collect()
}

/// What rank 0 tells in the ordinary world.
fn told(statements: &str) -> Vec<i32> {
    told_by(0, statements)
}

/// Asserts what rank 0 tells for one expression after the other.
#[track_caller]
fn tells(cases: &[(&str, i32)]) {
    let told = |expression: &str| {
        std::panic::catch_unwind(|| told(&format!("tell({expression});"))).unwrap_or_default()
    };
    let wrong: Vec<_> = cases
        .iter()
        .map(|(expression, expected)| (expression, told(expression), expected))
        .filter(|(_, told, expected)| *told != [**expected])
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
