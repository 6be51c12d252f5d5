//! A message read as something that it is not.

use super::draft::{by_place, player};
use super::wildcard_steals_message::is_stolen;
use super::{Check, Rule};
use crate::engine::{At, Case, Observation, Seen, describe};
use crate::finding::{Finding, Group, Level};
use crate::model::World;

pub(super) const RULE: Rule = Rule {
    name: "type-mismatch",
    group: Group::Pairing,
    level: Level::Deny,
    doc: include_str!("doc.md"),
    check: Check::World(check),
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let matched = case.seen.iter().filter_map(|seen| match seen.observation {
        Observation::TypeMismatch { send, receive } if !is_stolen(case, send, receive) => {
            Some((send, receive, seen))
        }
        _ => None,
    });
    let places = by_place(case, matched, |(send, _, _)| *send);
    let mut findings: Vec<Finding> =
        places.iter().map(|(_, matched)| types_differ(case.world, matched)).collect();
    findings.extend(case.seen.iter().filter_map(|seen| decision_unknown(case.world, seen)));
    findings
}

fn types_differ(world: &World, matched: &[(At, At, &Seen)]) -> Finding {
    let (send, receive, seen) = matched[0];
    let (sent, read) = (describe::type_sent(world, send), describe::type_received(world, receive));
    let message = format!(
        "{} sends `{sent}`, and {} receives it as `{read}`",
        player(world, send.0),
        player(world, receive.0)
    );
    RULE.finding(world, send, message, format!("sends `{sent}`"))
        .other_end(world, receive, format!("receives `{read}`"))
        .ranks(matched.iter().flat_map(|(send, receive, _)| [send.0, receive.0]).collect())
        .trace(&seen.trace)
        .note("tags and ranks agree, so the bytes are delivered and read as another type: MPI says nothing")
        .help(world.dialect.words(
            "name the same message, or at least the same type, at both ends",
            "give both ends the same element type; say it where it is inferred: `receive::<f64>()`, `[0.0_f64; 8]`",
            "give both ends the same datatype",
        ))
}

fn decision_unknown(world: &World, seen: &Seen) -> Option<Finding> {
    let Observation::WrongDecision { offer, source, label } = seen.observation else { return None };
    let from = source.map_or_else(|| "somebody".to_owned(), |source| player(world, source));
    let label = describe::label(world, label);
    let message =
        format!("{from} decides {label}, and {} has no arm for it", player(world, offer.0));
    let finding = RULE
        .finding(world, offer, message, format!("no arm for {label}"))
        .ranks(source.into_iter().chain([offer.0]).collect())
        .trace(&seen.trace)
        .help(format!("offer an arm {label}, or do not choose it"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{all, c};
    use crate::engine::samples::{receive, send};
    use crate::model::Action;

    #[test]
    fn bytes_and_packed_data_go_with_every_type() {
        let with = |action: Action, datatype, count| {
            let mut action = action;
            for envelope in action.envelopes_mut() {
                envelope.data.datatype = Some(datatype);
                envelope.data.count = Some(count);
            }
            action
        };
        let found = |bytes: u64| {
            let sends = with(send(1, 0), 1, 4);
            let world = c(vec![vec![sends], vec![with(receive(0, 0), 3, bytes)]]);
            all(&world).iter().map(|finding| finding.rule).collect::<Vec<_>>()
        };
        assert_eq!(found(16), [""; 0], "four floats are sixteen bytes");
        assert_eq!(found(15), ["truncation"]);
        let other = c(vec![vec![with(send(1, 0), 1, 4)], vec![with(receive(0, 0), 0, 16)]]);
        assert_eq!(all(&other)[0].rule, "type-mismatch");
    }
}
