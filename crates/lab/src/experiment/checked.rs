//! Strings that are checked while they are read, so that an error carries its line and column.

use flyball_units::nearest;
use serde::de::{Deserialize, Deserializer, Error};

/// Names of the signal kernels, as an experiment writes them.
pub fn kernel_names() -> impl Iterator<Item = &'static str> {
    flyball_signal::Kernel::ALL.iter().map(|kernel| kernel.name())
}

pub fn form<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    checked(deserializer, |text| one_of("form", text, &["reference", "fast"])).map(Some)
}

pub fn compatibility<'de, D: Deserializer<'de>>(d: D) -> Result<Option<String>, D::Error> {
    checked(d, |text| one_of("compatibility", text, &["continuous", "source"])).map(Some)
}

pub fn kernel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let names: Vec<&str> = kernel_names().collect();
    checked(deserializer, |text| one_of("kernel", text, &names)).map(Some)
}

fn one_of(what: &str, text: &str, choices: &[&str]) -> Result<(), String> {
    if choices.contains(&text) {
        return Ok(());
    }
    let near = nearest(text, choices.iter().copied())
        .map(|near| format!("; did you mean \"{near}\"?"))
        .unwrap_or_default();
    Err(format!("expected a {what} ({}), found \"{text}\"{near}", choices.join(", ")))
}

fn checked<'de, D: Deserializer<'de>>(
    deserializer: D,
    check: impl FnOnce(&str) -> Result<(), String>,
) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    check(&text).map_err(D::Error::custom)?;
    Ok(text)
}
