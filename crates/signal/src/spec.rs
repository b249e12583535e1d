//! What an experiment says about a workload: `{ kernel = "notch_iir", form = "fast", q = 35 }`.

use crate::Params;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Defines an enum whose variants have one serialised name and one line of description each.
macro_rules! named {
    ($(#[$attr:meta])* $type:ident, $what:literal, [$($(#[$v_attr:meta])* $variant:ident = $name:literal: $about:literal),+ $(,)?]) => {
        $(#[$attr])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $type {
            $(
                #[doc = $about]
                #[serde(rename = $name)]
                $(#[$v_attr])*
                $variant,
            )+
        }

        impl $type {
            /// Every value, in the order of the documentation.
            pub const ALL: &[$type] = &[$($type::$variant),+];

            /// The name in experiments, on the command line and in telemetry.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }

            /// One line for help texts and documents.
            pub const fn about(self) -> &'static str {
                match self { $($type::$variant => $about),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<$type, UnknownName> {
                $type::ALL.iter().copied().find(|value| value.name() == text).ok_or_else(|| UnknownName {
                    what: $what,
                    found: text.to_owned(),
                    known: &[$($name),+],
                })
            }
        }
    };
}

named!(
    /// The kernels, each a unit of real-time work per window.
    Kernel, "kernel", [
        Car = "car": "common average reference: subtracts the mean over the channels from each sample",
        NotchIir = "notch_iir": "second-order notch filter, one state per channel, removes power line hum",
        Goertzel = "goertzel": "power in frequency bands by the Goertzel recurrence, per channel",
        BandpassFir = "bandpass_fir": "windowed-sinc band-pass filter, one history per channel",
        WelchPsd = "welch_psd": "power spectral density by Welch's averaged periodograms, per channel",
        Noop = "noop": "copies the window: what the harness itself costs",
    ]
);

named!(
    /// How a kernel is computed. Both forms keep the same tolerances.
    #[derive(Default)]
    Form, "form", [
        #[default]
        Reference = "reference": "scalar code, straight as defined, in double precision",
        Fast = "fast": "vectorised for the CPU at hand (AVX2 with FMA, NEON), in double precision",
    ]
);

named!(
    /// From which sample a stateful filter continues in the next window.
    #[derive(Default)]
    Compatibility, "compatibility", [
        #[default]
        Continuous = "continuous": "from where the next window starts: equal to one filter over the whole recording",
        Source = "source": "from this window's end, as the original harness does: overlapping samples pass twice",
    ]
);

/// A name that is none of the known ones.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown {what} `{found}`")]
pub struct UnknownName {
    /// What was to be named: "kernel", "form" or "compatibility".
    pub what: &'static str,
    /// The name given.
    pub found: String,
    /// The names that exist.
    pub known: &'static [&'static str],
}

impl UnknownName {
    /// The names that exist, in one line.
    pub fn hint(&self) -> String {
        format!("one of: {}", self.known.join(", "))
    }
}

/// A workload as an experiment states it. What is left out takes the sources' value ([`Params`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// What is computed in each window.
    pub kernel: Kernel,
    /// How it is computed.
    #[serde(default)]
    pub form: Form,
    /// From which sample stateful filters continue.
    #[serde(default)]
    pub compatibility: Compatibility,
    /// Sampling rate; 160 Hz if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_hz: Option<f64>,
    /// Samples per channel in a window; 160 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Samples from one window's start to the next; half the window if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop: Option<usize>,
    /// Channels; 64 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<usize>,
    /// notch_iir: the frequency removed; 60 Hz if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f0_hz: Option<f64>,
    /// notch_iir: quality factor, f0 over the -3 dB bandwidth; 30 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<f64>,
    /// goertzel, bandpass_fir: bands as [low, high] in Hz; [8, 13] and [13, 30], or [8, 30].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bands_hz: Option<Vec<[f64; 2]>>,
    /// bandpass_fir: length of the impulse response in samples; 129 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taps: Option<usize>,
    /// welch_psd: length of the transform, a power of two; 256 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_fft: Option<usize>,
}

impl WorkloadSpec {
    /// The kernel with the sources' parameters, in its reference form.
    pub fn new(kernel: Kernel) -> WorkloadSpec {
        WorkloadSpec {
            kernel,
            form: Form::default(),
            compatibility: Compatibility::default(),
            rate_hz: None,
            window: None,
            hop: None,
            channels: None,
            f0_hz: None,
            q: None,
            bands_hz: None,
            taps: None,
            n_fft: None,
        }
    }

    /// The parameters asked for, the rest by default. Not yet validated.
    pub fn params(&self) -> Params {
        let base = Params::defaults(self.kernel);
        let window = self.window.unwrap_or(base.window);
        Params {
            rate_hz: self.rate_hz.unwrap_or(base.rate_hz),
            window,
            hop: self.hop.unwrap_or(window.div_ceil(2)),
            channels: self.channels.unwrap_or(base.channels),
            f0_hz: self.f0_hz.unwrap_or(base.f0_hz),
            q: self.q.unwrap_or(base.q),
            bands_hz: self.bands_hz.clone().unwrap_or(base.bands_hz),
            taps: self.taps.unwrap_or(base.taps),
            n_fft: self.n_fft.unwrap_or(base.n_fft),
        }
    }

    /// What a report calls this workload: the kernel, and the form where it is not the reference.
    pub fn label(&self) -> String {
        match self.form {
            Form::Reference => self.kernel.name().to_owned(),
            Form::Fast => format!("{} (fast)", self.kernel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_list_the_known() {
        for &kernel in Kernel::ALL {
            assert_eq!(kernel.name().parse(), Ok(kernel));
            assert_eq!(serde_json::to_value(kernel).unwrap(), kernel.name());
            assert!(!kernel.about().is_empty());
        }
        let error = "notch".parse::<Kernel>().unwrap_err();
        assert_eq!(error.to_string(), "unknown kernel `notch`");
        assert!(error.hint().contains("notch_iir, goertzel"));
        assert_eq!("fast".parse(), Ok(Form::Fast));
        assert_eq!("source".parse(), Ok(Compatibility::Source));
    }

    #[test]
    fn toml_states_only_what_differs() {
        let spec: WorkloadSpec =
            toml::from_str("kernel = \"notch_iir\"\nform = \"fast\"\nq = 35\nwindow = 200")
                .unwrap();
        let params = spec.params();
        assert_eq!((spec.kernel, spec.form), (Kernel::NotchIir, Form::Fast));
        assert_eq!((params.q, params.window, params.hop), (35.0, 200, 100));
        assert_eq!(spec.label(), "notch_iir (fast)");
        let text = toml::to_string(&spec).unwrap();
        assert_eq!(toml::from_str::<WorkloadSpec>(&text).unwrap(), spec);
    }

    #[test]
    fn unknown_keys_are_errors() {
        let error = toml::from_str::<WorkloadSpec>("kernel = \"car\"\nchanels = 8").unwrap_err();
        assert!(error.to_string().contains("unknown field `chanels`"), "{error}");
    }
}
