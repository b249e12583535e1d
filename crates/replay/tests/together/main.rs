//! Tests that do not disturb each other, as one program: to link each by itself took longer than to run it.

mod laws;
mod shadow_board;
mod shadow_golden;
mod shadow_model;
