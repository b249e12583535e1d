//! The audit: everything on a machine that distorts latency or benchmarks, as findings.
//!
//! ```text
//! Host -> Facts (read once) -> rules (one file per subject) -> Audit (findings, what can't be
//! known, verdict) -> text, JSON
//! ```
//!
//! A rule reads [`Facts`] and nothing else, so every one of them is tested on recorded machines.
//! It gives a finding also where all is well ([`Severity::Ok`]), with the evidence; what the
//! machine does not tell is said to be unknown, never to be fine. Every fix is a command that does
//! something with the driver that was found.

mod audit;
mod catalogue;
mod facts;
mod finding;
mod fix;
mod listing;
mod rules;
mod text;

#[cfg(feature = "schema")]
pub use audit::schema;
pub use audit::{Audit, Counts, Document, audit};
pub use catalogue::{CATALOGUE, Entry, Id, table};
pub use facts::{Facts, Probe, ProbedCpu};
pub use finding::{Evidence, Finding, Fix, Severity};
pub use listing::{listing, summary};
pub use rules::NotKnown;
pub use text::{Style, text};
