//! The example programs that rsmpi ships.
