//! The model's own governors on the real machine: one governor object per clock domain, given the
//! same events as in the simulator, polled and carried out from user space.
//!
//! ```text
//! /proc/stat ---> Times --\                      /--> scaling_setspeed (or both limits)
//!                          Engine: Event -> Governor -> Decision
//! limits, CPUs, suspend --/        \--> ring -> Writer -> NDJSON, run directory
//! ```
//!
//! [`prepare()`] looks at the machine and refuses what it cannot deliver; [`run`] holds the settings
//! ([`flyball_control::Hold`]: journal, recovery, one at a time), runs the loop in a thread of its
//! own, watches it, and answers at the control socket. The loop itself ([`Engine::step`]) allocates
//! nothing and takes no lock. [`replay`] feeds a log to fresh governors: the decisions are the same
//! to the byte, because it is the same object.

mod actuator;
mod daemon;
mod domain;
mod engine;
mod error;
mod exact;
mod govern_one;
mod log;
mod order;
mod prepare;
mod record;
mod replay;
mod ring;
mod rules;
mod status;
pub mod text;
mod times;
mod watch;

pub use actuator::{Actuator, Way};
pub use daemon::{Ended, Options, run};
pub use domain::DomainRecord;
pub use engine::{Engine, Spot};
pub use error::GovernError;
pub use exact::{Exact, ExactDomain, exact};
pub use govern_one::Governed;
pub use log::{Entry, Lines, Note, Sink};
pub use order::{Order, SOCKET, ask, usual_socket};
pub use prepare::{DomainOutline, Outline, Prepared, Wish, prepare};
pub use record::{Recording, RunSink};
pub use replay::{Replayed, replay};
pub use ring::{Trail, Writer, trail};
pub use status::{DomainStatus, Status};
pub use times::{SourceKind, Times};
