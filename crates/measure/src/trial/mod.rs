//! The measured loop: one trial of one workload.
