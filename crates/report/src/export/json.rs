//! The model itself, printed, and the schema that is generated from its definition.

use crate::model::Report;

/// The report as indented JSON with a final line feed; numbers keep their full precision.
///
/// Numbers that are not finite become `null`, as JSON has no word for them.
///
/// # Errors
/// [`serde_json::Error`] where a value has no JSON form.
pub fn json(report: &Report) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(report).map(|text| text + "\n")
}

/// JSON Schema (draft 2020-12) of [`json`]'s output.
///
/// # Errors
/// [`serde_json::Error`] where the schema cannot be printed.
#[cfg(feature = "schema")]
pub fn schema() -> Result<String, serde_json::Error> {
    let schema = schemars::schema_for!(Report);
    serde_json::to_string_pretty(&schema).map(|text| text + "\n")
}
