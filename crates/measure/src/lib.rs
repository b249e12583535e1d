//! Measuring: experiments, the measured loop, the frequency probe and the load generator.
//!
//! ```text
//! experiment (TOML) -> plan (order of trials) -> bench: for each trial
//!     load  starts and proves itself
//!     trial releases windows, probes the delivered frequency around each
//!           -> ring -> telemetry (writer thread) -> run directory
//! ```

pub mod bench;
pub mod board;
pub mod experiment;
pub mod load;
pub mod machine;
pub mod plan;
pub mod probe;
pub mod telemetry;
pub mod trial;
pub mod workloads;
