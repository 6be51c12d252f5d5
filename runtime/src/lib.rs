//! Message passing between ranks that cannot go wrong in the ways MPI lets it.
