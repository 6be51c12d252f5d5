//! The protocol language against its fixtures.

mod fixtures;
