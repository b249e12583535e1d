//! The kernels, one file each with both forms, and how a specification becomes a workload.

mod bandpass_fir;
mod car;
mod fft;
mod goertzel;
mod noop;
mod notch_iir;
mod welch_psd;

use crate::{Compatibility, Form, Kernel, ParamError, Params, RunInfo, Workload, WorkloadSpec};
use pulp::Arch;

/// One form of one kernel. Called with slices of the lengths that [`Prepared`] has checked.
trait Compute: Send {
    /// Computes a window; returns how many samples were no finite numbers.
    fn compute(&mut self, window: &[f32], output: &mut [f32]) -> u32;

    /// Forgets all history.
    fn reset(&mut self) {}
}

/// A kernel with everything around it that all kernels share.
struct Prepared {
    kernel: Kernel,
    form: Form,
    params: Params,
    output_len: usize,
    compute: Box<dyn Compute>,
}

impl WorkloadSpec {
    /// Checks every parameter, designs the filters and allocates everything.
    ///
    /// # Errors
    /// The first parameter the kernel cannot work with.
    pub fn prepare(&self) -> Result<Box<dyn Workload>, ParamError> {
        prepare_for(self, Arch::new())
    }
}

/// [`prepare`] with the instruction set given.
fn prepare_for(spec: &WorkloadSpec, arch: Arch) -> Result<Box<dyn Workload>, ParamError> {
    let WorkloadSpec { kernel, form, .. } = *spec;
    let params = spec.params();
    params.validate(kernel)?;
    // How far a stateful filter's memory moves from one window to the next.
    let advance = match spec.compatibility {
        Compatibility::Continuous => params.hop,
        Compatibility::Source => params.window,
    };
    let per_window = params.input_len();
    let (output_len, compute) = match kernel {
        Kernel::Car => (per_window, car::new(&params, form, arch)),
        Kernel::Noop => (per_window, noop::new()),
        Kernel::NotchIir => (per_window, notch_iir::new(&params, form, arch, advance)),
        Kernel::BandpassFir => (per_window, bandpass_fir::new(&params, form, arch, advance)?),
        Kernel::Goertzel => {
            (params.bands_hz.len() * params.channels, goertzel::new(&params, form, arch)?)
        }
        Kernel::WelchPsd => {
            ((params.n_fft / 2 + 1) * params.channels, welch_psd::new(&params, form, arch))
        }
    };
    Ok(Box::new(Prepared { kernel, form, params, output_len, compute }))
}

impl Workload for Prepared {
    fn kernel(&self) -> Kernel {
        self.kernel
    }

    fn form(&self) -> Form {
        self.form
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn input_len(&self) -> usize {
        self.params.input_len()
    }

    fn output_len(&self) -> usize {
        self.output_len
    }

    fn run(&mut self, window: &[f32], output: &mut [f32]) -> RunInfo {
        if window.len() != self.input_len() || output.len() != self.output_len {
            output.fill(f32::NAN);
            return RunInfo { nan_replaced: 0, refused: true };
        }
        RunInfo { nan_replaced: self.compute.compute(window, output), refused: false }
    }

    fn reset(&mut self) {
        self.compute.reset();
    }
}

/// Copies samples; what is no finite number becomes 0 and is counted.
fn copy_finite(from: &[f32], to: &mut [f32]) -> u32 {
    let mut missing = 0;
    for (to, &from) in to.iter_mut().zip(from) {
        let finite = from.is_finite();
        missing += u32::from(!finite);
        *to = if finite { from } else { 0.0 };
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CPU that runs the tests has vector instructions; the code for those without must still
    /// be right.
    #[test]
    fn fast_forms_need_no_vector_instructions() {
        for &kernel in Kernel::ALL {
            let mut spec = WorkloadSpec::new(kernel);
            (spec.form, spec.channels) = (Form::Fast, Some(11));
            let mut scalar = prepare_for(&spec, Arch::Scalar).unwrap();
            let mut best = spec.prepare().unwrap();
            let window: Vec<f32> = (0..160 * 11).map(|i| (i * 37 % 101) as f32 - 50.0).collect();
            let (mut a, mut b) = (vec![0.0; best.output_len()], vec![0.0; best.output_len()]);
            for _ in 0..3 {
                assert_eq!(scalar.run(&window, &mut a), best.run(&window, &mut b));
                for (a, b) in a.iter().zip(&b) {
                    assert!((a - b).abs() <= 1e-4 + 1e-5 * b.abs(), "{kernel}: {a} {b}");
                }
            }
        }
    }
}
