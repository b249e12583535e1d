//! `flyball`: parsing and wiring.
fn main() {}
