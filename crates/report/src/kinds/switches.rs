//! Frequency switches: the write, the stall, and the time until work runs at the new speed.
//!
//! - [`baseline`], [`mod@windowed`], [`grid`], [`mod@split`]: the estimators, pure;
//! - [`outside`]: beside what a board's own log says;
//! - [`mod@analysis`]: from the rows to findings; [`terminal`] and [`figures`] show them.

pub mod analysis;
pub mod baseline;
pub mod figures;
pub mod grid;
pub mod outside;
pub mod split;
pub(crate) mod tables;
pub mod terminal;
pub mod windowed;

pub use analysis::{Findings, analyse};
