//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.

mod machines;
mod malformed;
mod snapshot;
mod surroundings;
mod virtual_time;
