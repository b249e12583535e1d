//! What a machine is, read through the door: one file per subject. Everything but the list of
//! online CPUs may be absent; what is there and can't be understood is an error that names it.

pub(crate) mod core_types;
pub(crate) mod cpus;
pub(crate) mod energy;
pub(crate) mod idle;
pub(crate) mod kernel;
pub(crate) mod policies;
pub(crate) mod processor;
pub(crate) mod reader;
pub(crate) mod sensors;
pub(crate) mod surroundings;
pub(crate) mod topology;
pub(crate) mod virtualization;
