//! Runs a world on paper.
