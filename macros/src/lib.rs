//! `#[p2p_protocol]`: a protocol judged while it compiles, and the typed steps that follow it.
//!
//! This crate is a thin door: the language is read and judged by `p2p_protocol`, and what is
//! generated from its tree calls `p2p::session`. On the way a role becomes a [`graph`] of states,
//! each with what is in [`scope`] there as [`flow`] follows it; [`role`] knows what the graph's
//! parts are called; [`states`] makes a type of each state, with the methods of its step from
//! [`operations`], [`requests`], [`collectives`], [`loops`], [`branches`] and [`completions`]; and
//! [`runner`] makes what leads into the first state. What is wrong becomes [`errors`], and a step
//! that is not the next one finds its way to [`elsewhere`].

mod branches;
mod clashes;
mod collectives;
mod completions;
mod elsewhere;
mod errors;
mod expand;
mod expressions;
mod flow;
mod graph;
mod loops;
mod mentions;
mod messages;
mod method;
mod names;
mod operations;
mod patterns;
mod pieces;
mod requests;
mod role;
mod runner;
mod scope;
mod states;
#[cfg(test)]
mod tests;
mod verbs;
mod windows;

use proc_macro::TokenStream;

/// Declares a protocol: a module of messages and of one function for each role, judged while it
/// compiles for every size that it allows, and turned into types that follow it step by step.
///
/// ```ignore
/// #[p2p_protocol(ranks = 2..)]
/// pub mod scatter {
///     /// A block of rows.
///     pub type Block = [f32];
///
///     #[rank(0)]
///     fn root() {
///         for dest in 1..size {
///             send(dest, Block);
///         }
///     }
///
///     #[rank(1..)]
///     fn worker() {
///         recv(0, Block);
///     }
/// }
///
/// match scatter::join(&world)? {
///     scatter::Role::Root(root) => {
///         root.run(|s| s.for_each_dest(|dest, s| s.send_block(block_of(&matrix, dest))))
///     }
///     scatter::Role::Worker(worker) => worker.run(|s| s.recv_block(&mut block)),
/// }
/// ```
///
/// The module keeps its messages and everything else that is no role, and gets `join`, the enum
/// `Role`, a struct for each role with `run`, `Parameters` where roles have parameters, and one
/// struct for each place at which a step is next. A step takes its state by value and gives back
/// the next one, with what has arrived before it: `let (count, s) = s.recv_count()?;`.
///
/// | In the specification | In the program |
/// | --- | --- |
/// | `send(to, Block)`, `ssend`, `bsend`, `rsend` | `s.send_block(&block)?`; a `Vec` that is given away is not copied |
/// | `recv(from, Block)` | `s.recv_block(&mut block)?` or `s.recv_block_vec()?`; a single value by value |
/// | `let who = recv(any(1..size), Block)` | the same, with the sender's rank in front |
/// | `sendrecv(to, Out, from, In)` | `s.sendrecv_out_in(&out, &mut into)?` |
/// | `probe(from, Block)` | `let (status, s) = s.probe_block()?` |
/// | `let halo = irecv(from, Row)`, `isend` | `s.irecv_row(buffer)?`: the buffer by value, owned or borrowed for longer than `run` |
/// | `wait(halo)` | `let (buffer, s) = s.wait_halo()?`, also `s.wait()?` where no other request is under way |
/// | `wait_all(a, b)` | `let (a, b, s) = s.wait_all()?` |
/// | `match wait_any(a, b) { a => .. b => .. }` | `match s.wait_any()? { RootWaitedAny::A(a, s) => .., RootWaitedAny::B(b, s) => .. }` |
/// | `if test(halo) { .. } else { .. }` | `match s.test_halo()? { RootTestedHalo::Complete(buffer, s) => .., RootTestedHalo::Pending(s) => .. }` |
/// | `set.push(isend(to, Chunk))` | `s.isend_chunk(buffer)?` |
/// | `wait_all(set)`, `wait_any(set)` | `let (buffers, s) = s.wait_all_set()?`, `let (one, s) = s.wait_any_set()?` |
/// | `let row = send_init(to, Row)`, `start(row)` | `s.send_init_row()?`, `s.start_row(buffer)?` |
/// | `for dest in 1..size` | `s.for_each_dest(\|dest, s\| ..)?`, or `match s.next() { RootEachDest::Item(dest, s) => .., RootEachDest::End(s) => .. }` |
/// | `if rank > 0 { .. }` | `s.when(\|s\| ..)?`; with `else` `s.either(\|s\| .., \|s\| ..)?`; or `match s.branch() { RootBranch::Then(s) => .., RootBranch::Else(s) => .. }` |
/// | `loop`, `break`, `continue` | a loop of Rust: the state at its end is the one at its start |
/// | `match choose(1..size) { Work => .. Rest => .. }` | `s.choose_work()?` or `s.choose_rest()?` |
/// | `match offer(0) { Work => .. Rest => .. }` | `match s.offer()? { WorkerOffered::Work(s) => .., WorkerOffered::Rest(s) => .. }` |
/// | `barrier()`, `bcast(0, Size)`, `all_reduce(Norm)`, .. | `s.barrier()?`, `s.bcast_size(size)?`, `s.all_reduce_norm(norm, Sum)?`, .. |
/// | `put(to, Row)`, `get(from, Row)`, `fence()` | `s.put_row(first, &row)?`, `s.get_row(first, count)?`, `s.fence()?`; the window is `s.window_row()`, what was got `s.fetched_row()` |
///
/// Where a role has several states of one name they are numbered in the order of the text:
/// `RootBranch`, `RootBranch2`.
///
/// On a function, `#[p2p_protocol(role = scatter::Worker)]` changes nothing; it says for
/// `cargo p2p-check` which role the function plays.
#[proc_macro_attribute]
pub fn p2p_protocol(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into()).into()
}
