//! CORTEX (sources A and B): windows of four kernels under governors (Linux) and loads (macOS).

use super::shipped;
use crate::context::{Context, Folder};
use crate::function::Parameter::{Number, Text};
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};
use flyball_import::{Options, import};
use flyball_run::{Columns, Run};
use flyball_stats::{Summary, geometric_mean, sort};
use std::collections::BTreeMap;

const PUBLISHED_AT: &str = "https://github.com/WestonVoglesonger/CORTEX, folder experiments";
const LINUX: Folder = Folder { name: "cortex-linux-2025-12-05", published_at: PUBLISHED_AT };
const MACOS: Folder = Folder { name: "cortex-macos-2025-11-15", published_at: PUBLISHED_AT };

pub(super) const FUNCTIONS: [Function; 9] = [
    function(
        "median",
        &[Text, Text],
        "median execution of a condition and a kernel, us",
        |c, g| summary(c, g).map(|s| Quantity::of(s.median)),
    ),
    function("mean", &[Text, Text], "mean execution of a condition and a kernel, us", |c, g| {
        summary(c, g).map(|s| Quantity::of(s.mean))
    }),
    function("sd", &[Text, Text], "standard deviation (n - 1) of the same, us", |c, g| {
        let sd = summary(c, g)?.sd;
        sd.map(Quantity::of).ok_or_else(|| Undecided::Reason("a single window".to_owned()))
    }),
    function("p01", &[Text, Text], "1st percentile of the same, us", |c, g| {
        summary(c, g).map(|s| Quantity::of(s.p01))
    }),
    function("windows", &[Text, Text], "number of windows of a condition and a kernel", |c, g| {
        summary(c, g).map(|s| Quantity::of(s.n as f64))
    }),
    function("geomean", &[Text], "geometric mean of a condition's medians, us", geomean),
    function(
        "claimed_mean",
        &[Text, Text],
        "mean of the frequency log of a condition and a policy, MHz",
        claimed_mean,
    ),
    function(
        "claimed_share",
        &[Text, Text, Number],
        "share of a level in the frequency log of a condition and a policy, %",
        claimed_share,
    ),
    function("fewest_windows", &[Text], "windows of the smallest cell of a folder", fewest),
];

/// Executions and claimed frequencies by condition.
#[derive(Default)]
struct Cortex {
    /// Executions in microseconds, without warm-up.
    cells: BTreeMap<(String, String), Summary>,
    /// Claimed frequencies in MHz by condition and policy.
    claimed: BTreeMap<(String, String), Vec<f64>>,
    /// Conditions by folder.
    folders: BTreeMap<String, Vec<String>>,
}

/// Executions in microseconds by folder, condition and kernel.
type Executions = BTreeMap<(String, String, String), Vec<f64>>;

impl Cortex {
    /// Reads the two folders, or the tables that ship.
    fn read(context: &Context<'_>) -> Result<Cortex, Undecided> {
        let mut cortex = Cortex::default();
        let mut executions = Executions::new();
        match (context.folder(&LINUX)?, context.folder(&MACOS)?) {
            (Some(linux), Some(macos)) => {
                for (name, path) in [("linux", linux), ("macos", macos)] {
                    let options = Options { columns: Columns::All, ..Options::default() };
                    let run = import(&path, &options)
                        .map_err(|error| Undecided::Unreadable(error.to_string()))?;
                    cortex.add(name, &run, &mut executions);
                }
            }
            _ => cortex.add_shipped(&mut executions)?,
        }
        for ((folder, condition, kernel), mut sample) in executions {
            sort(&mut sample);
            let summary = Summary::of_sorted(&sample)
                .map_err(|error| Undecided::Unreadable(error.to_string()))?;
            cortex.folders.entry(folder).or_default().push(condition.clone());
            cortex.cells.insert((condition, kernel), summary);
        }
        Ok(cortex)
    }

    fn add(&mut self, folder: &str, run: &Run, executions: &mut Executions) {
        let windows = &run.tables.windows;
        let names = windows.condition.iter().zip(windows.workload.iter());
        for ((names, warmup), exec_ns) in names.zip(&windows.warmup).zip(&windows.exec_ns) {
            if !warmup {
                let key = (folder.to_owned(), names.0.to_owned(), names.1.to_owned());
                executions.entry(key).or_default().push(*exec_ns as f64 / 1e3);
            }
        }
        let log = &run.tables.frequency;
        for ((domain, condition), khz) in
            log.domain.iter().zip(log.condition.iter()).zip(log.claimed_khz.iter())
        {
            if let (Some(condition), Some(khz)) = (condition, khz) {
                let key = (condition.to_owned(), domain.to_owned());
                self.claimed.entry(key).or_default().push(khz as f64 / 1e3);
            }
        }
    }

    fn add_shipped(&mut self, executions: &mut Executions) -> Result<(), Undecided> {
        for row in shipped::rows(&shipped::unpacked(shipped::WINDOWS)?) {
            let [folder, condition, kernel, exec_ns] = row?;
            let key = (folder.to_owned(), condition.to_owned(), kernel.to_owned());
            let us = shipped::number::<i64>(exec_ns)? as f64 / 1e3;
            executions.entry(key).or_default().push(us);
        }
        for row in shipped::rows(&shipped::unpacked(shipped::CLAIMED)?) {
            let [condition, little, big] = row?;
            for (policy, khz) in [("policy0", little), ("policy4", big)] {
                let key = (condition.to_owned(), policy.to_owned());
                let mhz = shipped::number::<i64>(khz)? as f64 / 1e3;
                self.claimed.entry(key).or_default().push(mhz);
            }
        }
        Ok(())
    }
}

fn no_cell(condition: &str, what: &str) -> Undecided {
    Undecided::Unreadable(format!("the recordings hold no {what} of {condition}"))
}

fn summary(context: &Context<'_>, given: &Arguments) -> Result<Summary, Undecided> {
    let (condition, kernel) = (given.text(0)?, given.text(1)?);
    let cortex = context.once(|| Cortex::read(context))?;
    let cell = cortex.cells.get(&(condition.to_owned(), kernel.to_owned()));
    cell.cloned().ok_or_else(|| no_cell(condition, kernel))
}

fn geomean(context: &Context<'_>, given: &Arguments) -> Outcome {
    let condition = given.text(0)?;
    let cortex = context.once(|| Cortex::read(context))?;
    let medians: Vec<f64> = cortex
        .cells
        .iter()
        .filter(|(key, _)| key.0 == condition)
        .map(|(_, cell)| cell.median)
        .collect();
    let mean = geometric_mean(&medians).map_err(|_| no_cell(condition, "windows"))?;
    Ok(Quantity::of(mean))
}

fn claimed(context: &Context<'_>, given: &Arguments) -> Result<Vec<f64>, Undecided> {
    let (condition, policy) = (given.text(0)?, given.text(1)?);
    let cortex = context.once(|| Cortex::read(context))?;
    let samples = cortex.claimed.get(&(condition.to_owned(), policy.to_owned()));
    samples.cloned().ok_or_else(|| no_cell(condition, "frequency log"))
}

const CLAIMED: &str = "from a log of sysfs at 1 Hz: what the system claims, not what it delivers";

fn claimed_mean(context: &Context<'_>, given: &Arguments) -> Outcome {
    let samples = claimed(context, given)?;
    Ok(Quantity::of(samples.iter().sum::<f64>() / samples.len() as f64).note(CLAIMED))
}

fn claimed_share(context: &Context<'_>, given: &Arguments) -> Outcome {
    let samples = claimed(context, given)?;
    let level = given.number(0)?;
    let at = samples.iter().filter(|mhz| **mhz == level).count();
    Ok(Quantity::of(100.0 * at as f64 / samples.len() as f64).note(CLAIMED))
}

fn fewest(context: &Context<'_>, given: &Arguments) -> Outcome {
    let cortex = context.once(|| Cortex::read(context))?;
    let folder = given.text(0)?;
    let conditions = cortex.folders.get(folder).ok_or_else(|| no_cell(folder, "conditions"))?;
    let of_folder = cortex.cells.iter().filter(|(key, _)| conditions.contains(&key.0));
    let fewest = of_folder.map(|(_, cell)| cell.n).min();
    fewest.map(|n| Quantity::of(n as f64)).ok_or_else(|| no_cell(folder, "windows"))
}
