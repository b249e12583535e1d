//! The i.MX8 measurement: CoreMark scores while a schedule alternates two frequencies every millisecond.
//!
//! With W the window, L = W * (1 - reached / expected), where expected is the mean of the scores
//! at the two fixed levels: what the source's five lines of Python reduce to.

use crate::context::{Context, Folder};
use crate::function::Parameter::{Number, Text};
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};
use flyball_stats::{mean, median_in_place};
use std::collections::BTreeMap;
use std::path::Path;

const FOLDER: Folder = Folder {
    name: "imx8qm-coremark",
    published_at: "https://github.com/CTU-IIG/demos-sched, branch cpufreq_docs",
};

/// Length of a window in microseconds.
const WINDOW_US: f64 = 1000.0;

pub(super) const FUNCTIONS: [Function; 4] = [
    function(
        "switch_mean",
        &[Text, Number, Number],
        "mean latency of a set-up and a pair of levels, by the source's method, us",
        |c, g| latencies(c, g).map(|us| Quantity::of(mean(&us))),
    ),
    function(
        "switch_median",
        &[Text, Number, Number],
        "the same, with medians of the scores at fixed levels and over the runs, us",
        switch_median,
    ),
    function("switch_runs", &[Text, Number, Number], "runs of a set-up and a pair", |c, g| {
        latencies(c, g).map(|us| Quantity::of(us.len() as f64))
    }),
    function(
        "switch_cores",
        &[Text],
        "score of a set-up over one core's, at the lowest level",
        cores,
    ),
];

/// Scores by set-up and row: `fixed0`, `alternating01`.
struct Coremark(BTreeMap<(String, String), Vec<f64>>);

impl Coremark {
    fn read(context: &Context<'_>) -> Result<Coremark, Undecided> {
        let folder = context.folder(&FOLDER)?;
        let mut scores = BTreeMap::new();
        for (name, file) in
            [("4x", "4x_a53/dataset.csv"), ("1x", "1x_a53_all_other_cores_disabled/dataset.csv")]
        {
            rows(&folder.join(file), name, &mut scores)?;
        }
        Ok(Coremark(scores))
    }

    fn row(&self, setup: &str, name: &str) -> Result<&[f64], Undecided> {
        let row = self.0.get(&(setup.to_owned(), name.to_owned()));
        let missing = || Undecided::Unreadable(format!("dataset.csv of {setup} holds no {name}"));
        row.map(Vec::as_slice).ok_or_else(missing)
    }
}

/// One line per row: its name, then one score per run.
fn rows(
    path: &Path,
    setup: &str,
    scores: &mut BTreeMap<(String, String), Vec<f64>>,
) -> Result<(), Undecided> {
    let text =
        fs_err::read_to_string(path).map_err(|error| Undecided::Unreadable(error.to_string()))?;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut fields = line.split(',');
        let name = fields.next().unwrap_or_default();
        let parsed: Result<Vec<f64>, _> = fields.map(|field| field.trim().parse()).collect();
        let values = parsed.map_err(|_| {
            let place = path.display();
            Undecided::Unreadable(format!("{place}, row {name}: expected scores, found text"))
        })?;
        // "1ms_a72_fixed0" in one of the two files (its cores are A53 all the same).
        let name = name.rsplit('_').next().unwrap_or_default();
        scores.insert((setup.to_owned(), name.to_owned()), values);
    }
    Ok(())
}

fn pair(given: &Arguments) -> Result<(String, [String; 2]), Undecided> {
    let (a, b) = (given.whole(0)?, given.whole(1)?);
    Ok((format!("alternating{a}{b}"), [format!("fixed{a}"), format!("fixed{b}")]))
}

/// The latency of each run.
fn latencies(context: &Context<'_>, given: &Arguments) -> Result<Vec<f64>, Undecided> {
    let coremark = context.once(|| Coremark::read(context))?;
    let setup = given.text(0)?;
    let (alternating, [a, b]) = pair(given)?;
    let expected = (mean(coremark.row(setup, &a)?) + mean(coremark.row(setup, &b)?)) / 2.0;
    let reached = coremark.row(setup, &alternating)?;
    Ok(reached.iter().map(|score| WINDOW_US * (1.0 - score / expected)).collect())
}

fn switch_median(context: &Context<'_>, given: &Arguments) -> Outcome {
    let coremark = context.once(|| Coremark::read(context))?;
    let setup = given.text(0)?;
    let (alternating, [a, b]) = pair(given)?;
    let median =
        |row: &str| coremark.row(setup, row).map(|scores| median_in_place(&mut scores.to_vec()));
    let expected = (median(&a)? + median(&b)?) / 2.0;
    Ok(Quantity::of(WINDOW_US * (1.0 - median(&alternating)? / expected)))
}

fn cores(context: &Context<'_>, given: &Arguments) -> Outcome {
    let coremark = context.once(|| Coremark::read(context))?;
    let score = |setup: &str| {
        coremark.row(setup, "fixed0").map(|scores| median_in_place(&mut scores.to_vec()))
    };
    Ok(Quantity::of(score(given.text(0)?)? / score("1x")?))
}
