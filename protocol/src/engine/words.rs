//! The names of operations, in the words that a program is written in.
//!
//! What is said of a program should sound like it: `irecv` in the protocol language,
//! `immediate_receive` on rsmpi, `MPI_Irecv` in C. What to write instead is for the rules to say.

use crate::model::{CollectiveKind, Completion, Dialect, Mode};

/// The verb of a send.
pub fn send(dialect: Dialect, mode: Mode, immediate: bool) -> &'static str {
    let [protocol, rsmpi, c] = match (mode, immediate) {
        (Mode::Standard, false) => ["send", "send", "MPI_Send"],
        (Mode::Synchronous, false) => ["ssend", "synchronous_send", "MPI_Ssend"],
        (Mode::Buffered, false) => ["bsend", "buffered_send", "MPI_Bsend"],
        (Mode::Ready, false) => ["rsend", "ready_send", "MPI_Rsend"],
        (Mode::Standard, true) => ["isend", "immediate_send", "MPI_Isend"],
        (Mode::Synchronous, true) => ["issend", "immediate_synchronous_send", "MPI_Issend"],
        (Mode::Buffered, true) => ["ibsend", "immediate_buffered_send", "MPI_Ibsend"],
        (Mode::Ready, true) => ["irsend", "immediate_ready_send", "MPI_Irsend"],
    };
    dialect.words(protocol, rsmpi, c)
}

/// The verb of a receive.
pub fn receive(dialect: Dialect, immediate: bool) -> &'static str {
    match immediate {
        false => dialect.words("recv", "receive", "MPI_Recv"),
        true => dialect.words("irecv", "immediate_receive", "MPI_Irecv"),
    }
}

/// A send and a receive at once.
pub(super) fn send_receive(dialect: Dialect) -> &'static str {
    dialect.words("sendrecv", "send_receive", "MPI_Sendrecv")
}

/// A communicator by its name, or by what it was made of: "world, duplicate".
pub(super) fn communicator(dialect: Dialect, name: &str) -> String {
    if dialect != Dialect::C {
        return format!("`{name}`");
    }
    let mut made = name.split(", ");
    let first = match made.next() {
        Some("world") => "`MPI_COMM_WORLD`".to_owned(),
        Some("self") => "`MPI_COMM_SELF`".to_owned(),
        first => format!("`{}`", first.unwrap_or(name)),
    };
    made.fold(first, |of, made| match made {
        "duplicate" => format!("a duplicate of {of}"),
        _ => format!("`{made}` of {of}"),
    })
}

/// The making of a persistent send; rsmpi has it from MPI itself.
pub(super) fn plan_of_send(dialect: Dialect, mode: Mode) -> &'static str {
    let c = match mode {
        Mode::Standard => "MPI_Send_init",
        Mode::Synchronous => "MPI_Ssend_init",
        Mode::Buffered => "MPI_Bsend_init",
        Mode::Ready => "MPI_Rsend_init",
    };
    dialect.words("send_init", c, c)
}

/// The making of a persistent receive.
pub(super) fn plan_of_receive(dialect: Dialect) -> &'static str {
    dialect.words("recv_init", "MPI_Recv_init", "MPI_Recv_init")
}

/// What is done with a request besides waiting for it.
pub(super) fn cancel(dialect: Dialect) -> &'static str {
    dialect.words("cancel", "cancel", "MPI_Cancel")
}

/// The end of a request that nobody waits for.
pub(super) fn free(dialect: Dialect) -> &'static str {
    dialect.words("free of a request", "free of a request", "MPI_Request_free")
}

/// A buffer for buffered sends is given to MPI, or taken back.
pub(super) fn buffer(dialect: Dialect, attach: bool) -> &'static str {
    match attach {
        true => dialect.words("attach of a buffer", "attach of a buffer", "MPI_Buffer_attach"),
        false => dialect.words("detach of the buffer", "detach of the buffer", "MPI_Buffer_detach"),
    }
}

/// The start of a collective operation that is waited for later.
pub fn started_collective(dialect: Dialect, kind: CollectiveKind) -> String {
    let name = collective(dialect, kind);
    match name.strip_prefix("MPI_") {
        Some(rest) if dialect == Dialect::C => format!("MPI_I{}", rest.to_lowercase()),
        _ => name.to_owned(),
    }
}

/// The start of a persistent operation.
pub(super) fn start(dialect: Dialect) -> &'static str {
    dialect.words("start", "MPI_Start", "MPI_Start")
}

/// A look at a message that is there.
pub(super) fn probe(dialect: Dialect) -> &'static str {
    dialect.words("probe", "probe", "MPI_Probe")
}

/// A wait for so many requests.
pub(super) fn wait(dialect: Dialect, completion: &Completion, requests: usize) -> &'static str {
    match completion {
        Completion::All if requests == 1 => dialect.words("wait", "wait", "MPI_Wait"),
        Completion::All => dialect.words("wait_all", "wait_all", "MPI_Waitall"),
        Completion::Any(_) => dialect.words("wait_any", "wait_any", "MPI_Waitany"),
        Completion::Some => dialect.words("wait_some", "wait_some", "MPI_Waitsome"),
    }
}

/// A question about a request.
pub(super) fn test(dialect: Dialect) -> &'static str {
    dialect.words("test", "test", "MPI_Test")
}

/// A collective operation.
pub fn collective(dialect: Dialect, kind: CollectiveKind) -> &'static str {
    let [rsmpi, c] = match kind {
        CollectiveKind::Barrier => ["barrier", "MPI_Barrier"],
        CollectiveKind::Bcast => ["broadcast_into", "MPI_Bcast"],
        CollectiveKind::Scatter => ["scatter_into", "MPI_Scatter"],
        CollectiveKind::Gather => ["gather_into", "MPI_Gather"],
        CollectiveKind::AllGather => ["all_gather_into", "MPI_Allgather"],
        CollectiveKind::Reduce => ["reduce_into", "MPI_Reduce"],
        CollectiveKind::AllReduce => ["all_reduce_into", "MPI_Allreduce"],
        CollectiveKind::AllToAll => ["all_to_all_into", "MPI_Alltoall"],
        CollectiveKind::Fence => ["MPI_Win_fence"; 2],
        CollectiveKind::Gatherv => ["gather_varcount_into", "MPI_Gatherv"],
        CollectiveKind::Scatterv => ["scatter_varcount_into", "MPI_Scatterv"],
        CollectiveKind::AllGatherv => ["all_gather_varcount_into", "MPI_Allgatherv"],
        CollectiveKind::AllToAllv => ["all_to_all_varcount_into", "MPI_Alltoallv"],
        CollectiveKind::AllToAllw => ["MPI_Alltoallw"; 2],
        CollectiveKind::Scan => ["scan_into", "MPI_Scan"],
        CollectiveKind::Exscan => ["exclusive_scan_into", "MPI_Exscan"],
        CollectiveKind::ReduceScatter => ["MPI_Reduce_scatter"; 2],
        CollectiveKind::ReduceScatterBlock => {
            ["reduce_scatter_block_into", "MPI_Reduce_scatter_block"]
        }
        CollectiveKind::NeighborAllGather => ["MPI_Neighbor_allgather"; 2],
        CollectiveKind::NeighborAllGatherv => ["MPI_Neighbor_allgatherv"; 2],
        CollectiveKind::NeighborAllToAll => ["MPI_Neighbor_alltoall"; 2],
        CollectiveKind::NeighborAllToAllv => ["MPI_Neighbor_alltoallv"; 2],
        CollectiveKind::NeighborAllToAllw => ["MPI_Neighbor_alltoallw"; 2],
        CollectiveKind::MakeCommunicator => ["making of a communicator"; 2],
        CollectiveKind::MakeWindow => ["making of a window"; 2],
        CollectiveKind::Spawn => ["spawn", "MPI_Comm_spawn"],
    };
    dialect.words(kind.name(), rsmpi, c)
}
