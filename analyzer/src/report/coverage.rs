//! How far each call was understood, one line a call.

use crate::coverage::Call;
use crate::evaluate::Understood;
use crate::source::Sources;

/// `file:line: name: understood`, or what is not and why.
pub(super) fn lines(sources: &Sources, calls: &[Call]) -> String {
    let line = |call: &Call| {
        let how = match &call.understood {
            Understood::Fully => "understood".to_owned(),
            Understood::Partly(why) => format!("understood in part: {why}"),
            Understood::Not(why) => format!("not understood: {why}"),
        };
        format!("{}: {}: {how}\n", sources.short(&call.at), call.name)
    };
    calls.iter().map(line).collect()
}
