//! What the tree says of a text.

use p2p_protocol::grammar::syntax::{Block, Payload, Protocol, RequestTarget, StatementKind};

use crate::source::{protocol, with_messages};

/// The texts of a block's statements and of those inside, indented.
fn texts(block: &Block, depth: usize, lines: &mut Vec<String>) {
    for statement in &block.statements {
        lines.push(format!("{:indent$}{}", "", statement.text, indent = depth * 2));
        match &statement.kind {
            StatementKind::For { body, .. } | StatementKind::Loop(_, body) => {
                texts(body, depth + 1, lines);
            }
            StatementKind::If(_, then, otherwise) | StatementKind::Test(_, then, otherwise) => {
                texts(then, depth + 1, lines);
                texts(otherwise, depth + 1, lines);
            }
            StatementKind::Choose(_, arms) | StatementKind::Offer(_, arms) => {
                arms.iter().for_each(|arm| texts(&arm.body, depth + 1, lines));
            }
            StatementKind::WaitAny(arms) => {
                arms.iter().for_each(|(_, body)| texts(body, depth + 1, lines));
            }
            _ => {}
        }
    }
}

fn all_texts(protocol: &Protocol) -> String {
    let mut lines = Vec::new();
    texts(&protocol.roles[0].body, 0, &mut lines);
    lines.join("\n")
}

#[test]
fn statements_keep_their_text_in_one_line() {
    let protocol = protocol(&with_messages(
        "ranks = 2..",
        "#[rank(_)]
        fn all(steps: usize) {
            'outer: for step in (0 .. steps).rev( ).step_by(2) {
                if rank%2==0 && !(rank > -1) {
                    send( (rank + 1) % size , A );
                } else if size.is_power_of_two() {
                    let from = recv(any(1..), A);
                    continue 'outer;
                }
                let pending = requests();
                pending . push(isend(size
                    - 1, B));
                wait_all(pending);
                match choose([0, 1]) { Go => { break 'outer; } Stop => barrier(), }
            }
            let a = irecv(0, C);
            loop { if test(a) { break } }
        }",
    ));
    assert_eq!(
        all_texts(&protocol),
        "'outer: for step in (0..steps).rev().step_by(2)
  if rank % 2 == 0 && !(rank > -1)
    send((rank + 1) % size, A)
    if size.is_power_of_two()
      let from = recv(any(1..), A)
      continue 'outer
  let pending = requests()
  pending.push(isend(size - 1, B))
  wait_all(pending)
  match choose([0, 1])
    break 'outer
    barrier()
let a = irecv(0, C)
loop
  if test(a)
    break"
    );
}

#[test]
fn places_go_from_the_first_token_to_the_last() {
    let text =
        with_messages("ranks = 2", "#[rank(_)] fn all() {\nlet a = isend(1,\n  A);\n wait(a); }");
    let protocol = protocol(&text);
    let statements = &protocol.roles[0].body.statements;
    let place = statements[0].place.0 as usize;
    assert_eq!(protocol.places[place].start().line, 7);
    assert_eq!(protocol.ends[place].end().line, 8);
    let place = statements[1].place.0 as usize;
    assert_eq!((protocol.places[place].start().line, protocol.ends[place].end().column), (9, 8));
}

#[test]
fn tags_are_numbered_around_those_given() {
    let protocol = protocol(
        "#[p2p_protocol]
        mod tags {
            type A = u8;
            #[message(tag = 0)] type B = u8;
            #[message(tag = FIRST + 1)] type C = u8;
            const FIRST: i32 = 1;
            type D = u8;
            #[message(communicator = halo)] type E = u8;
            #[message(communicator = other)] type F = u8;
            #[message(communicator = halo)] struct G { x: f32 }
            #[rank(_)] fn all() {}
        }",
    );
    let tags: Vec<i32> = protocol.messages.iter().map(|message| message.tag).collect();
    assert_eq!(tags, [1, 0, 2, 3, 4, 5, 6]);
    let communicators: Vec<u16> =
        protocol.messages.iter().map(|message| message.communicator).collect();
    assert_eq!(communicators, [0, 0, 0, 0, 1, 2, 1]);
    assert_eq!(protocol.communicators.len(), 2);
}

#[test]
fn what_the_language_does_not_know_passes_through() {
    let protocol = protocol(
        "#[p2p_protocol]
        /// Outside.
        pub(crate) mod passing {
            //! Inside.
            use std::fmt::{self, Debug};
            pub const NAME: &str = \"name\";
            const LARGE: usize = usize::MAX;
            type Helper<T> = Vec<T>;
            struct Unit;
            impl Unit { fn new() -> Unit { Unit } }
            macro_rules! nothing { () => {} }
            /// A block.
            #[message] #[derive(Clone)] pub struct Header { pub rows: u32 }
            #[rank(_)] fn all() {}
        }",
    );
    assert_eq!(protocol.items.len(), 7);
    assert_eq!(protocol.attributes.len(), 2);
    assert!(matches!(protocol.visibility, syn::Visibility::Restricted(_)));
    let Payload::Struct(header) = &protocol.messages[0].payload else { panic!("it is a struct") };
    assert_eq!((header.fields.len(), header.attrs.len()), (1, 2));
    assert_eq!(protocol.messages[0].attributes.len(), 2);
    assert_eq!(protocol.messages[0].signature, "Header");
}

#[test]
fn names_say_which_declaration_they_refer_to() {
    let protocol = protocol(&with_messages(
        "ranks = 2..",
        "const K: usize = 3;
        #[rank(0)]
        fn root(steps: usize) {
            let a = isend(1, A);
            wait(a);
            let a = isend(1, A);
            wait(a);
            for _ in 0..steps { for _ in 0..K {} }
        }
        #[rank(1..)]
        fn other(more: usize, steps: usize) {}",
    ));
    let (root, other) = (&protocol.roles[0], &protocol.roles[1]);
    assert_eq!(root.parameters[0].name.id, other.parameters[1].name.id);
    assert_eq!(protocol.parameters.len(), 2);
    let ids: Vec<u32> = root
        .body
        .statements
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::StartSend(_, _, _, RequestTarget::Named(name))
            | StatementKind::Wait(name) => Some(name.id),
            _ => None,
        })
        .collect();
    assert_eq!(ids[0], ids[1]);
    assert_eq!(ids[2], ids[3]);
    assert_ne!(ids[0], ids[2]);
    assert!(ids.iter().all(|&id| id < root.names && id > protocol.constants[0].name.id));
}
