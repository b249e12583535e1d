//! What a frequency switch costs: the write, the stall, and the time until work runs at the new
//! speed. Three times that are never mixed.
//!
//! - [`device`]: what a method needs of a machine; [`model`] and [`live`] are the two that there are;
//! - [`methods`]: direct, windowed, detect; [`record`] writes their trials;
//! - [`mod@run`]: domain after domain, on this machine or a model.

pub mod device;
pub mod error;
pub mod live;
pub mod methods;
pub mod model;
pub mod record;
pub mod run;

pub use error::TransitionError;
