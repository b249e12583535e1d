//! What `--machine` means: an experiment in, a run directory out.
//!
//! ```text
//! --machine TEXT -> Target -> open -> Machine::prepare(experiment) -> Prepared::run -> run directory
//!     host                    Host     measure::bench: real windows on this computer
//!     model:NAME[,kernel=K]   Model    sim: the same windows in virtual time
//!     board:NAME[,kernel=K]   Board    the same bench, by the flyball in the guest
//!     record:DIR              refused until what it needs is built
//! ```
//!
//! Whoever reads the run directory does not see the difference, but for the clock (`virtual`) and
//! the machine's description.

mod board;
pub mod compare;
mod cores;
mod costs;
mod error;
mod host;
mod in_guest;
mod machine;
mod model;
mod sweep;
mod target;

pub use board::{Board, GuestRows};
pub use costs::{Cost, CostTable, Point, fit};
pub use error::{ErrorKind, MachineError};
pub use host::Host;
pub use machine::{Machine, Prepared, open, open_recording};
pub use model::{Events, Model, ModelRun, TrialRun};
pub use sweep::{
    Like, PUBLISHED, PooledMedian, Published, SOURCE_A, ShareRange, ShareSweep, TRAP_RATIO,
    e_share_sweep,
};
pub use target::{BoardTarget, Target, TargetError};
