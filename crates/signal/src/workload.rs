//! What the measured loop calls once per window.

use crate::{Form, Kernel, Params};

/// What a run has to say beside its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// Samples of this window that were no finite number and were left out (car) or taken as 0.
    /// A sample in the overlap of two windows counts in both.
    pub nan_replaced: u32,
    /// A slice had the wrong length: nothing was computed, and the output is filled with NaN.
    pub refused: bool,
}

/// A prepared workload: everything is allocated, so that [`run`](Workload::run) only computes.
pub trait Workload: Send {
    /// What is computed.
    fn kernel(&self) -> Kernel;

    /// How it is computed.
    fn form(&self) -> Form;

    /// The parameters it was prepared with, defaults filled in.
    fn params(&self) -> &Params;

    /// Samples expected in a window: W * C, sample-major `[t][c]`, in microvolts.
    fn input_len(&self) -> usize;

    /// Numbers produced per window.
    ///
    /// | kernel | shape |
    /// |---|---|
    /// | car, notch_iir, bandpass_fir, noop | `[W][C]`, microvolts |
    /// | goertzel | `[bands][C]`, squared microvolts times W squared (sums of `abs(X_k)^2`) |
    /// | welch_psd | `[n_fft / 2 + 1][C]`, squared microvolts per Hz |
    fn output_len(&self) -> usize;

    /// Computes one window. No allocation, lock or I/O; the work is that of the whole window.
    ///
    /// Successive calls are successive windows, each starting H samples after the one before.
    fn run(&mut self, window: &[f32], output: &mut [f32]) -> RunInfo;

    /// Forgets all history: the next window is the first of a recording.
    fn reset(&mut self);
}
