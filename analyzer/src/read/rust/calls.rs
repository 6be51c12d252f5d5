//! Which calls in the text communicate, for coverage: whatever of them is not understood is
//! counted, so that silence never passes for proof.
//!
//! Names decide, and the receiver's type where the name has other meanings: `send` is a channel's
//! as well, `wait` a child process's.

use proc_macro2::{TokenStream, TokenTree};

use super::translation::Translation;
use crate::program::{CallSite, Expression, Kind, Place, Program, Type};

/// Names that only rsmpi has, without `immediate_` and without `_with_tag` or `_with_tags`.
const UNMISTAKABLE: [&str; 41] = [
    "all_gather_into",
    "all_gather_varcount_into",
    "all_reduce_into",
    "all_to_all_into",
    "all_to_all_varcount_into",
    "barrier",
    "broadcast_into",
    "buffered_send",
    "create_cartesian_communicator",
    "exclusive_scan_into",
    "gather_into",
    "gather_into_root",
    "gather_varcount_into",
    "gather_varcount_into_root",
    "matched_probe",
    "matched_receive",
    "matched_receive_into",
    "matched_receive_vec",
    "ready_send",
    "receive_into",
    "receive_vec",
    "reduce_into",
    "reduce_into_root",
    "reduce_scatter_block_into",
    "scan_into",
    "scatter_into",
    "scatter_into_root",
    "scatter_varcount_into",
    "scatter_varcount_into_root",
    "send_receive",
    "send_receive_into",
    "send_receive_replace_into",
    "spawn_multiple",
    "split_by_color",
    "split_by_color_with_key",
    "split_by_subgroup",
    "split_by_subgroup_collective",
    "split_shared",
    "synchronous_send",
    "test_with_data",
    "wait_without_status",
];

/// Names that other libraries have as well.
const AMBIGUOUS: [&str; 18] = [
    "abort",
    "cancel",
    "duplicate",
    "get",
    "merge",
    "probe",
    "receive",
    "send",
    "spawn",
    "subgroup",
    "test",
    "test_all",
    "test_any",
    "test_some",
    "wait",
    "wait_all",
    "wait_any",
    "wait_some",
];

/// The types of rsmpi whose methods communicate.
const RECEIVERS: [&str; 21] = [
    "AnyCommunicator",
    "AnyProcess",
    "AsCommunicator",
    "CartesianCommunicator",
    "Communicator",
    "CommunicatorCollectives",
    "Destination",
    "InterCommunicator",
    "MergedCommunicator",
    "Message",
    "ParentCommunicator",
    "Process",
    "ReceiveFuture",
    "Request",
    "RequestCollection",
    "Root",
    "SimpleCommunicator",
    "Source",
    "SystemCommunicator",
    "UserCommunicator",
    "TheCommunicator",
];

/// C's functions that take no part in communication, by how they begin.
const LOCAL: [&str; 19] = [
    "MPI_Abort",
    "MPI_Address",
    "MPI_Attr",
    "MPI_Cart_",
    "MPI_Comm_get",
    "MPI_Comm_rank",
    "MPI_Comm_set",
    "MPI_Comm_size",
    "MPI_Comm_group",
    "MPI_Error",
    "MPI_Fin",
    "MPI_Get_",
    "MPI_Group",
    "MPI_Info",
    "MPI_Init",
    "MPI_Op_",
    "MPI_Query",
    "MPI_Type_",
    "MPI_Wti",
];

/// Whether a method of this name can only be rsmpi's.
pub(super) fn is_unmistakable(name: &str) -> bool {
    let tagless = name.strip_suffix("_with_tag").or_else(|| name.strip_suffix("_with_tags"));
    let immediate = name.strip_prefix("immediate_");
    let plain = tagless.unwrap_or(name);
    let plain = plain.strip_prefix("immediate_").unwrap_or(plain);
    let is_special = tagless.is_some() || immediate.is_some();
    UNMISTAKABLE.contains(&plain) || (is_special && AMBIGUOUS.contains(&plain))
}

/// Whether a name that can only be rsmpi's is among tokens.
pub(super) fn mentions_a_call(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions_a_call(group.stream()),
        TokenTree::Ident(ident) => is_unmistakable(&ident.to_string()),
        _ => false,
    })
}

/// Whether tokens can communicate by themselves, by their names.
pub(super) fn mentions_mpi(tokens: TokenStream) -> bool {
    let is_of_mpi = |word: String| {
        matches!(word.as_str(), "mpi" | "rsmpi" | "SimpleCommunicator" | "SystemCommunicator")
            || word.starts_with("MPI_")
            || is_unmistakable(&word)
    };
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions_mpi(group.stream()),
        TokenTree::Ident(ident) => is_of_mpi(ident.to_string()),
        _ => false,
    })
}

impl Translation<'_> {
    /// Notes a call that no expression stands for.
    pub(super) fn add_call(&mut self, place: Place, name: String) {
        self.program.calls.push(CallSite { place, name, is_certain: true });
    }
}

/// Lists the calls of a program whose types are known. `mentions_mpi`: by file.
pub(super) fn list(program: &mut Program, mentions_mpi: &[bool]) {
    let mut calls = Vec::new();
    let bodies = program.functions.iter().filter_map(|function| function.body.as_ref());
    let values = program.globals.iter().filter_map(|global| global.value.as_ref());
    for body in bodies.chain(values) {
        each(body, &mut |expression| {
            let file = program.location(expression.place).file;
            if mentions_mpi.get(file).is_some_and(|&mentions| mentions)
                && let Some((name, is_certain)) = communication(program, expression)
            {
                calls.push(CallSite { place: expression.place, name, is_certain });
            }
        });
    }
    program.calls.extend(calls);
}

/// Calls `visit` with an expression and everything in it, in the order of the text.
pub(super) fn each<'e>(expression: &'e Expression, visit: &mut dyn FnMut(&'e Expression)) {
    visit(expression);
    expression.for_each_child(&mut |child| each(child, visit));
}

/// The name of the call that communicates, and whether it surely does.
fn communication(program: &Program, expression: &Expression) -> Option<(String, bool)> {
    match &expression.kind {
        Kind::Method { receiver, name, .. } => {
            let unmistakable = is_unmistakable(name);
            if !unmistakable && !AMBIGUOUS.contains(&name.as_str()) {
                return None;
            }
            let certain = match of_mpi(program, &receiver.ty, name) {
                Some(known) => known.then_some(true),
                None => Some(unmistakable),
            };
            certain.map(|certain| (name.clone(), certain))
        }
        Kind::Call(callee, _) => {
            let Kind::External(path, _) = &callee.kind else { return None };
            let last = path.last()?;
            let before = path.len().checked_sub(2).map(|at| path[at].as_str());
            let guard = last == "from" && matches!(before, Some("WaitGuard" | "CancelGuard"));
            let raw = last.starts_with("MPI_") && !LOCAL.iter().any(|it| last.starts_with(it));
            let free = last.starts_with("send_receive") && is_unmistakable(last);
            let method = before.is_some_and(|before| RECEIVERS.contains(&before))
                && (is_unmistakable(last) || AMBIGUOUS.contains(&last.as_str()));
            // `from` alone would say nothing.
            let of = before.filter(|_| guard).map(|before| format!("{before}::"));
            let name = of.unwrap_or_default() + last;
            (guard || raw || free || method).then_some((name, true))
        }
        _ => None,
    }
}

/// Whether the receiver is something of rsmpi whose method this is; `None` if nothing is known.
fn of_mpi(program: &Program, ty: &Type, method: &str) -> Option<bool> {
    match ty.behind_references() {
        Type::External(name, _) if name == "?" => None,
        // Adapters of iterators, options and the like may hold anything.
        Type::External(name, _) => Some(RECEIVERS.contains(&name.as_str())),
        Type::Trait(names) => Some(names.iter().any(|it| RECEIVERS.contains(&it.as_str()))),
        Type::Defined(..) => {
            // Its own method, or one of what it derefs to, which has a name of the program's.
            program.methods.has(method).then_some(false)
        }
        Type::Scalar(_) | Type::Text | Type::Array(..) | Type::Slice(_) | Type::Never => {
            Some(false)
        }
        // A message and its status.
        Type::Tuple(parts) => parts.first().and_then(|first| of_mpi(program, first, method)),
        _ => None,
    }
}
