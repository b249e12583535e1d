//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.

mod answers;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod hints;
mod hostile;
mod model;
mod reference;
mod replay;
mod report_events;
mod reproduce;
mod topics;
mod traces;
