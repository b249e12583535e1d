//! What a program says to a person: data to stdout, talk to stderr, progress of long work. Nothing
//! else prints.

mod progress;
mod pulse;
mod streams;
mod terminal;

pub use progress::{Bar, Meter};
pub use pulse::{doing, pulse};
pub use streams::{data, lines, talk, unless_quiet};
pub use terminal::{charset, color, width};
