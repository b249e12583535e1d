//! Robust estimates, modes, bootstrap, comparisons and verdicts.
