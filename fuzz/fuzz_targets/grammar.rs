//! Text -> tokens -> tree -> verdict: none of it panics, whatever the text.
//!
//! The text is a Rust file; each protocol in it is read, and judged if it is right. So the
//! fixtures are a corpus to start from:
//!
//! ```text
//! cargo fuzz run -s none grammar fuzz/corpus/grammar fixtures -- -dict=fuzz/grammar.dict
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;
use p2p_protocol::grammar::{self, CheckOptions};

#[path = "../../protocol/tests/grammar/source.rs"]
#[expect(dead_code, reason = "the other half is for the tests beside it")]
mod source;

fuzz_target!(|text: &str| {
    for (attribute, module) in source::modules(text) {
        let (protocol, errors) = grammar::parse(attribute, module);
        if let Some(protocol) = protocol.filter(|_| errors.is_empty()) {
            grammar::check(&protocol, &CheckOptions { sizes: Some(vec![1, 3]), ..CheckOptions::default() });
        }
    }
});
