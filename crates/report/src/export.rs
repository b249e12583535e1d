//! A report for other programs: JSON with its schema, CSV tables, and Markdown for a pull request.

mod csv;
mod json;
mod markdown;

pub use csv::{cells_csv, comparisons_csv, csv, events_csv};
pub use json::{json, schema};
pub use markdown::markdown;
