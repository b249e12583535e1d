//! From what is written to what the model uses: references are resolved, defaults are filled in,
//! contradictions are errors with their place in the text.

mod cpu_list;
mod domain;
mod kernel;
mod opps;
mod platform;

use crate::error::DescriptionError;
use crate::file::{kernel::KernelFile, platform::PlatformFile};
use crate::model::{Kernel, Platform};

impl Platform {
    /// Reads a description of hardware. `origin` is the file's name for error messages; its stem
    /// becomes the platform's name.
    pub fn parse(text: &str, origin: &str) -> Result<Platform, DescriptionError> {
        let file: PlatformFile = toml::from_str(text)
            .map_err(|error| DescriptionError::from_toml(origin, text, &error))?;
        platform::build(stem(origin), file)
            .map_err(|problem| DescriptionError::from_problem(origin, text, problem))
    }
}

impl Kernel {
    /// Reads a description of a kernel. `origin` is the file's name for error messages; its stem
    /// becomes the kernel's name.
    pub fn parse(text: &str, origin: &str) -> Result<Kernel, DescriptionError> {
        let file: KernelFile = toml::from_str(text)
            .map_err(|error| DescriptionError::from_toml(origin, text, &error))?;
        kernel::build(stem(origin), file)
            .map_err(|problem| DescriptionError::from_problem(origin, text, problem))
    }
}

/// `platforms/apple-m1.toml` is `apple-m1`.
fn stem(origin: &str) -> String {
    let file_name = origin.rsplit(['/', '\\']).next().unwrap_or(origin);
    file_name.strip_suffix(".toml").unwrap_or(file_name).to_owned()
}
