//! A stand-in for the response-time series' Speedometer: pages of short tasks in dependency chains, on the M1,
//! with and without the series. Only scores relative to the default mean anything.

use crate::context::Context;
use crate::function::Parameter::Text;
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};
use crate::simulation::{run, setup, task};
use flyball_sim::behavior::Work;
use flyball_sim::setup::TaskId;
use flyball_sim::workload::{Amount, FullSpeed, PageHelper, PageLoad, PageMain};
use flyball_units::Nanos;
use rayon::prelude::*;

/// The functions of this room.
pub(super) const FUNCTIONS: &[Function] = &[function(
    "page_load_score",
    &[Text],
    "pages per time with the series and a multiplier, over those without it",
    score,
)];

/// Phases of the tick, each with its own seed.
const PHASES: u64 = 20;
const DURATION: Nanos = Nanos::from_secs(10);
const HELPERS: u32 = 3;

/// What a page consists of: the workload's defaults. Assumed, not fitted.
fn page(full_speed: FullSpeed) -> PageLoad {
    let work =
        |us| -> Work { Amount::AtFullSpeed(Nanos::from_micros(us)).work(Nanos::ZERO, full_speed) };
    PageLoad {
        stages: 40,
        main: work(1_200),
        helper: work(800),
        pause: Nanos::from_millis(4),
        pause_every: 4,
        think: Nanos::from_millis(200),
        pages: None,
    }
}

fn score(_: &Context<'_>, given: &Arguments) -> Outcome {
    let multiplier = match given.text(0)? {
        "x1" => 1,
        "x2" => 2,
        "x3" => 3,
        "x4" => 4,
        other => return Err(Undecided::Reason(format!("no multiplier {other}"))),
    };
    let ratios: Result<Vec<f64>, Undecided> = (0..PHASES)
        .into_par_iter()
        .map(|phase| Ok(per_second(Some(multiplier), phase)? / per_second(None, phase)?))
        .collect();
    Quantity::distribution(ratios?)
        .map(|quantity| quantity.note("tasks of 0.8 and 1.2 ms, pauses of 4 ms: assumed"))
}

/// Pages per second of loading; the quiet time between pages does not count.
fn per_second(multiplier: Option<u32>, phase: u64) -> Result<f64, Undecided> {
    let kernel = if multiplier.is_some() { "linux-6.10-series" } else { "linux-6.8-70us" };
    let mut setup = setup("m1", kernel, "schedutil", &[], DURATION)?;
    setup.tick_phase = Nanos((2 * phase + 1) * 1_000_000 / (2 * PHASES));
    setup.seed = phase + 1;
    let page = page(FullSpeed::of(&setup.platform));
    let helpers = (1..=HELPERS).map(TaskId).collect();
    setup.tasks.push(task("page", Nanos::ZERO, PageMain::new(page.clone(), helpers)));
    for _ in 0..HELPERS {
        setup.tasks.push(task("helper", Nanos::ZERO, PageHelper::new(&page, TaskId(0))));
    }
    for task in &mut setup.tasks {
        task.rampup_multiplier = multiplier;
    }
    let (log, _) = run(setup)?;
    let times: Vec<f64> = log
        .items
        .iter()
        .filter_map(|(begun, ended)| Some((ended.as_ref()? - begun) as f64 / 1e9))
        .collect();
    match times.iter().sum::<f64>() {
        sum if sum > 0.0 => Ok(times.len() as f64 / sum),
        _ => Err(Undecided::Reason("no page was loaded".to_owned())),
    }
}
