//! Descriptions of *hardware* (`platforms/*.toml`) and of *kernels* (`kernels/*.toml`), with a source
//! for every figure. The model and the virtual board read the same files.
//!
//! [`Platform::named`] and [`Kernel::named`] give what ships, [`Platform::parse`] and
//! [`Kernel::parse`] read a text; nothing here opens a file. [`energy`] holds what follows from a
//! description by a formula, [`rule`] what a governor sees of it.

mod check;
pub mod energy;
mod error;
mod file;
mod model;
#[cfg(feature = "schema")]
pub mod reference;
pub mod rule;
mod shipped;

pub use error::DescriptionError;
pub use model::{
    Architecture, ClockDomain, ClockReadings, Cost, Cpu, FrequencyControl, IdleBalanceCost,
    IdleGovernor, IdleState, IdleTick, Kernel, OperatingPoint, Paths, Platform, PointKind,
    SamplerCost, Thermal, TickReading, Transition,
};
pub use shipped::{Catalogue, Entry, catalogue, is_file};
