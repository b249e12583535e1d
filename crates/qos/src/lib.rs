//! How fast a program's demand is answered, on the kernel that is there: the least utilisation of its
//! threads (uclamp) follows the response-time series' ramp while they run, and goes when they sleep.
//!
//! ```text
//! records of switches -> Burst (how long it has been running) -> ResponseRamp -> the thread's clamp
//! ```
//!
//! Whose clamps may be changed is in a journal before the first change. A guardian, a process of its
//! own, removes them where the controller dies; [`recover`] does it where both did.

mod attach;
mod backend;
mod burst;
mod error;
mod floors;
mod journal;
mod kernel;
mod limits;
mod means;
mod message;
mod programs;
mod recover;
mod rules;
mod schedqos;
mod served;
mod session;
mod status;
pub mod text;
mod threads;
mod users;
mod wish;

pub use attach::Attached;
pub use backend::{Backend, backend};
pub use error::QosError;
pub use journal::qos_folder;
pub use recover::{Recovered, guard, recover};
pub use rules::{Rules, Treatment};
pub use served::{Served, ServedProgram, served};
pub use session::{CONTROLLER, Ended, run};
pub use status::{Overview, Status, overview, status};
pub use threads::AskedThread;
pub use wish::{Ask, By, Target, Whose, Wish};
