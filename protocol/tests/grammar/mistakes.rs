//! Every mistake is reported at its own place, all at once, with what to write instead.

use crate::source::{assert_announced, read, with_messages};

/// Reads roles that announce their errors.
fn announced(roles: &str) {
    announced_with("ranks = 2", roles);
}

fn announced_with(arguments: &str, roles: &str) {
    let text = with_messages(arguments, roles);
    let (_, errors) = read(&text);
    assert_announced(&text, &errors);
}

/// The help of the only error.
fn help(roles: &str) -> String {
    let (_, errors) = read(&with_messages("ranks = 2", roles));
    assert_eq!(errors.len(), 1, "{:?}", crate::source::lines(&errors));
    errors[0].help.clone().unwrap_or_default()
}

#[test]
fn names_that_nobody_declared() {
    announced(
        "#[rank(0)]
        fn root(steps: usize) {
            send(destination, A); //~ unknown variable `destination`
            send(1, D); //~ unknown message `D`
            send(A, 1); //~ `A` is a message, not a rank
            for dest in 1..size {
                send(dest, A);
            }
            send(dest, A); //~ unknown variable `dest`
            wait(pending); //~ there is no request `pending` here
            pending.push(isend(1, A)); //~ there is no set of requests `pending` here
        }
        #[rank(1)]
        fn worker() {
            for step in 0..steps { //~ unknown variable `steps`
                recv(0, A);
            }
            recv(step, A); //~ unknown variable `step`
        }",
    );
}

#[test]
fn a_slip_is_answered_with_the_word_that_is_near() {
    assert!(help("#[rank(_)] fn all() { snd(1, A); }").contains("`send`"));
    assert!(help("#[rank(_)] fn all() { receive(1, A); }").contains("`recv`"));
    assert!(help("#[rank(_)] fn all() { waitall(1); }").contains("`wait_all`"));
    assert!(help("#[rank(_)] fn all() { send(rnk, A); }").contains("`rank`"));
    assert!(help("#[rank(_)] fn all(steps: usize) { send(step, A); }").contains("`steps`"));
    assert!(
        help("#[rank(_)] fn all() { println!(\"hello\"); }").contains("`send(peer, Message);`")
    );
}

#[test]
fn operations_that_are_written_wrong() {
    announced(
        "#[rank(_)]
        fn all() {
            send(1); //~ `send` needs more than this
            send(1, A, B); //~ this does not belong here
            send(); //~ `send` needs more than this
            send(1 A); //~ expected `,`
            send(any(..), A); //~ `send` needs one rank, not `any(..)`
            recv(any(), A); //~ which ranks?
            recv(any(1), A); //~ this is not a range of ranks
            sendrecv(1, A, 0); //~ `sendrecv` needs more than this
            isend(1, A); //~ `isend` does not stand alone
            barrier(1); //~ this does not belong here
            bcast(A); //~ `A` is a message, not a rank
            push(1); //~ `push` does not stand alone
            let x = barrier(); //~ `barrier` gives nothing that could be named
            let y = ; //~ expected an operation
            let z: f32 = 1; //~ the type is known //~ expected an operation
            let from = recv(1, A); //~ who it is from is known already
            compute(A); //~ unknown operation `compute`
            x = 3; //~ this is not an operation
            return; //~ a role does not return early
            while true { send(1, A); } //~ `while` is not part of the language
            send(1, A) //~ expected `;`
            recv(1, A);
            choose(1); //~ `choose` does not stand alone
            #[cfg(test)] send(1, A); //~ a statement has no attributes
        }",
    );
}

#[test]
fn expressions_that_are_written_wrong() {
    announced(
        "#[rank(_)]
        fn all() {
            send(rank == 0, A); //~ expected a number, this is a condition
            if rank { send(1, A); } //~ expected a condition, this is a number
            send(1.5, A); //~ only whole numbers are values here
            send(rank as i32, A); //~ there are no casts here
            send(rank.sqrt(), A); //~ unknown method `sqrt`
            send(f(1), A); //~ no function can be called in a value
            send((1, 2), A); //~ coordinates need a grid
            send(rank +, A); //~ expected a value
            send(99999999999999999999, A); //~ this number is too large
            send(if rank == 0 { 1 } else { true }, A); //~ expected a number, this is a condition
            if rank == 0 && 1 { barrier(); } //~ expected a condition, this is a number
            if 0 < rank < 2 { barrier(); } //~ expected a number, this is a condition
            for i in 3 { barrier(); } //~ expected `..`
            for i in 0.. { barrier(); } //~ a loop needs an end
            for i in (0..4).map(1) { barrier(); } //~ this cannot be done to a range
            if let Some(x) = 1 { barrier(); } //~ `if let` is not part of the language
        }",
    );
}

#[test]
fn values_with_names_that_are_written_wrong() {
    announced(
        "#[rank(_)]
        fn all(steps: usize) {
            let right = (rank + 1) % size;
            let right = 0; //~ `right` already is a value here
            let steps = 3; //~ `steps` already is a parameter here
            let rank = 3; //~ `rank` is a word of the language
            let a = missing + 1; //~ `missing`
            send(a, A);
            let mut b = 1; //~ `mut` means nothing here
            let c = 1 2; //~ this does not belong here
            let first = rank == 0;
            send(first, A); //~ expected a number, this is a condition
            if right { barrier(); } //~ expected a condition, this is a number
            wait(right); //~ `right` is a value, not a request
            for right in 0..2 {} //~ `right` already is a value here
            if rank == 0 { let inner = 1; send(inner, A); }
            send(inner, A); //~ `inner`
            let next = (rank + 1) % size;
            let d = next + next; let e = d + d; let f = e + e; let g = f + f; let h = g + g;
            let i = h + h; //~ this expression is too long
            let from = recv(any(..), A);
            let to = from; //~ nothing can be computed from the source `from`
            let pair = (rank, 1); //~ coordinates need a grid
        }",
    );
}

#[test]
fn a_source_is_a_peer_and_nothing_else() {
    announced(
        "#[rank(0)]
        fn root() {
            let from = recv(any(1..size), A);
            send(from, B);
            send(from + 1, B); //~ nothing can be computed from the source `from`
            if from == 1 { barrier(); } //~ nothing can be computed from the source `from`
            bcast(from, B); //~ a source cannot be the root
            wait(from); //~ `from` is a source, not a request
            match choose([from, 1]) { Go => {} }
            match offer(from) { Go => {} }
        }
        #[rank(1)]
        fn worker() {}",
    );
}

#[test]
fn requests_that_are_not_where_they_should_be() {
    announced(
        "#[rank(_)]
        fn all() {
            let a = irecv(1, A);
            wait(a);
            wait(a); //~ `a` is completed already
            let p = send_init(1, A);
            wait(p); //~ `p` is not started here
            start(p);
            start(p); //~ `p` is started already
            wait(p);
            let b = irecv(1, A);
            let b = irecv(1, A); //~ `b` still names a request that is not completed
            wait(b);
        }
        #[rank(2)]
        fn other() {
            let a = irecv(1, A);
            start(a); //~ `a` was started where it was made
            if rank == 0 { let inner = irecv(1, A); }
            wait(inner); //~ there is no request `inner` here
            let set = requests();
            wait(set); //~ `set` is a set of requests, not a request
            let c = irecv(1, A);
            wait_all(c, c); //~ `c` is there twice
            wait_all(set, c); //~ `set` is a set of requests, not a request
            wait_any(c); //~ which of them it was would be lost here
        }",
    );
}

#[test]
fn requests_that_differ_between_ways() {
    announced(
        "#[rank(_)]
        fn all() {
            let a = irecv(1, A);
            if rank == 0 { wait(a); } //~ `a` is completed on one way
            let b = irecv(1, A);
            for i in 0..2 { wait(b); } //~ `b` is not in the same state after a round
            let c = irecv(1, A);
            if test(c) {} //~ `c` is completed on one way
            let d = irecv(1, A);
            loop { if test(d) { break; } }
            let e = irecv(1, A);
            let f = irecv(1, A);
            match wait_any(e, f) { e => { wait(f); } f => { wait(e); } }
            let g = irecv(1, A);
            let h = irecv(1, A);
            match wait_any(g, h) { g => {} h => {} } //~ `g` is completed //~ `h` is completed
        }",
    );
}

#[test]
fn a_statement_that_is_left_out_makes_no_further_errors() {
    announced(
        "#[rank(_)]
        fn all() {
            let a = irecv(1, A);
            loop { if tset(a) { break; } } //~ no function can be called in a value
            let b = irecv(1, Missing); //~ unknown message `Missing`
            let p = send_init(1, A);
            strat(p); //~ unknown operation `strat`
            wait(p);
            wait(b);
            if rank == 0 { wiat(a); } else { wait(a); } //~ unknown operation `wiat`
        }",
    );
}

#[test]
fn sets_hold_one_kind() {
    announced(
        "#[rank(_)]
        fn all() {
            let set = requests();
            set.push(isend(1, A));
            set.push(irecv(1, A)); //~ `set` holds sends, this is one of the receives
            set.push(isend(1, B)); //~ `set` holds messages of `[f32]`, this one carries `u64`
            set.push(recv(1, A)); //~ only a request that starts here can be pushed
            set.pop(); //~ expected `push`
            wait_all(set);
        }",
    );
}

#[test]
fn what_is_there_twice() {
    announced(
        "type A = u8; //~ there are two messages `A`
        #[message(tag = 1)] type D = u8;
        #[message(tag = 1)] type E = u8;
        #[message(tag = 1, tag = 2)] type F = u8; //~ `tag` is given twice
        #[rank(0)]
        fn root(steps: usize, steps: usize) {} //~ the parameter `steps` is there twice
        #[rank(1)]
        #[rank(1)] //~ `#[rank]` is given twice
        fn other(steps: u32) { //~ `steps` is `u32` here and `usize` in another role
            for steps in 0..2 {} //~ `steps` already is a parameter here
            for i in 0..2 { for i in 0..2 {} } //~ `i` already is a loop variable here
            match choose(0) { Go => {} Go => {} } //~ there are two arms `Go`
        }
        #[rank(5)]
        fn root() {} //~ there are two roles `root`
        #[rank(6)]
        fn a() {} //~ role `a` and a message would both be `A`",
    );
}

#[test]
fn statements_that_are_not_reached() {
    announced(
        "#[rank(_)]
        fn all() {
            break; //~ `break` outside a loop
        }
        #[rank(1)]
        fn other() {
            for i in 0..2 {
                continue;
                barrier(); //~ this is never reached
                barrier();
            }
            'outer: loop {
                loop { break 'other; } //~ no loop around this has the label `'other`
            }
            barrier(); //~ this is never reached
        }",
    );
}

#[test]
fn decisions_that_are_written_wrong() {
    announced(
        "#[rank(_)]
        fn all() {
            match choose(0) {} //~ there is nothing to decide
            match rank { //~ `match` is for decisions, not for values
                0 => { send(1, A); }
                1 | 2 => barrier(),
                _ => {}
            }
            match chose(0) { Go => {} Stop => { snd(1, A); } } //~ this is nothing that a protocol can decide by
            //~^ unknown operation `snd`
            match offer(any(..)) { Go => {} } //~ `offer` needs one rank
            match offer(0) { Go if true => {} } //~ an arm is one name, without conditions
            match offer(0) { _ => {} } //~ expected a decision's name
            match offer(0) { Go => send(0, A), Stop => send(0, Missing), } //~ unknown message `Missing`
            let a = irecv(0, A);
            match wait_any(a) { b => {} } //~ `b` is not waited for here //~ `a` has no arm
        }",
    );
}

#[test]
fn roles_that_are_written_wrong() {
    announced(
        "fn helper() {} //~ a function here is a role, and needs ranks
        #[rank(0)] fn typed() -> u8 {} //~ a role returns nothing
        #[rank(0)] fn generic<T>() {} //~ a role has no generic parameters
        #[rank(0)] async fn waits() {} //~ a role is a plain function
        #[rank(0)] fn bad(x: f32) {} //~ parameters are integers
        #[rank(0)] fn itself(self) {} //~ this is not a parameter
        #[rank] fn nowhere() {} //~ which ranks?
        #[rank(rank)] fn myself() {} //~ `rank` is what the pattern is for
        #[rank(rank == 0)] fn condition() {} //~ `rank` is not known here
        #[rank(r if r)] fn number() {} //~ expected a condition, this is a number
        #[rank(a | 1)] fn either() {} //~ a name in one of several patterns
        #[rank((x, y))] fn cell() {} //~ coordinates need a grid
        #[rank(0..=)] fn open() {} //~ `..=` needs an end
        #[rank(0)] #[cfg(test)] fn sometimes() {} //~ a part of a protocol cannot depend on how
        #[rank(0)] struct Other; //~ `#[rank]` does not belong here
        #[rank(7)] fn size(size: usize) {} //~ `size` is a word of the language",
    );
}

#[test]
fn messages_that_are_written_wrong() {
    announced(
        "type D = Vec<f32>; //~ a `Vec` cannot travel
        type E = &'static str; //~ an address cannot travel
        type F = (u8, u8); //~ a tuple cannot travel
        type G = [[u8]]; //~ a slice of slices cannot travel
        #[message(tag = -1)] type H = u8; //~ -1 cannot be a tag
        #[message(tag = size)] type I = u8; //~ `size` is not known here
        #[message(count = 3)] type J = u8; //~ only a slice has a count of its own
        #[message(cuont = 3)] type K = [u8]; //~ `message` has no argument `cuont`
        #[message(communicator = 3)] type L = [u8]; //~ expected a name
        #[message] enum M {} //~ `#[message]` does not belong here
        #[rank(_)] fn all() {
            send(1, D);
            send(1, M); //~ unknown message `M`
        }",
    );
}

#[test]
fn attributes_that_are_written_wrong() {
    let role = "#[rank(_)] fn all() {}";
    let said = |arguments: &str| {
        let (_, errors) = read(&with_messages(arguments, role));
        errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(said("rank = 2"), "`p2p_protocol` has no argument `rank`");
    assert_eq!(said("ranks(2)"), "this is not how `ranks` is written");
    assert_eq!(said("ranks = "), "`ranks` needs a value");
    assert_eq!(said("grid(P)"), "this is not a grid");
    assert_eq!(said("grid(0, 2)"), "0 is no extent of a grid");
    assert_eq!(said("allow(dead_lock)"), "unknown rule `dead_lock`");
    assert_eq!(said("role = scatter::Worker"), "`p2p_protocol` has no argument `role`");
    assert_eq!(said("ranks = 2.., ranks = 3"), "`ranks` is given twice");
    assert_eq!(said("require(root < size)"), "unknown variable `root`");
    assert_eq!(said("require(rank < size)"), "`rank` is not known here");
    assert_eq!(said("require(size)"), "expected a condition, this is a number");
    assert_eq!(said("require(size > 1 size)"), "this does not belong here");
    assert_eq!(said("require(size > 1, size < 9)"), "");
    assert_eq!(said("ranks = 2.., allow(deadlock_unbuffered, message_race)"), "");
}

#[test]
fn only_a_module_with_its_content_is_a_protocol() {
    let said = |text: &str| {
        let tokens = text.parse().expect("these are tokens");
        let (protocol, errors) =
            p2p_protocol::grammar::parse(proc_macro2::TokenStream::new(), tokens);
        assert!(protocol.is_none());
        errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(said("fn worker() {}"), "this is not a module");
    assert_eq!(said("mod other;"), "the module's content must stand here, not in another file");
    assert_eq!(said(""), "this is not a module");
}

#[test]
fn a_protocol_without_roles() {
    let (protocol, errors) = read("#[p2p_protocol]\nmod empty {}");
    assert!(protocol.is_some());
    assert_eq!(errors.len(), 1);
    assert!(errors[0].message.contains("no role"));
}
