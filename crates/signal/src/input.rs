//! Recordings, from files or made up, and the windows cut from them.
//!
//! | source | what must be stated beside it |
//! |---|---|
//! | [`read_edf`]: EDF and EDF+C | nothing |
//! | [`read_csv`]: one column per channel | the rate |
//! | [`read_raw`]: 32-bit floats, little-endian, `[t][c]` | the rate and the number of channels |
//! | [`Synthetic`]: pink noise, alpha bursts, hum, drop-outs | a seed |
//!
//! Values are microvolts. A missing sample is NaN and stays NaN: each kernel states what it does
//! with it.

mod csv;
mod edf;
mod error;
mod file;
mod raw;
mod recording;
mod synthetic;
mod windows;

pub use csv::{parse_csv, read_csv};
pub use edf::{parse_edf, read_edf};
pub use error::InputError;
pub use file::{Given, open};
pub use raw::{parse_raw, read_raw};
pub use recording::Recording;
pub use synthetic::Synthetic;
pub use windows::{WindowInfo, WindowSource};
