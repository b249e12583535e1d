//! The i.MX8 measurement's method tried on a machine whose stalls are known: the windowed schedule on the model
//! of the board, with one stall put in for rising and one for falling.
//!
//! The method sees one number per pair. With both stalls in it, what it identifies is
//! `(L_up * f_high + L_down * f_low) / (f_high + f_low)`: a stall on the way up costs work at the
//! higher frequency, one on the way down at the lower.

use crate::context::Context;
use crate::function::Parameter::Number;
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};
use crate::simulation::{Spin, run, setup, task};
use flyball_platform::Cost;
use flyball_sim::setup::Setup;
use flyball_units::{CpuId, KiloHertz, Nanos};

/// The functions of this room.
pub(super) const FUNCTIONS: &[Function] = &[function(
    "windowed_method",
    &[Number, Number, Number, Number],
    "what the windowed method finds for a pair of levels with stalls up and down in us put in, us",
    windowed,
)];

const WINDOW_US: f64 = 1000.0;
const DURATION: Nanos = Nanos::from_secs(4);
/// CPU of the A53 cluster that works.
const CPU: CpuId = CpuId(0);

/// A schedule: the governor's name and its tunables.
struct Schedule<'a>(&'static str, &'a [(&'static str, i64)]);

fn windowed(_: &Context<'_>, given: &Arguments) -> Outcome {
    let stalls = (Nanos::from_micros(given.whole(2)?), Nanos::from_micros(given.whole(3)?));
    let plain = prepared(&Schedule("performance", &[]), stalls)?;
    let level = |position: u64| -> Result<KiloHertz, Undecided> {
        let opps = plain.platform.domains.first().map(|domain| domain.opps.as_slice());
        let found = opps.and_then(|opps| opps.get(usize::try_from(position).ok()?));
        found.map(|opp| opp.frequency).ok_or_else(|| Undecided::Reason("no such level".to_owned()))
    };
    let (a, b) = (level(given.whole(0)?)?, level(given.whole(1)?)?);
    let fixed = |khz: KiloHertz| {
        let mut setup = prepared(&Schedule("performance", &[]), stalls)?;
        // The work runs in the first domain; the other one may do as it likes.
        if let Some(limits) = setup.limits.first_mut() {
            *limits = Some((khz, khz));
        }
        cycles(setup)
    };
    let khz = |frequency: KiloHertz| i64::try_from(frequency.0).unwrap_or(i64::MAX);
    let tunables = [("window_us", 1000), ("first_khz", khz(a)), ("second_khz", khz(b))];
    let reached = cycles(prepared(&Schedule("windowed", &tunables), stalls)?)?;
    let expected = (fixed(a)? + fixed(b)?) / 2.0;
    Ok(Quantity::of(WINDOW_US * (1.0 - reached / expected)))
}

fn prepared(schedule: &Schedule<'_>, (up, down): (Nanos, Nanos)) -> Result<Setup, Undecided> {
    let mut setup = setup("imx8qm", "linux-6.12", schedule.0, schedule.1, DURATION)?;
    for domain in &mut setup.platform.domains {
        domain.transition.write = Cost::Constant(Nanos::ZERO);
        domain.transition.effect = Cost::Constant(Nanos::ZERO);
        domain.transition.stall = Cost::Direction { up, down };
    }
    let mut work = task("coremark", Nanos::ZERO, Spin);
    work.allowed = vec![CPU];
    setup.tasks.push(work);
    Ok(setup)
}

/// Work done: the score.
fn cycles(setup: Setup) -> Result<f64, Undecided> {
    let (_, summary) = run(setup)?;
    let done = summary.tasks.first().map(|task| task.cycles).filter(|cycles| *cycles > 0.0);
    done.ok_or_else(|| Undecided::Reason("no work was done".to_owned()))
}
