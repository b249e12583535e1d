//! From a run directory to what a person reads.
