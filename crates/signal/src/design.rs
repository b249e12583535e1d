//! Filter and window coefficients, computed in double precision by the standard formulas.

mod firwin;
mod notch;
mod window;

pub use firwin::firwin_bandpass;
pub use notch::{Biquad, iirnotch};
pub use window::{hamming_symmetric, hann_periodic};
