//! Many simulations at once: the phases of a scenario, and the points of a sweep, on all cores.
//!
//! A sweep is interruptible: every finished point is a line of a journal beside the run directory
//! to be; the same command again goes on where it stopped, and the result is the same as if it
//! never had. The parts of a sweep that several machines simulated are such journals, too.

mod axis;
mod journal;
mod phases;
mod places;
mod record;
mod run;
mod shard;
pub mod text;

pub use axis::{Axis, AxisError, Point, points};
pub use journal::{Finished, Header, Journal, JournalError, unit_of};
pub use phases::{Progress, run_phases};
pub use places::{Places, PlacesError};
pub use record::{Ended, RunError, begun, record_phase, run};
pub use run::{Sweep, SweepEnd, SweepError, phase_rows, simulate_point};
pub use shard::{MergeError, Shard, merge};
