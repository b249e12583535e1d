//! A report for other programs: JSON with its schema, CSV tables, Markdown for a pull request, KTAP.

mod csv;
mod json;
mod ktap;
mod markdown;

pub use csv::{cells_csv, comparisons_csv, csv, events_csv};
pub use json::json;
#[cfg(feature = "schema")]
pub use json::schema;
pub use ktap::ktap;
pub use markdown::markdown;
