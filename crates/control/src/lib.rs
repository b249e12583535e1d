//! Settings of the machine, held while something runs, and restored whatever happens.
//!
//! ```text
//! Settings -> plan -> journal on disk -> writes, each read back -> ... -> restore -> no journal
//! ```
//!
//! The journal holds the old value of every file that a hold changes, or that changes with it, and
//! is on the disk before the first change. [`recover`] restores from it after a crash, `kill -9` or
//! a panic; every [`Hold`] does so first. Everything goes through [`flyball_host::Host`], so all of
//! it works on recorded and faulty machines.

mod boost;
mod domain;
mod error;
mod hold;
mod journal;
mod machine;
mod plan;
mod points;
mod recover;
mod restore;
mod settings;
mod settle;
mod state;
pub mod text;
mod tunables;
mod watch;

pub use error::{ControlError, NotRestored};
pub use hold::{Ended, Hold, preflight};
pub use machine::Machine;
pub use plan::{Held, Plan, Step, Tuning, plan};
pub use recover::{Recovered, recover};
pub use restore::Foreign;
pub use settings::{Moving, SETTINGS, Scope, Setting, Settings};
pub use state::state_folder;
pub use watch::Change;
