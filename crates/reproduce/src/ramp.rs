//! Ramp-ups: what happens to a task that spins from utilisation 0, over a grid of phases of the
//! tick. At a fixed frequency load tracking alone decides; else the whole model does.

mod fixed;
mod functions;
mod model;

pub(crate) use functions::FUNCTIONS;

use crate::quantity::Undecided;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Kind of core on a machine of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Core {
    Little,
    Big,
}

/// A stretch of running at one frequency on one kind of core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    pub core: Core,
    pub mhz: u64,
    pub from_ms: f64,
    pub to_ms: f64,
}

/// One ramp-up, in ms from the start of the spin.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ramp {
    /// Changes of util_avg, the first at 0.
    pub util: Vec<(f64, u32)>,
    /// Where and how fast it ran.
    pub running: Vec<Stretch>,
    /// End of the observation.
    pub end_ms: f64,
}

impl Ramp {
    /// First time at which util_avg is at least `util`.
    pub(crate) fn reach(&self, util: u32) -> Option<f64> {
        self.util.iter().find(|(_, value)| *value >= util).map(|(at, _)| *at)
    }

    /// util_avg at a time.
    pub(crate) fn at(&self, ms: f64) -> Option<u32> {
        self.util.iter().rev().find(|(at, _)| *at <= ms).map(|(_, value)| *value)
    }

    /// The values that util_avg takes, each with how long it stays there; the last one's stay is
    /// cut off by the end of the observation and left out.
    pub(crate) fn levels(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.util.windows(2).map(|pair| (pair[0].1, pair[1].0 - pair[0].0))
    }

    /// The value taken that is nearest to `util`, with its stay.
    pub(crate) fn nearest(&self, util: u32) -> Option<(u32, f64)> {
        self.levels().min_by_key(|(value, _)| value.abs_diff(util))
    }

    /// Sum of the distances of published values to the nearest ones taken.
    fn distance(&self, published: &[u32]) -> u64 {
        let nearest =
            |want: &u32| self.nearest(*want).map_or(1024, |(value, _)| value.abs_diff(*want));
        published.iter().map(|want| u64::from(nearest(want))).sum()
    }

    /// Time on one kind of core.
    pub(crate) fn time_on(&self, core: Core) -> f64 {
        let on = self.running.iter().filter(|stretch| stretch.core == core);
        on.map(|stretch| stretch.to_ms - stretch.from_ms).sum()
    }

    /// The same, as seen by who stops looking after some time.
    fn until(&self, end_ms: f64) -> Ramp {
        let mut seen = self.clone();
        seen.running.retain(|stretch| stretch.from_ms < end_ms);
        for stretch in &mut seen.running {
            stretch.to_ms = stretch.to_ms.min(end_ms);
        }
        seen.end_ms = end_ms;
        seen
    }

    /// Time at one frequency of one kind of core.
    pub(crate) fn time_at(&self, core: Core, mhz: u64) -> f64 {
        let at = self.running.iter().filter(|s| s.core == core && s.mhz == mhz);
        at.map(|stretch| stretch.to_ms - stretch.from_ms).sum()
    }
}

/// The ramp-ups of one scenario over its grid.
#[derive(Clone, Debug)]
pub(crate) struct Ramps {
    /// One per point of the grid.
    pub all: Vec<Ramp>,
    /// What the grid is, in words.
    pub grid: &'static str,
    /// What was read from a recording and went in, in words.
    pub read: Option<String>,
    /// Position of the ramp-up nearest to the published list, found when first asked for.
    nearest: OnceLock<usize>,
}

impl Ramps {
    fn new(all: Vec<Ramp>, grid: &'static str) -> Ramps {
        Ramps { all, grid, read: None, nearest: OnceLock::new() }
    }

    /// The ramp-up whose values are nearest to a published list: the start of the recorded run is
    /// not known, so it is fitted.
    pub(crate) fn fitted(&self, published: impl FnOnce() -> Vec<u32>) -> Option<&Ramp> {
        let position = self.nearest.get_or_init(|| {
            let published = published();
            let distance = |ramp: &Ramp| ramp.distance(&published);
            let positions = (0..self.all.len()).min_by_key(|&i| self.all.get(i).map(distance));
            positions.unwrap_or_default()
        });
        self.all.get(*position)
    }
}

/// The ramp-ups of each scenario, simulated when first asked for.
#[derive(Default)]
pub(crate) struct Scenarios(Mutex<BTreeMap<String, Slot>>);

type Slot = Arc<OnceLock<Result<Arc<Ramps>, Undecided>>>;

impl Scenarios {
    /// The ramp-ups of a scenario.
    pub(crate) fn get(&self, name: &str) -> Result<Arc<Ramps>, Undecided> {
        let slot = {
            // A panic elsewhere leaves the map whole: a slot is inserted in one step.
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(name.to_owned()).or_default())
        };
        slot.get_or_init(|| simulate(name).map(Arc::new)).clone()
    }
}

fn simulate(name: &str) -> Result<Ramps, Undecided> {
    match name {
        "max" => fixed::ramps(Core::Big),
        "lowest" => fixed::ramps(Core::Little),
        other => match model::scenario(other) {
            Some(scenario) => model::ramps(scenario),
            None => Err(Undecided::Reason(format!("no scenario `{other}`"))),
        },
    }
}
