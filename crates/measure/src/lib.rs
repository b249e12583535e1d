//! The measured loop, frequency probe, load generator, experiments.
