//! Reads sources, judges them, reports.
