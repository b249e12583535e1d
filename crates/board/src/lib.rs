//! The virtual board: an unmodified kernel in an emulator, on a machine that a platform describes,
//! whose CPUs really become slower and faster with their P-states.
//!
//! - [`Machine`] is a platform as a board; [`tables`] tells the guest about it (ACPI or device tree);
//! - [`initrd`] is the guest's first file system, [`kernel`] what boots;
//! - [`plugin`] makes speed follow the P-state, [`guest`] is one boot, [`Request`] what one is asked for;
//! - [`facts`] is the description that the guest gets, for the manifest of what is measured there.

mod arch;
pub mod cache;
mod clock;
mod error;
pub mod facts;
pub mod guest;
pub mod initrd;
pub mod kernel;
mod machine;
pub mod plugin;
mod qemu;
pub mod request;
pub mod setup;
pub mod tables;
pub mod text;
mod unix;

pub use arch::Arch;
pub use clock::{Exchange, GuestClock};
pub use error::{BoardError, Result};
pub use machine::{
    MAX_CPUS, Machine, Policy, State, USUAL_BUDGET_MIPS, USUAL_IPC, arch_for, usual_ipc,
};
pub use qemu::Qemu;
pub use request::{Ready, Request};
