//! The files as they are written: one structure per table, read by serde. What no single value can
//! say about itself is checked in [`crate::check`].
//!
//! The documentation of each field is the reference that `docs/platforms.md` and `docs/kernels.md`
//! print.

pub(crate) mod kernel;
pub(crate) mod platform;
pub(crate) mod value;

pub(crate) use value::{At, Source};
