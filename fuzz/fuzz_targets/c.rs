//! Text -> expanded text -> tree -> program -> what its ranks do: none of it panics, whatever the text.
//!
//! The text is a C file without headers of its own. The fixtures are a corpus to start from:
//!
//! ```text
//! cargo fuzz run -s none c fuzz/corpus/c fixtures/c/*/ -- -dict=fuzz/c.dict -timeout=30
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;
use p2p_analyzer::evaluate::{Limits, evaluate};
use p2p_analyzer::read::c;

fuzz_target!(|text: &str| {
    // Deep texts need the room that the checker gives them.
    let looked = p2p_analyzer::read::with_room(None, || {
        if let Ok(program) = c::from_text(text) {
            for entry in &program.entries {
                evaluate(&program, entry, 2, Limits::default());
            }
        }
    });
    assert!(looked.is_ok(), "threads can be started");
});
