//! `#[p2p_protocol]`.
