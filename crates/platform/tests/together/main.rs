//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.

mod docs;
mod errors;
mod properties;
mod published;
mod shipped;
