//! The kernel's ring buffer as it is: pages of events, and the layouts by which their fields are found.

pub mod format;
pub mod page;
