//! Kinds of run: which tables and figures each has.

pub mod rampup;
pub mod switches;
