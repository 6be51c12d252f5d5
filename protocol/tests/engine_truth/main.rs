//! The truth of the engine: small random worlds, explored by the engine and, apart from it, by a
//! plain exhaustive exploration, must come to the same answers under every reading of the standard.

mod actions;
mod agreement;
mod build;
mod census;
mod claims;
mod edit;
mod exploration;
mod known;
mod regressions;
mod sample;
mod show;
mod state;
mod steps;
mod talks;
mod together;
mod worlds;
