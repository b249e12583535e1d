//! What the catalogue asks of ramp-ups.

use super::{Core, Ramp, Ramps, Scenarios, Stretch};
use crate::context::Context;
use crate::function::Parameter::{Number, Text};
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};
use flyball_stats::{median_high, sort};
use std::sync::Arc;

/// The functions of this room.
pub(crate) const FUNCTIONS: &[Function] = &[
    function("ramp_reach", &[Text, Number], "time until util_avg reaches a value, ms", |c, g| {
        let util = util(g, 0)?;
        each(c, g, |ramp| ramp.reach(util))
    }),
    function("ramp_at", &[Text, Number], "util_avg after so many ms", |c, g| {
        let ms = g.number(0)?;
        each(c, g, |ramp| ramp.at(ms).map(f64::from))
    }),
    function(
        "ramp_level",
        &[Text, Number],
        "value of util_avg nearest to a published one, at the fitted start",
        |c, g| fitted(c, g, |(value, _)| f64::from(value)),
    ),
    function(
        "ramp_dwell",
        &[Text, Number],
        "stay of util_avg at the value nearest to a published one, at the fitted start, ms",
        dwell,
    ),
    function(
        "ramp_follow",
        &[Text, Number],
        "util_avg so long after its first change as the published list takes to a value of its own",
        |c, g| {
            let util = util(g, 0)?;
            if util == 0 {
                return each(c, g, |ramp| ramp.at(0.0).map(f64::from));
            }
            let after = since_first_change(c, g.text(0)?, util);
            each(c, g, |ramp| {
                let (first, _) = ramp.util.get(1)?;
                ramp.at(first + after + HALF_TICK_MS).map(f64::from)
            })
        },
    ),
    function(
        "ramp_stay",
        &[Text, Number],
        "stay of util_avg at its value nearest to a published one, ms",
        |c, g| {
            before_the_spin(g)?;
            let util = util(g, 0)?;
            each(c, g, |ramp| ramp.nearest(util).map(|(_, stay)| stay))
        },
    ),
    function("ramp_running", &[Text, Text], "time on the little or big core, ms", |c, g| {
        let core = core(g)?;
        each(c, g, |ramp| Some(ramp.time_on(core)))
    }),
    function(
        "ramp_first_at",
        &[Text, Text, Number],
        "time until a kind of core runs it at a frequency (MHz) or more, ms",
        |c, g| {
            let (core, mhz) = (core(g)?, g.whole(0)?);
            each(c, g, |ramp| {
                let fast = |stretch: &&Stretch| stretch.core == core && stretch.mhz >= mhz;
                ramp.running.iter().find(fast).map(|stretch| stretch.from_ms)
            })
        },
    ),
    function(
        "ramp_residency",
        &[Text, Text, Number],
        "time at a frequency (MHz) of a kind of core, as long as the published plot shows, ms",
        residency,
    ),
    function(
        "ramp_interval",
        &[Text, Number, Number],
        "usual time between changes of util_avg between two values, ms",
        |c, g| intervals(c, g, usual),
    ),
    function("ramp_interval_least", &[Text, Number, Number], "shortest such time, ms", |c, g| {
        intervals(c, g, |times| times.iter().copied().reduce(f64::min))
    }),
    function("ramp_interval_most", &[Text, Number, Number], "longest such time, ms", |c, g| {
        intervals(c, g, |times| times.iter().copied().reduce(f64::max))
    }),
    function(
        "ramp_frequency_interval",
        &[Text, Text],
        "usual time between rises of the frequency of a kind of core, ms",
        |c, g| {
            let core = core(g)?;
            each(c, g, |ramp| usual(&rises(ramp, core)))
        },
    ),
];

/// The list prints times in tenths of a tick; half a tick later the change is surely over.
const HALF_TICK_MS: f64 = 0.5;

fn ramps(context: &Context<'_>, given: &Arguments) -> Result<Arc<Ramps>, Undecided> {
    context.once(|| Ok(Scenarios::default()))?.get(given.text(0)?)
}

fn util(given: &Arguments, position: usize) -> Result<u32, Undecided> {
    u32::try_from(given.whole(position)?)
        .map_err(|_| Undecided::Reason("a utilisation above 2^32".to_owned()))
}

fn core(given: &Arguments) -> Result<Core, Undecided> {
    match given.text(1)? {
        "little" => Ok(Core::Little),
        "big" => Ok(Core::Big),
        other => Err(Undecided::Reason(format!("expected little or big, found {other}"))),
    }
}

/// The distribution over the grid.
fn each(context: &Context<'_>, given: &Arguments, value: impl Fn(&Ramp) -> Option<f64>) -> Outcome {
    let ramps = ramps(context, given)?;
    let sample: Vec<f64> = ramps.all.iter().filter_map(value).collect();
    let missing = ramps.all.len() - sample.len();
    let mut quantity = Quantity::distribution(sample)?;
    if let Some(read) = &ramps.read {
        quantity = quantity.note(read.as_str());
    }
    Ok(match missing {
        0 => quantity,
        some => quantity.note(format!("{some} of {} simulations never get there", ramps.all.len())),
    })
}

fn intervals(
    context: &Context<'_>,
    given: &Arguments,
    of: impl Fn(&[f64]) -> Option<f64>,
) -> Outcome {
    let (low, high) = (util(given, 0)?, util(given, 1)?);
    each(context, given, |ramp| {
        // The first stay has no start: the task was created in it.
        let inside = ramp.levels().skip(1).filter(|(value, _)| (low..high).contains(value));
        of(&inside.map(|(_, stay)| stay).collect::<Vec<f64>>())
    })
}

/// The median, as an observer would put it.
fn usual(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sort(&mut sorted);
    median_high(&sorted)
}

/// Times between changes of the frequency while the task runs on one kind of core.
fn rises(ramp: &Ramp, core: Core) -> Vec<f64> {
    let on: Vec<f64> =
        ramp.running.iter().filter(|s| s.core == core).map(|stretch| stretch.from_ms).collect();
    on.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The simulation whose list of values and stays is nearest to the published one.
fn fitted(context: &Context<'_>, given: &Arguments, value: impl Fn((u32, f64)) -> f64) -> Outcome {
    let name = given.text(0)?;
    let ramps = ramps(context, given)?;
    let best = ramps.fitted(|| published_levels(context, name));
    let found = best.and_then(|ramp| ramp.nearest(util(given, 0).ok()?));
    let found = found.ok_or_else(|| Undecided::Reason("util_avg never changes".to_owned()))?;
    Ok(Quantity::of(value(found)).fitted(format!("{} of the run", ramps.grid)))
}

fn dwell(context: &Context<'_>, given: &Arguments) -> Outcome {
    before_the_spin(given)?;
    fitted(context, given, |(_, stay)| stay)
}

/// The stay at 0 began when the recorder did.
fn before_the_spin(given: &Arguments) -> Result<(), Undecided> {
    if given.whole(0)? == 0 {
        let reason = "the recorder's time before the spin belongs to it";
        return Err(Undecided::Reason(reason.to_owned()));
    }
    Ok(())
}

/// Sum of the published stays from the first change of util_avg to a value.
fn since_first_change(context: &Context<'_>, scenario: &str, wanted: u32) -> f64 {
    let prefix = format!("E.{scenario}.util.");
    let stays = context.catalogue.entries.iter().filter_map(|entry| {
        let util = entry.id.strip_prefix(&prefix)?.strip_suffix(".time")?;
        Some((util.parse::<u32>().ok()?, entry.published.value))
    });
    let before = stays.filter(|(util, _)| (1..wanted).contains(util));
    before.map(|(_, stay)| stay).sum()
}

fn residency(context: &Context<'_>, given: &Arguments) -> Outcome {
    let (scenario, core, mhz) = (given.text(0)?, core(given)?, given.whole(0)?);
    let shown = |kind: &str| -> Vec<(u64, f64)> {
        let prefix = format!("E.{scenario}.residency.{kind}.");
        let entries = context.catalogue.entries.iter();
        let times = entries.filter_map(|entry| {
            let mhz = entry.id.strip_prefix(&prefix)?.strip_suffix(".time")?;
            Some((mhz.parse().ok()?, entry.published.value))
        });
        times.collect()
    };
    let (little, big) = (shown("little"), shown("big"));
    let last = core == Core::Big && big.last().is_some_and(|(last, _)| *last == mhz);
    if !last {
        return each(context, given, |ramp| Some(ramp.time_at(core, mhz)));
    }
    if little.is_empty() {
        let reason = "the plot's end is not printed, and the little core's list neither";
        return Err(Undecided::Reason(reason.to_owned()));
    }
    // The last level lasts until the plot ends: after the sum of all published times.
    let end: f64 = little.iter().chain(&big).map(|(_, time)| time).sum();
    each(context, given, |ramp| Some(ramp.until(end).time_at(core, mhz)))
}

/// The values of a published list.
fn published_levels(context: &Context<'_>, name: &str) -> Vec<u32> {
    let prefix = format!("E.{name}.util.");
    let of_list = context.catalogue.entries.iter().filter(|entry| {
        entry.id.strip_prefix(&prefix).is_some_and(|rest| rest.ends_with(".level"))
    });
    of_list.map(|entry| entry.published.value as u32).collect()
}
