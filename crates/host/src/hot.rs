//! The calls of the measured loop as free functions, for code that knows it is on the real
//! machine: no dynamic call, no allocation, no error to build.

pub use crate::arch::{counter, multiply_chain};
pub use crate::sys::clock::{now, realtime, sleep_until, thread_cpu_time, wait_until};
pub use crate::sys::sched::current_cpu;
pub use crate::sys::signal::interrupted;
