//! What ships inside the binary.

use crate::error::DescriptionError;
use crate::model::{Kernel, Platform};
use flyball_units::nearest;

/// A description inside the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name: `model:NAME` on the command line.
    pub name: &'static str,
    /// The TOML text.
    pub text: &'static str,
}

/// All descriptions inside the binary.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    /// Hardware, by name.
    pub platforms: &'static [Entry],
    /// Kernels, by name.
    pub kernels: &'static [Entry],
}

macro_rules! entries {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(Entry { name: $name, text: include_str!(concat!("../", $folder, "/", $name, ".toml")) }),*]
    };
}

static CATALOGUE: Catalogue = Catalogue {
    platforms: entries!("platforms": "apple-m1", "apple-m1-macos", "board-aarch64", "board-x86", "imx8qm", "laptop-x86", "pentium-m", "pentium-m-throttled", "phone-160-512-1024", "rk3399", "zen2"),
    kernels: entries!("kernels": "debian-6.12", "debian-7.2", "debian-7.3", "freebsd-8.1", "freebsd-8.1-default", "linux-5.10", "linux-6.1", "linux-6.10-series", "linux-6.12", "linux-6.14-asahi", "linux-6.18", "linux-6.6", "linux-6.8", "linux-6.8-70us", "linux-7.2", "macos"),
};

/// Everything that ships, sorted by name.
pub fn catalogue() -> &'static Catalogue {
    &CATALOGUE
}

/// Whether a name is that of a file and not of what ships.
#[must_use]
pub fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

impl Platform {
    /// The shipped platform of that name.
    pub fn named(name: &str) -> Result<Platform, DescriptionError> {
        let entry = find("platform", name, CATALOGUE.platforms)?;
        Platform::parse(entry.text, &format!("platforms/{name}.toml"))
    }
}

impl Kernel {
    /// The shipped kernel of that name.
    pub fn named(name: &str) -> Result<Kernel, DescriptionError> {
        let entry = find("kernel", name, CATALOGUE.kernels)?;
        Kernel::parse(entry.text, &format!("kernels/{name}.toml"))
    }
}

fn find(
    what: &str,
    name: &str,
    entries: &'static [Entry],
) -> Result<&'static Entry, DescriptionError> {
    entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        let hint =
            nearest(name, names.iter().copied()).map(|near| format!("did you mean \"{near}\"?"));
        let message = format!("expected a shipped {what} ({}), found \"{name}\"", names.join(", "));
        DescriptionError::of(what, message, hint)
    })
}
