//! Ramp-ups: how long a machine takes to answer a sudden demand.

pub mod analysis;
pub(crate) mod figures;
pub(crate) mod tables;
pub mod terminal;

pub use analysis::{Findings, analyse};
