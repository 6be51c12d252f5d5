//! Which calls in the text communicate, for coverage: whatever of them is not understood is counted,
//! so that silence never passes for proof.

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

/// Whether a function of MPI meets other ranks, or nobody knows.
pub(super) fn communicates(name: &str) -> bool {
    !LOCAL.iter().any(|start| name.starts_with(start))
}
