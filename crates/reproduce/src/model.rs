//! Numbers that need more than load tracking: rules driven by hand, jobs and schedules on the
//! simulated machine.

mod job;
mod load;
pub(crate) mod mixture;
mod page;
mod rules;
mod switching;

use crate::function::Function;

/// The sources' own rules, carried out.
pub(crate) const RULES: &[Function] = rules::FUNCTIONS;

/// What runs on a simulated machine.
pub(crate) const FUNCTIONS: &[&[Function]] =
    &[job::FUNCTIONS, page::FUNCTIONS, switching::FUNCTIONS, mixture::FUNCTIONS, load::FUNCTIONS];
