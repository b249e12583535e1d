//! Scenarios that ship.

/// A scenario inside the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name on the command line: `flyball sim NAME`.
    pub name: &'static str,
    /// The TOML text; its first comment says what it shows.
    pub text: &'static str,
}

impl Example {
    /// What it shows: its first comment.
    pub fn summary(&self) -> String {
        let comment = self.text.lines().map_while(|line| line.strip_prefix('#'));
        comment.map(str::trim).collect::<Vec<_>>().join(" ")
    }
}

macro_rules! shipped {
    ($( $name:literal ),* $(,)?) => {
        /// Every scenario that ships.
        pub const EXAMPLES: &[Example] = &[
            $( Example {
                name: $name,
                text: include_str!(concat!("../../scenarios/", $name, ".toml")),
            } ),*
        ];
    };
}

shipped! {
    "audio-phone",
    "board-aarch64",
    "board-x86",
    "bursts",
    "bursts-tick",
    "cgroup-limit",
    "idle-gap",
    "job-powerd",
    "job-powerd-paper",
    "job-tick",
    "kernels-e-core",
    "kernels-m1",
    "kernels-macos",
    "ondemand-rk3399",
    "page-load",
    "page-load-series",
    "powerdxx-zen2",
    "rampup-clamped",
    "rampup-m1",
    "rampup-m1-series",
    "recorded-compressor",
    "requests-laptop",
    "rt-app-video",
    "slices",
    "threshold-phone",
    "userspace-limits",
    "util-est",
    "windowed-imx8qm",
}

/// The commented scenario that `flyball sim --init` writes.
pub fn template() -> &'static str {
    include_str!("../../scenarios/template.toml")
}
