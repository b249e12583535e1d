//! CORTEX's governor validation on the M1 model: every condition on each kind of core by itself, then mixed as if
//! nobody had recorded where the windows ran.

use crate::context::Context;
use crate::function::Parameter::{Number, Text};
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};
use crate::simulation::reason;
use flyball_lab::{Model, ShareRange, ShareSweep, e_share_sweep};
use flyball_units::{Duration, Nanos};

const FITTED: &str =
    "the kernels' cycles and memory time on each kind of core, to the modes of the recordings";
/// Step of the share.
const STEP_PERCENT: u32 = 1;
/// Repeats of each cell.
const REPEATS: u32 = 2;
/// Length of a repeat: long enough that its first windows, which a new task's utilisation speeds up,
/// weigh as little as in the recordings.
const DURATION: Duration = Duration(Nanos::from_secs(60));

/// The functions of this room.
pub(super) const FUNCTIONS: &[Function] = &[
    function(
        "model_low_to_high",
        &[Text],
        "powersave over performance on one kind of core of the M1 model",
        |c, g| like(c, g, |like| like.low_to_high),
    ),
    function(
        "model_schedutil_to_powersave",
        &[Text],
        "schedutil over powersave on one kind of core of the M1 model",
        |c, g| like(c, g, |like| like.schedutil_to_powersave),
    ),
    function(
        "model_mixture_ratio",
        &[Text, Number, Text, Number],
        "ratio of pooled geometric means of two conditions on the M1 model, each at its share of E cores in %",
        mixture,
    ),
    function(
        "model_pooled_median",
        &[Text, Text],
        "pooled median of a condition and a kernel on the M1 model that is nearest to CORTEX's, over all shares of E cores, us",
        pooled,
    ),
    function(
        "model_trap_share",
        &[Text, Text, Number],
        "first or last share of E cores of schedutil's (or powersave's) windows at which the trap appears, with the other condition's share given, %",
        trap_share,
    ),
];

/// How near a pooled median has to be to the published one.
const NEAR: f64 = 0.05;

/// The sweep; it takes a second, so the context keeps it.
pub(crate) fn sweep() -> Result<ShareSweep, Undecided> {
    let model = Model::named("apple-m1", Some("linux-6.14-asahi")).map_err(reason)?;
    e_share_sweep(&model, STEP_PERCENT, REPEATS, DURATION).map_err(reason)
}

fn like(
    context: &Context<'_>,
    given: &Arguments,
    value: impl Fn(&flyball_lab::Like) -> f64,
) -> Outcome {
    let core = given.text(0)?;
    let sweep = context.once(sweep)?;
    let found = sweep.like.iter().find(|like| like.core_type == core);
    found
        .map(|like| Quantity::of(value(like)).fitted(FITTED))
        .ok_or_else(|| Undecided::Reason(format!("no core of kind {core}")))
}

fn mixture(context: &Context<'_>, given: &Arguments) -> Outcome {
    let share = |position| -> Result<u32, Undecided> {
        let whole = given.whole(position)?;
        u32::try_from(whole)
            .ok()
            .filter(|share| *share <= 100)
            .ok_or_else(|| Undecided::Reason(format!("expected 0 to 100 %, found {whole}")))
    };
    let (subject, baseline) = ((given.text(0)?, share(0)?), (given.text(1)?, share(1)?));
    Ok(Quantity::of(context.once(sweep)?.ratio(subject, baseline)).fitted(FITTED))
}

fn pooled(context: &Context<'_>, given: &Arguments) -> Outcome {
    let (condition, kernel) = (given.text(0)?, given.text(1)?);
    let ranges = context.once(sweep)?.published(NEAR);
    let of_cell = |range: &&ShareRange| {
        range.published.condition == condition && range.published.kernel == kernel
    };
    let Some(range) = ranges.iter().find(of_cell) else {
        return Err(Undecided::Reason(format!("no median of {kernel} under {condition}")));
    };
    Ok(Quantity::of(range.nearest_us).fitted(FITTED).note(mixtures(range)))
}

/// At which mixtures a median comes out, in words.
fn mixtures(range: &ShareRange) -> String {
    match (range.shares, range.jump) {
        (Some((first, last)), _) => format!("with {first} to {last} % of the windows on E cores"),
        (None, Some((before, after))) => {
            format!("the pooled median jumps over it between {before} and {after} % on E cores")
        }
        (None, None) => "no mixture gives it".to_owned(),
    }
}

fn trap_share(context: &Context<'_>, given: &Arguments) -> Outcome {
    let (end, varied, held) = (given.text(0)?, given.text(1)?, given.whole(0)?);
    let trap = context.once(sweep)?.trap(NEAR);
    let of_pair = |&(powersave, schedutil): &(u32, u32)| match varied {
        "schedutil" => (u64::from(powersave) == held).then_some(schedutil),
        _ => (u64::from(schedutil) == held).then_some(powersave),
    };
    let shares = trap.iter().filter_map(of_pair);
    let share = if end == "first" { shares.min() } else { shares.max() };
    share
        .map(|share| Quantity::of(share.into()).fitted(FITTED))
        .ok_or_else(|| Undecided::Reason(format!("no trap at {held} %")))
}
