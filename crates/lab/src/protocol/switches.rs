//! What a frequency switch costs: the write, the stall, and the time until work runs at the new
//! speed. Three times that are never mixed.
//!
//! - [`device`]: what a method needs of a machine; [`model`] and [`live`] are the two that there are;
//! - [`methods`]: direct, windowed, detect; [`record`] writes their trials.

pub mod device;
pub mod error;
pub mod live;
pub mod methods;
pub mod model;
pub mod record;

pub use error::TransitionError;
