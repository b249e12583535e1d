//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.

mod known_answers;
mod properties;
mod reference;
