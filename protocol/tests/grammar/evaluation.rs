//! What a protocol's ranks do, event by event.

use p2p_protocol::grammar;
use p2p_protocol::model::{Action, Completion, Peer, Tag, World};

use crate::source::{lines, protocol, with_messages};

/// The world of a text.
fn world(text: &str, size: u32, parameters: &[(&str, i64)], grid: Option<(u32, u32)>) -> World {
    let parameters: Vec<(String, i64)> =
        parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    grammar::evaluate(&protocol(text), size, &parameters, grid)
        .unwrap_or_else(|errors| panic!("{}", lines(&errors).join("\n")))
}

/// What rank 0 does when all ranks do this.
fn first_of(size: u32, body: &str) -> Vec<String> {
    let role = format!("#[rank(_)] fn all() {{ {body} }}");
    events(&world(&with_messages("ranks = 1..", &role), size, &[], None), 0)
}

/// The events of a rank, each in a few words.
fn events(world: &World, rank: usize) -> Vec<String> {
    let behaviour = &world.behaviours[rank];
    behaviour.events.iter().map(|event| in_words(&event.action)).collect()
}

fn peer(peer: Peer) -> String {
    match peer {
        Peer::Rank(rank) => rank.to_string(),
        Peer::Any { first, end } => format!("{first}..{end}"),
        Peer::Source(slot) => format!("source {slot}"),
        Peer::Outside(rank) => format!("outside {rank}"),
        Peer::Null => "nobody".to_owned(),
    }
}

fn in_words(action: &Action) -> String {
    match action {
        Action::Send { envelope, .. } => format!("send {}", peer(envelope.peer)),
        Action::Receive { envelope, binds: None } => format!("recv {}", peer(envelope.peer)),
        Action::Receive { envelope, binds: Some(slot) } => {
            format!("source {slot} = recv {}", peer(envelope.peer))
        }
        Action::SendReceive { send, receive } => {
            format!("sendrecv {} {}", peer(send.peer), peer(receive.peer))
        }
        Action::StartSend { envelope, request, .. } => {
            format!("{request} = isend {}", peer(envelope.peer))
        }
        Action::StartReceive { envelope, request, .. } => {
            format!("{request} = irecv {}", peer(envelope.peer))
        }
        Action::PlanSend { request, .. } => format!("{request} = send_init"),
        Action::PlanReceive { request, .. } => format!("{request} = recv_init"),
        Action::Start { requests } => format!("start {requests:?}"),
        Action::Wait { requests, completion: Completion::All } => format!("wait {requests:?}"),
        Action::Wait { requests, completion: Completion::Any(None) } => {
            format!("wait any {requests:?}")
        }
        Action::Wait { requests, completion: Completion::Any(Some(targets)) } => {
            format!("wait any {requests:?} -> {targets:?}")
        }
        Action::Wait { requests, completion: Completion::Some } => {
            format!("wait some {requests:?}")
        }
        Action::Test { request, pending } => format!("test {request} or {pending}"),
        Action::Probe { envelope, .. } => format!("probe {}", peer(envelope.peer)),
        Action::Collective(collective) => format!("{:?}", collective.kind),
        Action::Put { .. } => "put".to_owned(),
        Action::Get { .. } => "get".to_owned(),
        Action::Choose { arms } => {
            format!("choose {:?}", arms.iter().map(|arm| arm.target).collect::<Vec<_>>())
        }
        Action::Offer { envelope, arms } => {
            let targets: Vec<usize> = arms.iter().map(|arm| arm.target).collect();
            format!("offer {} {targets:?}", peer(envelope.peer))
        }
        Action::Jump { target } => format!("jump {target}"),
        other => panic!("the language has no {other:?}"),
    }
}

#[test]
fn loops_are_unrolled() {
    assert_eq!(first_of(3, "for i in 1..size { send(i, A); }"), ["send 1", "send 2"]);
    assert_eq!(first_of(3, "for i in (1..size).rev() { send(i, A); }"), ["send 2", "send 1"]);
    assert_eq!(first_of(3, "for i in 1..=size { send(i, A); }"), ["send 1", "send 2", "send 3"]);
    assert_eq!(first_of(3, "for i in size..1 { send(i, A); }"), [""; 0]);
    let stepped = "for i in (0..6).step_by(2).rev() { send(i, A); }";
    assert_eq!(first_of(1, stepped), ["send 4", "send 2", "send 0"]);
    let stepped = "for i in (0..6).rev().step_by(2) { send(i, A); }";
    assert_eq!(first_of(1, stepped), ["send 5", "send 3", "send 1"]);
    let stepped = "for i in (0..6).rev().step_by(2).rev() { send(i, A); }";
    assert_eq!(first_of(1, stepped), ["send 1", "send 3", "send 5"]);
}

#[test]
fn a_value_stands_wherever_its_name_does() {
    let body = "let right: usize = (rank + 1) % size;
                let last = rank == size - 1;
                send(right * 2, A);
                if last || right == 1 { send(right, A); }
                for step in 1..3 { let partner = rank ^ (1 << step); send(partner, A); }
                for step in 0..right + 1 { let partner = step; send(partner, A); }";
    assert_eq!(first_of(3, body), ["send 2", "send 1", "send 2", "send 4", "send 0", "send 1"]);
    // What is never used is never computed.
    let unused = "let half = 1 / rank; if rank > 0 { send(half, A); } barrier();";
    assert_eq!(first_of(1, unused), ["Barrier"]);
    let text = with_messages(
        "grid(P, Q)",
        "#[rank((x, y))] fn cell() { let below = (x + 1, y); send(below, A); }",
    );
    assert_eq!(events(&world(&text, 6, &[], Some((3, 2))), 1), ["send 3"]);
}

#[test]
fn jumps_that_are_known_leave_no_trace() {
    let body =
        "for i in 0..9 { if i == 1 { continue; } if i == 3 { break; } send(i, A); } barrier();";
    assert_eq!(first_of(1, body), ["send 0", "send 2", "Barrier"]);
    let body = "'outer: for i in 0..9 { for j in 0..9 { if j == 1 { continue 'outer; }
                if i == 2 { break 'outer; } send(i, A); } } barrier();";
    assert_eq!(first_of(1, body), ["send 0", "send 1", "Barrier"]);
    assert_eq!(first_of(1, "loop { send(1, A); break; } barrier();"), ["send 1", "Barrier"]);
}

#[test]
fn jumps_out_of_decisions_are_jumps() {
    let body = "for i in 0..1 {
                    let a = irecv(1, A);
                    if test(a) { break; } else { send(i, A); }
                    wait(a);
                }
                barrier();";
    assert_eq!(
        first_of(2, body),
        ["0 = irecv 1", "test 0 or 3", "jump 5", "send 0", "wait [0]", "Barrier"]
    );
    let body = "'outer: for i in 0..2 {
                    for j in 0..2 { match choose() { Go => { break; } Stop => {} } break 'outer; }
                    send(i, A);
                }
                barrier();";
    assert_eq!(
        first_of(2, body),
        [
            "choose [1, 2]",
            "jump 3",
            "jump 8",
            "send 0",
            "choose [5, 6]",
            "jump 7",
            "jump 8",
            "send 1",
            "Barrier"
        ]
    );
}

#[test]
fn endless_loops_jump_back() {
    let body = "loop { match offer(1) { Go => { recv(1, A); } Stop => { break; } } } barrier();";
    assert_eq!(
        first_of(2, body),
        ["offer 1 [1, 3]", "recv 1", "jump 4", "jump 5", "jump 0", "Barrier"]
    );
}

#[test]
fn a_loop_that_only_tests_is_a_wait() {
    for spin in [
        "loop { if test(a) { break; } }",
        "loop { if !test(a) {} else { break; } }",
        "loop { if !test(a) { continue; } break; }",
        "'spin: loop { if test(a) { break 'spin; } else { continue 'spin; } }",
    ] {
        let body = format!("let a = irecv(1, A); {spin} barrier();");
        assert_eq!(first_of(2, &body), ["0 = irecv 1", "wait [0]", "Barrier"], "{spin}");
    }
    let working = first_of(2, "let a = irecv(1, A); loop { if test(a) { break; } send(1, B); }");
    assert_eq!(working, ["0 = irecv 1", "test 0 or 3", "jump 5", "send 1", "jump 1"]);
}

#[test]
fn sets_have_a_slot_for_each_request() {
    let body = "let set = requests();
                for i in 0..2 { set.push(isend(i, A)); }
                wait_all(set);
                wait_all(set);
                set.push(isend(2, A));
                wait_any(set);
                wait_all(set);";
    assert_eq!(
        first_of(3, body),
        ["0 = isend 0", "1 = isend 1", "wait [0, 1]", "0 = isend 2", "wait any [0]", "wait [0]"]
    );
}

#[test]
fn a_set_in_an_endless_loop_is_waited_for_also_before_it_is_filled() {
    let body = "let set = requests();
                set.push(isend(0, A));
                loop { wait_all(set); set.push(isend(1, A)); barrier(); }";
    assert_eq!(
        first_of(2, body),
        ["0 = isend 0", "wait [0, 1]", "1 = isend 1", "Barrier", "jump 1"]
    );
}

#[test]
fn a_set_that_was_waited_for_on_one_way_is_still_full_on_another() {
    let body = "let set = requests();
                set.push(isend(0, A));
                match choose() { Go => { wait_all(set); } Stop => {} }
                wait_all(set);
                wait_all(set);";
    assert_eq!(
        first_of(2, body),
        ["0 = isend 0", "choose [2, 4]", "wait [0]", "jump 4", "wait [0]"]
    );
    let body = "let set = requests();
                for i in 0..2 {
                    set.push(isend(0, A));
                    match choose() { Go => { break; } Stop => {} }
                    wait_all(set);
                }
                wait_all(set);";
    assert_eq!(
        first_of(2, body),
        [
            "0 = isend 0",
            "choose [2, 3]",
            "jump 8",
            "wait [0]",
            "1 = isend 0",
            "choose [6, 7]",
            "jump 8",
            "wait [0, 1]",
            "wait [0, 1]"
        ]
    );
}

#[test]
fn decisions_are_told_to_everybody_but_oneself() {
    let body = "match choose(0..size) { Go => { send(1, A); } Stop => {} }";
    let world = world(
        &with_messages("ranks = 1..", &format!("#[rank(_)] fn all() {{ {body} }}")),
        3,
        &[],
        None,
    );
    assert_eq!(
        events(&world, 1),
        ["choose [1, 5]", "send 0", "send 2", "send 1", "jump 7", "send 0", "send 2"]
    );
    let Action::Send { envelope, .. } = &world.behaviours[1].events[1].action else {
        panic!("the decision is sent")
    };
    assert_eq!(world.communicators[usize::from(envelope.communicator)].name, "decisions");
    assert_eq!(usize::from(envelope.communicator), world.communicators.len() - 1);
    assert_eq!(envelope.data.label, Some(0));
    assert_eq!(world.labels[..], ["Go", "Stop"]);
}

#[test]
fn whoever_was_met_is_a_peer() {
    let body =
        "let from = recv(any(1..), A); send(from, B); let from = probe(any(..), A); recv(from, A);";
    assert_eq!(
        first_of(3, body),
        ["source 0 = recv 1..3", "send source 0", "probe 0..3", "recv source 1"]
    );
}

#[test]
fn one_of_several_requests_goes_to_its_arm() {
    let body = "let a = irecv(1, A); let b = irecv(1, B);
                match wait_any(a, b) { b => { wait(a); } a => wait(b), }";
    assert_eq!(
        first_of(2, body),
        [
            "0 = irecv 1",
            "1 = irecv 1",
            "wait any [1, 0] -> [3, 5]",
            "wait [0]",
            "jump 6",
            "wait [1]"
        ]
    );
}

#[test]
fn persistent_requests_are_started_again() {
    let body = "let p = send_init(1, A); let q = recv_init(1, A);
                for i in 0..2 { start(p); start(q); wait_all(p, q); }";
    assert_eq!(
        first_of(2, body),
        [
            "0 = send_init",
            "1 = recv_init",
            "start [0]",
            "start [1]",
            "wait [0, 1]",
            "start [0]",
            "start [1]",
            "wait [0, 1]"
        ]
    );
}

#[test]
fn coordinates_are_ranks_in_the_order_of_mpi() {
    let text = with_messages(
        "grid(P, Q)",
        "#[rank((x, y))] fn cell() { send((x, y), A); send((x + 1, y), A); send((x, y + 1), A);
            send((x - 1, y), A); send((P - 1, Q - 1), A); }",
    );
    let world = world(&text, 6, &[], Some((3, 2)));
    assert_eq!(events(&world, 3), ["send 3", "send 5", "send 6", "send 1", "send 5"]);
    assert_eq!(events(&world, 4), ["send 4", "send 6", "send 5", "send 2", "send 5"]);
    assert_eq!(events(&world, 0)[3], "send -1");
    assert_eq!(world.parameters, [("P".to_owned(), 3), ("Q".to_owned(), 2)]);
}

#[test]
fn without_a_grid_given_the_most_balanced_is_taken() {
    let role = "#[rank(_)] fn cell() { send(P, A); send(Q, A); }";
    let all = |arguments: &str, size: u32| {
        events(&world(&with_messages(arguments, role), size, &[], None), 0)
    };
    assert_eq!(all("grid(P, Q)", 12), ["send 4", "send 3"]);
    assert_eq!(all("grid(P, Q)", 7), ["send 7", "send 1"]);
    let fixed = with_messages("grid(2, Q)", "#[rank(_)] fn cell() { send(Q, A); }");
    assert_eq!(events(&world(&fixed, 10, &[], None), 0), ["send 5"]);
    let square = with_messages("grid(P, P)", "#[rank((x, y))] fn cell() { send((y, x), A); }");
    let square = world(&square, 9, &[], None);
    assert_eq!(events(&square, 5), ["send 7"]);
    assert_eq!(square.parameters, [("P".to_owned(), 3)]);
    let errors = grammar::evaluate(&protocol(&fixed), 7, &[], None).expect_err("7 is odd");
    assert!(errors[0].message.contains("no grid has 7 ranks"));
}

#[test]
fn messages_say_what_they_carry() {
    let text = "#[p2p_protocol]
        mod sample {
            const K: usize = 2 * 3;
            #[message(count = rank + steps)] type Slice = [f64];
            type Open = [f64];
            type Array = [u16; K + 1];
            type Unknown = [u16; usize::BITS as usize];
            type Scalar = u8;
            #[message(tag = 7, communicator = side)] struct Header { a: u8 }
            #[rank(_)] fn all(steps: usize) {
                send(0, Slice); send(0, Open); send(0, Array); send(0, Unknown); send(0, Scalar);
                send(0, Header);
            }
        }";
    let world = world(text, 2, &[("steps", 4)], None);
    let sent: Vec<(Option<u64>, String, Option<u64>)> = world.behaviours[1]
        .events
        .iter()
        .map(|event| match &event.action {
            Action::Send { envelope, .. } => {
                let datatype = &world.datatypes
                    [usize::from(envelope.data.datatype.expect("messages have types"))];
                (envelope.data.count, datatype.signature.clone(), datatype.bytes)
            }
            other => panic!("{other:?} is no send"),
        })
        .collect();
    let expected = [
        (Some(5), "f64", Some(8)),
        (None, "f64", Some(8)),
        (Some(7), "u16", Some(2)),
        (None, "u16", Some(2)),
        (Some(1), "u8", Some(1)),
        (Some(1), "Header", None),
    ];
    assert_eq!(sent, expected.map(|(count, text, bytes)| (count, text.to_owned(), bytes)));
    let Action::Send { envelope, .. } = &world.behaviours[1].events[5].action else { return };
    assert_eq!((envelope.tag, envelope.communicator), (Tag::Exact(7), 1));
}

#[test]
fn what_has_no_value_is_an_error_at_its_place() {
    let said = |body: &str| {
        let role = format!("#[rank(_)] fn all() {{ {body} }}");
        let errors = grammar::evaluate(&protocol(&with_messages("", &role)), 2, &[], None)
            .expect_err("something has no value");
        lines(&errors).join("; ")
    };
    assert!(said("send(1 / rank, A);").contains("divides by zero, for rank 0 of 2"));
    assert!(said("send(9223372036854775807 + size, A);").contains("larger than any"));
    assert!(said("send(1 << 64, A);").contains("shifts by"));
    assert!(said("send(rank.ilog2(), A);").contains("logarithm"));
    assert!(said("send(2.pow(rank - 1), A);").contains("exponent is negative"));
    assert!(said("send(1 << 40, A);").contains("1099511627776 can be no rank's number"));
    assert!(said("for i in (0..4).step_by(rank) { barrier(); }").contains("the stride is 0"));
    assert!(said("loop { if rank > 5 { break; } }").contains("goes on for ever and does nothing"));
    let both = said("send(1 / rank, A); if 1 % rank == 0 { barrier(); }");
    assert_eq!(both.matches("divides by zero").count(), 2, "{both}");
}

#[test]
fn every_rank_has_exactly_one_role() {
    let said = |roles: &str, size: u32| {
        let errors = grammar::evaluate(&protocol(&with_messages("", roles)), size, &[], None)
            .expect_err("some rank has not one role");
        lines(&errors).join("; ")
    };
    let gap = said("#[rank(0)] fn left() {}\n#[rank(2..)] fn right() {}", 4);
    assert!(gap.starts_with("7: rank 1 of 4 has no role"), "{gap}");
    let overlap = said("#[rank(0..=1)] fn left() {}\n#[rank(1..)] fn right() {}", 4);
    assert!(overlap.starts_with("7: rank 1 of 4 has two roles: `left` and `right`"), "{overlap}");
}

#[test]
fn patterns_say_which_ranks_play_a_role() {
    let roles = |pattern: &str| {
        let text = with_messages(
            "",
            &format!(
                "const ROOT: usize = 2;\n#[rank({pattern})] fn yes() {{}}\n#[rank(_)] fn all() {{}}"
            ),
        );
        let errors = match grammar::evaluate(&protocol(&text), 6, &[], None) {
            Ok(world) => panic!("{} ranks have one role", world.size()),
            Err(errors) => errors,
        };
        errors[0].message.clone()
    };
    // The first rank that plays both roles is the first that the pattern fits.
    for (pattern, first) in [
        ("0", 0),
        ("ROOT", 2),
        ("size - 1", 5),
        ("3..", 3),
        ("..2", 0),
        ("1..=1", 1),
        ("5 | 4", 4),
        ("r if r % 4 == 3", 3),
        ("_ if rank > 1", 2),
        ("1 + 1", 2),
    ] {
        assert!(roles(pattern).contains(&format!("rank {first} of 6 has two")), "{pattern}");
    }
}

#[test]
fn a_bound_rank_has_its_value_in_the_role() {
    let text = with_messages(
        "",
        "#[rank(even if even % 2 == 0)] fn left() { send(even + 1, A); }
         #[rank(odd if odd % 2 == 1)] fn right() { send(odd - 1, A); }",
    );
    let world = world(&text, 4, &[], None);
    let sends: Vec<String> = (0..4).map(|rank| events(&world, rank).remove(0)).collect();
    assert_eq!(sends, ["send 1", "send 0", "send 3", "send 2"]);
}

#[test]
fn a_world_that_is_too_large_is_an_outcome() {
    let text = with_messages("", "#[rank(_)] fn all() { for i in 0..1 << 40 { barrier(); } }");
    let errors = grammar::evaluate(&protocol(&text), 2, &[], None).expect_err("it is too large");
    assert!(errors[0].message.contains("too large"));
}
