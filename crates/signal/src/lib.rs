//! Real-time signal kernels and their input.
//!
//! A *workload* is what a released window executes. It is described by a [`WorkloadSpec`] (serde),
//! turned into a ready [`Workload`] by [`WorkloadSpec::prepare`], which checks every parameter and
//! allocates everything, and then run once per window without allocation, lock or I/O.
//!
//! ```
//! use flyball_signal::{Form, Kernel, WorkloadSpec};
//!
//! let mut spec = WorkloadSpec::new(Kernel::NotchIir);
//! spec.form = Form::Fast;
//! let mut notch = spec.prepare()?;
//! let window = vec![0.0_f32; notch.input_len()];
//! let mut output = vec![0.0_f32; notch.output_len()];
//! let info = notch.run(&window, &mut output);
//! assert_eq!(info.nan_replaced, 0);
//! # Ok::<(), flyball_signal::ParamError>(())
//! ```
//!
//! Rooms: `spec` and `params` (what is asked), `design` (filter coefficients), `kernels` (one file
//! each, both forms), `rows` (the layout and the inner product that the fast forms share),
//! [`input`] (recordings and the windows cut from them).
#![warn(missing_docs)]

pub mod design;
mod error;
pub mod input;
mod kernels;
mod params;
mod rows;
mod spec;
mod workload;

pub use error::ParamError;
pub use params::Params;
pub use spec::{Compatibility, Form, Kernel, UnknownName, WorkloadSpec};
pub use workload::{RunInfo, Workload};
