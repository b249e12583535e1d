//! What is kept of a simulation: results per phase ([`Outcome`]), and for one phase every event
//! ([`Recorder`]).

mod event_rows;
mod manifest;
mod outcome;
mod quantiles;
mod recorder;
mod simulate;
mod watch;

pub use event_rows::{EventRows, tid};
pub use manifest::manifest;
pub use outcome::{Metric, Outcome, Spread, Unit, spread};
pub use quantiles::Quantiles;
pub use recorder::Recorder;
pub use simulate::{Stop, simulate};
pub use watch::{GroupWatch, Watch};
