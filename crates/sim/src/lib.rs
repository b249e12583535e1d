//! The simulated machine: real load tracking ([`flyball_pelt`]) and real governors
//! ([`flyball_governors`]) on a described machine ([`flyball_platform`]) in virtual time.
//!
//! ```text
//!   scenario (TOML) -> Setup -> engine -> Observer -> record (run directory) | summary
//! ```

pub mod behavior;
pub mod beside;
pub mod engine;
pub mod observe;
pub mod record;
pub mod scenario;
pub mod setup;
pub mod sweep;
pub mod text;
pub mod workload;
