//! `noop`: copies the window, bit by bit. What it costs is what the harness costs.

use super::Compute;

struct Noop;

pub(super) fn new() -> Box<dyn Compute> {
    Box::new(Noop)
}

impl Compute for Noop {
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32 {
        output.copy_from_slice(window);
        0
    }
}
