//! Runs of events against the first of them, or several against several: residencies, latencies,
//! migrations, with intervals over recordings, repetitions or blocks of time, and a verdict on each.
//!
//! | condition, first match wins | verdict |
//! |---|---|
//! | the tasks, the lengths or the processor differ; much was lost | confounded |
//! | fewer than 3 units on a side, or no interval | undecided |
//! | the whole interval inside the margin | equivalent |
//! | the interval excludes no change | effect |
//! | otherwise | undecided |

mod figures;
mod units;

use std::collections::BTreeSet;

use flyball_run::manifest::Machine;

use super::events::only_events;
use super::source::Context;
use super::words;
use crate::model::{ChangeKind, Reason, TraceComparison, TraceFigure, VerdictWord};
use crate::text;
use figures::Figure;
use units::{UnitKind, Units};

/// Lengths that differ by more are not of the same thing.
const LENGTHS: f64 = 0.10;
/// A task with this share of one side's running time and none of the other's is a difference.
const TASK: f64 = 0.02;
/// Lost time above which nothing is compared, and above which it is said.
const LOST: [f64; 2] = [0.10, 0.001];
/// Fewest units for a verdict, as for repeats.
const LEAST: usize = 3;

/// What is compared with another: one run, or several recordings of the same.
struct Side<'a> {
    name: String,
    runs: Vec<&'a Context<'a>>,
    units: Units,
}

impl<'a> Side<'a> {
    /// With `several` recordings on either side each one is a unit, on both.
    fn of(runs: Vec<&'a Context<'a>>, several: bool) -> Option<Side<'a>> {
        let first = runs.first()?;
        let name = match runs.len() {
            1 => first.name.clone(),
            n => format!("{} and {} more", first.name, n - 1),
        };
        let task = first.options.task.as_deref();
        let units = match several {
            true => Units::of_recordings(&runs, task),
            false => Units::of_one(first, task),
        };
        Some(Side { name, runs, units })
    }

    /// What the runs' machines have there, each once.
    fn of_machines(&self, what: impl Fn(&Machine) -> Option<&String>) -> BTreeSet<&str> {
        let machines = self.runs.iter().filter_map(|run| run.run.manifest.machine.as_ref());
        machines.filter_map(what).map(String::as_str).filter(|text| !text.is_empty()).collect()
    }
}

/// The runs that are told by their events: all against those that are marked as the baseline, or each
/// against the first.
pub(super) fn compare_all(contexts: &[Context<'_>]) -> Vec<TraceComparison> {
    let told = || contexts.iter().filter(|context| only_events(context));
    let marked: Vec<&Context<'_>> = told().filter(|context| context.run.against).collect();
    let (baseline, subjects): (Vec<_>, Vec<Vec<_>>) = match marked.is_empty() {
        true => (told().take(1).collect(), told().skip(1).map(|one| vec![one]).collect()),
        false => (marked, vec![told().filter(|context| !context.run.against).collect()]),
    };
    if subjects.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let several = baseline.len() > 1 || subjects.iter().any(|side| side.len() > 1);
    let Some(baseline) = Side::of(baseline, several) else { return Vec::new() };
    let subjects = subjects.into_iter().filter_map(|side| Side::of(side, several));
    subjects.filter_map(|subject| comparison(&subject, &baseline)).collect()
}

/// One side against another; none where they have no figure in common.
fn comparison(subject: &Side<'_>, baseline: &Side<'_>) -> Option<TraceComparison> {
    let options = baseline.runs.first()?.options;
    let sides = [&subject.units, &baseline.units];
    let found = figures::all(sides, options.task.as_deref(), &options.bootstrap());
    if found.is_empty() {
        return None;
    }
    let (confounding, limiting) = reasons(subject, baseline);
    let confounded = !confounding.is_empty();
    let judged = |figure: Figure| {
        let verdict = match confounded {
            true => VerdictWord::Confounded,
            false => verdict(&figure, options.margin),
        };
        let change_is = match figure.ratio {
            true => ChangeKind::Ratio,
            false => ChangeKind::Difference,
        };
        TraceFigure {
            name: figure.name,
            change_is,
            unit: figure.unit.to_owned(),
            baseline: figure.values[1],
            subject: figure.values[0],
            change: figure.change,
            verdict,
            resampled: figure.resampled.map(|n| n as u64),
        }
    };
    let figures: Vec<TraceFigure> = found.into_iter().map(judged).collect();
    Some(TraceComparison {
        title: format!("{} against {}", subject.name, baseline.name),
        subject: subject.name.clone(),
        baseline: baseline.name.clone(),
        verdict: overall(confounded, &figures),
        reasons: confounding.into_iter().chain(limiting).collect(),
        units: resampled(sides),
        margin: options.margin,
        figures,
    })
}

/// The verdict over all figures.
fn overall(confounded: bool, figures: &[TraceFigure]) -> VerdictWord {
    let any = |word| figures.iter().any(|figure| figure.verdict == word);
    match (confounded, any(VerdictWord::Effect), any(VerdictWord::Undecided)) {
        (true, ..) => VerdictWord::Confounded,
        (_, true, _) => VerdictWord::Effect,
        (_, _, true) => VerdictWord::Undecided,
        _ => VerdictWord::Equivalent,
    }
}

/// What a figure's interval says.
fn verdict(figure: &Figure, margin: f64) -> VerdictWord {
    let (Some(low), Some(high)) = (figure.change.low, figure.change.high) else {
        return VerdictWord::Undecided;
    };
    if figure.resampled.iter().any(|&units| units < LEAST) {
        return VerdictWord::Undecided;
    }
    // A share's margin is in points, that of a rate a share of the baseline's.
    let (centre, below, above) = match (figure.ratio, figure.unit) {
        (true, _) => (1.0, 1.0 / (1.0 + margin), 1.0 + margin),
        (false, "") => (0.0, -margin, margin),
        (false, _) => (0.0, -margin * figure.values[1], margin * figure.values[1]),
    };
    if low >= below && high <= above {
        VerdictWord::Equivalent
    } else if low > centre || high < centre {
        VerdictWord::Effect
    } else {
        VerdictWord::Undecided
    }
}

/// What confounds, and what only limits.
fn reasons(subject: &Side<'_>, baseline: &Side<'_>) -> (Vec<Reason>, Vec<Reason>) {
    let reason = |kind: &str, text: String| Reason { kind: kind.to_owned(), text, inferred: false };
    let (a, b) = (&subject.units, &baseline.units);
    let (mut confounding, mut limiting) = (Vec::new(), Vec::new());
    let tasks = only_on_one_side(subject, baseline);
    if !tasks.is_empty() {
        confounding.push(reason("tasks_differ", format!("the tasks differ: {}", tasks.join("; "))));
    }
    let (longer, shorter) = (a.length_ns.max(b.length_ns), a.length_ns.min(b.length_ns));
    if (longer - shorter) as f64 > LENGTHS * longer as f64 {
        let length = |units: &Units| text::number(units.length_ns as f64 / 1e6, 1);
        confounding.push(reason(
            "durations_differ",
            format!("the recordings differ in length: {} ms against {} ms", length(a), length(b)),
        ));
    }
    let differ = |what: &str, of: fn(&Machine) -> Option<&String>| {
        let [a, b] = [subject, baseline].map(|side| side.of_machines(of));
        let list = |names: &BTreeSet<&str>| {
            words::list(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let known = !a.is_empty() && !b.is_empty();
        (known && a != b).then(|| format!("{what}: {} against {}", list(&a), list(&b)))
    };
    let processor = differ("the processors differ", |machine| machine.cpu_model.as_ref());
    confounding.extend(processor.map(|text| reason("runs_differ", text)));
    // Another kernel is what many a comparison is about.
    let kernel = differ("the kernels differ", |machine| machine.kernel.as_ref());
    limiting.extend(kernel.map(|text| reason("kernels_differ", text)));
    for side in [subject, baseline] {
        let units = &side.units;
        let text =
            format!("{}: events were lost in {} of its time", side.name, text::share(units.lost));
        if units.lost > LOST[0] {
            confounding.push(reason("events_lost", text));
        } else if units.lost > LOST[1] {
            limiting.push(reason("events_lost", text));
        }
        if units.kind == UnitKind::Block {
            let text = format!(
                "{}: one recording, so its interval tells of time within it, not of repetitions",
                side.name
            );
            limiting.push(reason("one_recording", text));
        }
    }
    (confounding, limiting)
}

/// Tasks that took a share of one side's time and none of the other's.
fn only_on_one_side(subject: &Side<'_>, baseline: &Side<'_>) -> Vec<String> {
    let (a, b) = (&subject.units, &baseline.units);
    // Where nobody recorded who ran nothing is known to differ.
    if a.tasks.is_empty() || b.tasks.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (side, own, other) in [(subject, a, b), (baseline, b, a)] {
        let all: u64 = own.tasks.values().sum();
        for (name, &ns) in &own.tasks {
            let share = ns as f64 / all.max(1) as f64;
            if share >= TASK && !other.tasks.contains_key(name) {
                let text = format!(
                    "{} ran under {} alone, {} of its running time",
                    text::plain(name),
                    side.name,
                    text::share(share)
                );
                found.push(text);
            }
        }
    }
    found
}

/// What was resampled, in words.
fn resampled([a, b]: [&Units; 2]) -> String {
    let side = |units: &Units| {
        let n = units.units.len() as u64;
        match units.kind {
            UnitKind::Recording => text::count(n, "recording"),
            UnitKind::Repetition => text::count(n, "repetition"),
            UnitKind::Block => text::count(n, "block") + " of time",
        }
    };
    let (a, b) = (side(a), side(b));
    if a == b { format!("{a} on each side") } else { format!("{a} against {b}") }
}
