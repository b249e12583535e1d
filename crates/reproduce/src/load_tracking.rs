//! Numbers that load tracking alone decides: the table of margins and the series' approximations.

use crate::context::Context;
use crate::function::Parameter::{Number, Text};
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};
use flyball_pelt::{
    CAPACITY_SCALE, PeltMultiplier, approximate_runtime, margin_table_row, threshold_as_posted,
};
use flyball_platform::Platform;

/// The functions of this room.
pub(crate) const FUNCTIONS: &[Function] = &[
    function(
        "margin",
        &[Number],
        "migration threshold of a capacity, as the cover letter's table",
        |_, given| Ok(Quantity::of(margin_table_row(capacity(given)?).threshold.into())),
    ),
    function("margin_tick", &[Number], "the same, one tick of 1 ms earlier", |_, given| {
        Ok(Quantity::of(margin_table_row(capacity(given)?).threshold_tick.into()))
    }),
    function(
        "margin_capacity",
        &[Number],
        "smallest capacity with a threshold of so many percent",
        margin_capacity,
    ),
    function(
        "approximate_runtime",
        &[Number],
        "patch 3: time from 0 to a utilisation, ms",
        |_, given| {
            Ok(Quantity::of(approximate_runtime(capacity(given)?, PeltMultiplier::X1).into()))
        },
    ),
    function(
        "posted_threshold",
        &[Number, Number],
        "patch 4 as posted: threshold of a capacity for a tick in us",
        |_, given| {
            let threshold =
                threshold_as_posted(capacity(given)?, given.whole(1)?, PeltMultiplier::X1);
            Ok(Quantity::of(threshold.into()))
        },
    ),
    function(
        "stretch",
        &[Text],
        "wall time per time of a task on a platform at its slowest",
        stretch,
    ),
];

fn capacity(given: &Arguments) -> Result<u32, Undecided> {
    let whole = given.whole(0)?;
    u32::try_from(whole)
        .ok()
        .filter(|capacity| *capacity <= CAPACITY_SCALE)
        .ok_or_else(|| Undecided::Reason(format!("expected 0 to {CAPACITY_SCALE}, found {whole}")))
}

fn margin_capacity(_: &Context<'_>, given: &Arguments) -> Outcome {
    let wanted = given.number(0)? * 100.0;
    let found = (1..=CAPACITY_SCALE)
        .find(|&capacity| f64::from(margin_table_row(capacity).percent_hundredths) >= wanted);
    let none = || Undecided::Reason("no capacity has it".to_owned());
    found.map(|capacity| Quantity::of(capacity.into())).ok_or_else(none)
}

/// A platform that ships, as the catalogue abbreviates it.
pub(crate) fn platform(name: &str) -> Result<Platform, Undecided> {
    let file = match name {
        "m1" => "apple-m1",
        "phone" => "phone-160-512-1024",
        other => other,
    };
    Platform::named(file).map_err(|error| Undecided::Reason(error.to_string()))
}

fn stretch(_: &Context<'_>, given: &Arguments) -> Outcome {
    let platform = platform(given.text(0)?)?;
    let slowest = platform.cpus.iter().filter_map(|cpu| {
        let opps = &platform.domains.get(cpu.domain)?.opps;
        let frequency = opps.max().0 as f64 / opps.min().0 as f64;
        Some(f64::from(CAPACITY_SCALE) / f64::from(cpu.capacity.0) * frequency)
    });
    let none = || Undecided::Reason("a platform without CPUs".to_owned());
    let note = format!("on the model {}", platform.name);
    let most = slowest.reduce(f64::max).ok_or_else(none)?;
    Ok(Quantity::of(most).note(note))
}
