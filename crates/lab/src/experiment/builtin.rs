//! Experiments that ship with Flyball.

use super::{Experiment, ExperimentError, read};

/// An experiment inside the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Name on the command line: `flyball bench NAME`.
    pub name: &'static str,
    /// One line for the listing.
    pub summary: &'static str,
    /// The TOML text.
    pub text: &'static str,
}

/// Every experiment that ships.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "quick",
        summary: "4 kernels, idle and heavy load, 8 repeats, about 40 s (the default)",
        text: include_str!("../../experiments/quick.toml"),
    },
    BuiltIn {
        name: "load-fixes-frequency",
        summary: "idle, medium and heavy load: did the load fix the frequency? about 5 min",
        text: include_str!("../../experiments/load-fixes-frequency.toml"),
    },
    BuiltIn {
        name: "cortex-governors",
        summary: "governors like for like, as CORTEX meant to; on model:apple-m1",
        text: include_str!("../../experiments/cortex-governors.toml"),
    },
    BuiltIn {
        name: "governors",
        summary: "CORTEX's governor conditions on this machine: what governors cost, about 7 min per kind of core",
        text: include_str!("../../experiments/governors.toml"),
    },
    BuiltIn {
        name: "cortex-load",
        summary: "idle, medium and heavy load as CORTEX ran them; on model:apple-m1-macos",
        text: include_str!("../../experiments/cortex-load.toml"),
    },
    BuiltIn {
        name: "kernels",
        summary: "a periodic task under schedutil; what a comparison of kernels runs on each",
        text: include_str!("../../experiments/kernels.toml"),
    },
    BuiltIn {
        name: "util-est",
        summary: "a task that some kernels keep on a little core; for a comparison of kernels",
        text: include_str!("../../experiments/util-est.toml"),
    },
];

/// An experiment that ships, read.
///
/// # Errors
/// A name that none has.
pub fn named(name: &str) -> Result<Experiment, ExperimentError> {
    let built_in = BUILT_IN.iter().find(|built_in| built_in.name == name).ok_or_else(|| {
        let names: Vec<&str> = BUILT_IN.iter().map(|built_in| built_in.name).collect();
        ExperimentError::bad(
            "experiment",
            format!("expected one that ships ({}), found \"{name}\"", names.join(", ")),
        )
    })?;
    read(built_in.text, built_in.name)
}

/// What `flyball bench` runs without a file.
pub fn quick() -> Result<Experiment, ExperimentError> {
    read(include_str!("../../experiments/quick.toml"), "built-in experiment quick")
}

/// The commented experiment that `flyball bench --init` writes.
pub fn template() -> &'static str {
    include_str!("../../experiments/template.toml")
}
