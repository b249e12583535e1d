//! The rules, one file per subject.

mod clocks;
mod daemons;
mod driver;
mod governor;
mod heat;
mod idle;
mod interrupts;
mod kernel;
mod latency;
mod limits;
mod placement;
mod power;
mod preference;
mod probe;
mod quota;
mod response;
mod unknown;
mod virtualization;

use crate::facts::{Facts, Probe};
use crate::finding::Finding;

pub(crate) use driver::words as driver_words;
pub use unknown::NotKnown;
pub(crate) use unknown::not_known;

/// Everything that the rules find, in no order.
pub(crate) fn all(facts: &Facts, probe: Option<&Probe>) -> Vec<Finding> {
    let rules: [fn(&Facts) -> Vec<Finding>; 17] = [
        driver::find,
        governor::find,
        clocks::find,
        limits::find,
        preference::find,
        latency::find,
        idle::find,
        placement::find,
        interrupts::find,
        kernel::find,
        heat::find,
        power::find,
        daemons::find,
        response::find,
        virtualization::find,
        quota::find,
        unknown::find,
    ];
    let mut findings: Vec<Finding> = rules.iter().flat_map(|rule| rule(facts)).collect();
    findings.extend(probe.map(|seen| probe::find(facts, seen)).unwrap_or_default());
    findings
}
