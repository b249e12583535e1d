//! What a frequency switch costs: the write, the stall, and the time until work runs at the new
//! speed. Three times that are never mixed.
//!
//! ```text
//! device (this machine, or a model) -> methods -> trials (rows) -> analysis -> findings
//!                                    importers of others' data ---^              |
//!                                                            terminal, figures <-+
//! ```
//! - [`device`]: what a method needs of a machine; [`model`] and [`live`] are the two that there are;
//! - [`methods`]: direct, windowed, detect;
//! - [`estimate`], [`baseline`], [`mod@windowed`], [`grid`], [`mod@split`]: the estimators, pure;
//! - [`outside`]: beside what a board's own log says;
//! - [`mod@analysis`]: from the rows to findings; [`terminal`] and [`figures`] show them.

pub mod analysis;
pub mod baseline;
pub mod device;
pub mod error;
pub mod estimate;
pub mod figures;
pub mod grid;
pub mod live;
pub mod methods;
pub mod model;
pub mod outside;
pub mod page;
pub mod random;
pub mod record;
pub mod split;
pub mod terminal;
pub mod windowed;

pub use analysis::{Findings, analyse};
pub use error::TransitionError;
