//! Scenarios: a TOML file that says what is simulated.
//!
//! [`read`] turns text into a checked [`Scenario`]; every error names the place, what was expected
//! and what was found. [`Scenario::setup`] makes of it what the engine is given, once per phase.

mod build;
mod cgroup;
mod error;
mod examples;
mod features;
mod governor;
mod hint;
pub mod keys;
pub mod kinds;
mod load;
mod model;
mod parse;
pub mod quantity;
mod reader;
pub mod recorded;
mod reference;
mod reset;
mod task;
mod text;
mod tree;

pub use build::{Built, Group};
pub use error::{ScenarioError, suggestion};
pub use examples::{EXAMPLES, Example, template};
pub use governor::governor_names;
pub use model::{
    GovernorSpec, HintSpec, InterruptSpec, LoadGroup, Making, Measured, PageSpec, Record,
    RecordedItem, Release, Scenario, TaskSpec, Workload,
};
pub use parse::{Source, from_tree, read};
pub use reader::{Fields, Item, Key, key};
pub use reference::reference;
pub use text::{parse as parse_text, print as print_text, set};
pub use tree::{Entry, Node, Place, Places, Value};

#[cfg(test)]
mod tests;
