//! The only door to Linux.
