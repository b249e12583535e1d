//! The i.MX8 measurement: CoreMark scores while a schedule alternates two frequencies every millisecond.
//!
//! With W the window, L = W * (1 - reached / expected), where expected is the mean of the scores
//! at the two fixed levels: what the source's five lines of Python reduce to. It is linear in the
//! scores, so the mean over the runs follows from the mean score.

use super::shipped;
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
        |c, g| latency(c, g, |scores| scores.mean),
    ),
    function(
        "switch_median",
        &[Text, Number, Number],
        "the same, with medians of the scores at fixed levels and over the runs, us",
        |c, g| latency(c, g, |scores| scores.median),
    ),
    function("switch_runs", &[Text, Number, Number], "runs of a set-up and a pair", runs),
    function(
        "switch_cores",
        &[Text],
        "score of a set-up over one core's, at the lowest level",
        cores,
    ),
];

/// Scores by set-up and row: `fixed0`, `alternating01`.
struct Coremark(BTreeMap<(String, String), Scores>);

/// The scores of a row, in short.
struct Scores {
    runs: f64,
    mean: f64,
    median: f64,
}

impl Coremark {
    fn read(context: &Context<'_>) -> Result<Coremark, Undecided> {
        let mut scores = BTreeMap::new();
        let Some(folder) = context.folder(&FOLDER)? else {
            for row in shipped::rows(shipped::SCORES) {
                let [setup, name, runs, mean, median] = row?;
                let [runs, mean, median] = [runs, mean, median].map(shipped::number);
                let short = Scores { runs: runs?, mean: mean?, median: median? };
                scores.insert((setup.to_owned(), name.to_owned()), short);
            }
            return Ok(Coremark(scores));
        };
        for (name, file) in
            [("4x", "4x_a53/dataset.csv"), ("1x", "1x_a53_all_other_cores_disabled/dataset.csv")]
        {
            rows(&folder.join(file), name, &mut scores)?;
        }
        Ok(Coremark(scores))
    }

    fn row(&self, setup: &str, name: &str) -> Result<&Scores, Undecided> {
        let missing = || Undecided::Unreadable(format!("the scores of {setup} hold no {name}"));
        self.0.get(&(setup.to_owned(), name.to_owned())).ok_or_else(missing)
    }
}

/// One line per row: its name, then one score per run.
fn rows(
    path: &Path,
    setup: &str,
    scores: &mut BTreeMap<(String, String), Scores>,
) -> Result<(), Undecided> {
    let text =
        fs_err::read_to_string(path).map_err(|error| Undecided::Unreadable(error.to_string()))?;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut fields = line.split(',');
        let name = fields.next().unwrap_or_default();
        let parsed: Result<Vec<f64>, _> = fields.map(|field| field.trim().parse()).collect();
        let mut values = parsed.map_err(|_| {
            let place = path.display();
            Undecided::Unreadable(format!("{place}, row {name}: expected scores, found text"))
        })?;
        // "1ms_a72_fixed0" in one of the two files (its cores are A53 all the same).
        let name = name.rsplit('_').next().unwrap_or_default();
        let short = Scores {
            runs: values.len() as f64,
            mean: mean(&values),
            median: median_in_place(&mut values),
        };
        scores.insert((setup.to_owned(), name.to_owned()), short);
    }
    Ok(())
}

/// What the method finds for a pair of levels, from one figure of each row's scores.
fn latency(
    context: &Context<'_>,
    given: &Arguments,
    figure: fn(&Scores) -> f64,
) -> Result<Quantity, Undecided> {
    let coremark = context.once(|| Coremark::read(context))?;
    let (setup, a, b) = (given.text(0)?, given.whole(0)?, given.whole(1)?);
    let of = |row: String| coremark.row(setup, &row).map(figure);
    let expected = (of(format!("fixed{a}"))? + of(format!("fixed{b}"))?) / 2.0;
    let reached = of(format!("alternating{a}{b}"))?;
    Ok(Quantity::of(WINDOW_US * (1.0 - reached / expected)))
}

fn runs(context: &Context<'_>, given: &Arguments) -> Outcome {
    let coremark = context.once(|| Coremark::read(context))?;
    let row = format!("alternating{}{}", given.whole(0)?, given.whole(1)?);
    Ok(Quantity::of(coremark.row(given.text(0)?, &row)?.runs))
}

fn cores(context: &Context<'_>, given: &Arguments) -> Outcome {
    let coremark = context.once(|| Coremark::read(context))?;
    let score = |setup: &str| coremark.row(setup, "fixed0").map(|scores| scores.median);
    Ok(Quantity::of(score(given.text(0)?)? / score("1x")?))
}
