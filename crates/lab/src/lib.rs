//! The laboratory: every protocol on every machine, one run directory.
//!
//! ```text
//! experiment ──┐                              ┌─ host   this computer, through `host::Host`
//!              ├─ protocol ── x ── machine ───┼─ board  the same program in a guest of an emulator
//! conditions ──┘                              └─ model  virtual time
//!                          └─> run directory (tables, manifest)
//! ```
//! Whoever reads the run directory does not see the difference, but for the clock (`virtual`) and
//! the machine's description.

pub mod ab;
pub mod commits;
pub mod compare;
mod costs;
pub mod delivered;
pub mod experiment;
pub mod job;
pub mod kernels;
pub mod machine;
pub mod plan;
pub mod program;
pub mod protocol;
pub mod quick_look;
pub mod ramped;
pub mod session;
mod sweep;
pub mod workloads;

pub use costs::{Cost, CostTable, Point, fit};
pub use job::{Job, Protocol};
pub use machine::{
    Board, Events, Host, Machine, MachineError, Model, ModelRun, Order, Prepared, TrialRun, open,
    open_recording,
};
pub use sweep::{
    CORTEX_GOVERNORS, Like, PUBLISHED, PooledMedian, Published, ShareRange, ShareSweep, TRAP_RATIO,
    e_share_sweep,
};
