//! The kernel's own types (BTF), and programs that run in it (BPF): ours are compiled once (`scripts/build-bpf`),
//! checked in beside their sources, and fitted to the kernel that runs when they are loaded.

mod btf;
mod load;
mod object;
pub mod testing;

pub use btf::{Btf, BtfError, Field};
pub use load::{Loaded, class_is_free, is_in_force, load};
pub use object::Object;

use flyball_host::HostError;
use flyball_units::{Diagnostic, ErrorKind};

/// The response-time ramp for tagged threads, by frequency alone (`programs/ramp.bpf.c`).
pub const RAMP: &[u8] = include_bytes!("../programs/ramp.bpf.o");
/// The threshold policy (`programs/threshold.bpf.c`).
pub const THRESHOLD: &[u8] = include_bytes!("../programs/threshold.bpf.o");
/// The tick rule (`programs/tick.bpf.c`).
pub const TICK: &[u8] = include_bytes!("../programs/tick.bpf.o");

/// Why a program is not in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BpfError {
    /// The system refused.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The kernel does not have what it takes.
    #[error("expected a kernel with {0}, found none")]
    Lacking(String),
    /// The compiled program is not what is expected.
    #[error("compiled program: expected {0}")]
    Object(String),
}

impl Diagnostic for BpfError {
    fn kind(&self) -> ErrorKind {
        match self {
            BpfError::Host(error) => error.kind(),
            BpfError::Lacking(_) => ErrorKind::Unsupported,
            BpfError::Object(_) => ErrorKind::System,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            BpfError::Host(error) => error.hint(),
            _ => None,
        }
    }
}
