//! From the ring to the run directory, in a thread of its own.
