//! Thomson's Table 1: a job of fixed work that starts on an idle machine at 600 MHz, under each
//! variant of each rule, over the phases of ticks and polls.

use crate::context::Context;
use crate::function::Parameter::Text;
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};
use crate::simulation::{run, setup, task};
use flyball_sim::behavior::Work;
use flyball_sim::setup::Setup;
use flyball_sim::workload::Batch;
use flyball_stats::mean;
use flyball_units::{KiloHertz, Nanos};
use rayon::prelude::*;

/// The functions of this room.
pub(super) const FUNCTIONS: &[Function] = &[function(
    "job",
    &[Text, Text],
    "mean or sd of the job's runtime under a variant of a rule, over the grid of phases, ms",
    job,
)];

/// Phases per grid.
const PHASES: u64 = 250;
/// Idle time before the job: several polls.
const BEFORE: Nanos = Nanos::from_millis(2000);
/// Room for the slowest rule.
const AFTER: Nanos = Nanos::from_millis(1500);

/// A variant of a rule.
struct Variant {
    governor: &'static str,
    tunables: &'static [(&'static str, i64)],
    /// Rate of the statistics clock.
    stat_hz: u32,
    /// Whether the poll's phase is swept, not the tick's.
    polls: bool,
    /// What of it was chosen to fit the published mean.
    chosen: Option<&'static str>,
}

fn variant(name: &str) -> Option<Variant> {
    let none = None;
    let powerd = |governor, tunables| Variant {
        governor,
        tunables,
        stat_hz: 128,
        polls: true,
        chosen: none,
    };
    let tick = |tunables, stat_hz| Variant {
        governor: "tick",
        tunables,
        stat_hz,
        polls: false,
        chosen: none,
    };
    Some(match name {
        "powerd-paper" => powerd("powerd-paper", &[]),
        "powerd-hadp" => powerd("powerd", &[("mode", 1)]),
        "powerd-adp" => powerd("powerd", &[("mode", 2)]),
        "tick-3" => tick(&[("n", 2)], 100),
        "tick-4" => tick(&[], 100),
        "tick-8" => Variant { chosen: Some("the number of ticks"), ..tick(&[("n", 7)], 100) },
        "tick-4-stathz-50" => {
            Variant { chosen: Some("the rate of the statistics clock"), ..tick(&[], 50) }
        }
        "tick-4-stathz-128" => tick(&[], 128),
        "performance" => Variant { governor: "performance", ..tick(&[], 128) },
        _ => return None,
    })
}

fn job(context: &Context<'_>, given: &Arguments) -> Outcome {
    let name = given.text(0)?;
    let variant = variant(name).ok_or_else(|| Undecided::Reason(format!("no variant {name}")))?;
    let maximum = context.catalogue.get("C.table1.maximum.mean");
    let maximum = maximum.ok_or_else(|| Undecided::Reason("no amount of work".to_owned()))?;
    let ms = maximum.published.value;
    let sample: Result<Vec<f64>, Undecided> =
        (0..PHASES).into_par_iter().map(|phase| runtime(&variant, ms, phase)).collect();
    let sample = sample?;
    let average = mean(&sample);
    let spread = sample.iter().map(|ms| (ms - average).powi(2)).sum::<f64>() / PHASES as f64;
    // What the mean implies for the time at 600 MHz before the jump to 1700.
    let slow = (average - ms) / (1.0 - 600.0 / 1700.0);
    let quantity = match given.text(1)? {
        "mean" => {
            let mut quantity = Quantity::distribution(sample)?;
            quantity.value = average;
            quantity.note(format!("implies {slow:.1} ms at 600 MHz"))
        }
        "sd" => Quantity::of(spread.sqrt()).note("all of it is the phase of the poll or the tick"),
        other => return Err(Undecided::Reason(format!("expected mean or sd, found {other}"))),
    };
    Ok(match variant.chosen {
        Some(what) => quantity.fitted(what),
        None => quantity,
    })
}

/// Runtime of the job in ms.
fn runtime(variant: &Variant, ms_at_maximum: f64, phase: u64) -> Result<f64, Undecided> {
    let mut setup = prepared(variant, phase)?;
    let full = setup.platform.domains.first().map_or(0, |domain| domain.opps.max().0);
    let work = Work { cycles: (ms_at_maximum * full as f64) as u64, memory: Nanos::ZERO };
    setup.tasks.push(task("job", Nanos(1), Batch::new(work, BEFORE, Nanos(1), 1)));
    let (log, _) = run(setup)?;
    match log.items.as_slice() {
        [(begun, Some(ended))] => Ok((ended - begun) as f64 / 1e6),
        _ => Err(Undecided::Reason("the job does not end".to_owned())),
    }
}

fn prepared(variant: &Variant, phase: u64) -> Result<Setup, Undecided> {
    let duration = BEFORE + AFTER;
    let (rule, tunables) = (variant.governor, variant.tunables);
    let mut setup = setup("pentium-m", "freebsd-8.1", rule, tunables, duration)?;
    setup.kernel.stat_hz = variant.stat_hz;
    if rule != "performance" {
        setup.initial = vec![Some(KiloHertz(600_000)); setup.platform.domains.len()];
    }
    let of = |length: u64| Nanos((2 * phase + 1) * length / (2 * PHASES));
    if variant.polls {
        setup.poll_phase = of(250_000_000);
        // A second, unrelated phase: the golden section spreads it evenly over the grid.
        let turn = (phase as f64 * 0.618_033_988_75).fract();
        setup.tick_phase = Nanos((turn * 1e7) as u64);
    } else {
        let longest = 1_000_000_000 / u64::from(setup.kernel.hz.min(setup.kernel.stat_hz));
        let tick = 1_000_000_000 / u64::from(setup.kernel.hz);
        setup.tick_phase = Nanos(of(longest).0 % tick);
    }
    Ok(setup)
}
