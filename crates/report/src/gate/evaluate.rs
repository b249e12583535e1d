//! Rules applied to a report.

use super::{Key, Metric, Operator, Outcome, Quantity, Rule, Statistic, Status, Value};
use crate::kinds::measures::{self, Measure};
use crate::model::{
    Cell, ChangeKind, Comparison, Distribution, Effect, Estimate, Judged, Report, Side,
    TraceComparison, VerdictWord, WorkloadComparison,
};
use crate::text;
use flyball_stats::LEAST_BLOCKS;
use std::collections::BTreeSet;

/// Outcomes of one rule.
pub(super) fn rule(rule: &Rule, report: &Report) -> Vec<Outcome> {
    let mut found: Vec<Outcome> = match (rule.metric, rule.value) {
        (Metric::Verdict, _) => comparisons(rule, report).map(|c| verdict(rule, c)).collect(),
        (Metric::Ratio | Metric::RatioP99, _) | (_, Value::Change(_)) => {
            comparisons(rule, report).flat_map(|c| against_baseline(rule, report, c)).collect()
        }
        _ => report
            .cells
            .iter()
            .filter(|c| selects_cell(rule, c))
            .map(|c| absolute(rule, c))
            .collect(),
    };
    if matches!(rule.metric, Metric::Verdict | Metric::Ratio) {
        found.extend(traces(rule, report));
    }
    found.extend(of_measures(rule, report));
    // A gate must not pass on what is left of a run.
    for run in &report.runs {
        if let Some(missing) = &run.unfinished {
            found.push(outcome(rule, &run.name, Status::CannotDecide, missing.text.clone()));
        }
    }
    if found.is_empty() {
        let what = match (rule.metric, rule.value) {
            (Metric::Verdict | Metric::Ratio | Metric::RatioP99, _) | (_, Value::Change(_)) => {
                "comparison"
            }
            _ => "cell",
        };
        return vec![outcome(
            rule,
            "nothing",
            Status::CannotDecide,
            format!("no {what} matches the rule{}", there_are(rule, report)),
        )];
    }
    found
}

/// What a rule could have selected, where it selects.
fn there_are(rule: &Rule, report: &Report) -> String {
    let named = |key: Key| rule.selector.iter().any(|(own, _)| *own == key);
    let cells = || report.cells.iter();
    let mut told = String::new();
    let conditions: BTreeSet<&str> = cells().map(|cell| cell.condition.as_str()).collect();
    let workloads: BTreeSet<&str> = cells().map(|cell| cell.workload.as_str()).collect();
    for (key, word, names) in
        [(Key::Condition, "conditions", conditions), (Key::Workload, "workloads", workloads)]
    {
        if named(key) && !names.is_empty() {
            let names: Vec<&str> = names.into_iter().collect();
            told.push_str(&format!("; {word}: {}", names.join(", ")));
        }
    }
    told
}

/// The figures of ramp-ups and switches that a rule names; a change is one against the first figure of
/// the same name.
fn of_measures(rule: &Rule, report: &Report) -> Vec<Outcome> {
    let Metric::Latency(Quantity::Execution, statistic) = rule.metric else { return Vec::new() };
    let name = match statistic {
        Statistic::Median => "median",
        Statistic::Mean => "mean",
        Statistic::P90 => "p90",
        Statistic::P99 => "p99",
        _ => return Vec::new(),
    };
    let all: Vec<Measure> =
        measures::all(report).into_iter().filter(|measure| measure.statistic == name).collect();
    let mut found = Vec::new();
    for (at, measure) in all.iter().enumerate() {
        let Measure { run, condition, figure, us, .. } = measure;
        let selected = rule.selector.iter().all(|(key, wanted)| match key {
            Key::Workload => false,
            Key::Condition => wanted == condition,
            Key::Run => wanted == run,
            Key::Figure => wanted == figure,
        });
        let first = all.iter().position(|other| other.figure == *figure);
        let is_change = matches!(rule.value, Value::Change(_));
        if !selected || is_change && first == Some(at) {
            continue;
        }
        let object = format!("{run}, {condition}: {name} {figure}");
        let none = |why: &str| outcome(rule, &object, Status::CannotDecide, why.to_owned());
        let baseline = first.and_then(|first| all[first].us);
        let show = |us: f64| format!("{} us", text::micros(us));
        found.push(match (rule.value, us, baseline) {
            (_, None, _) => none("it was not reached in most repetitions"),
            (Value::Latency(limit), Some(us), _) => judge(rule, &object, us, limit, show),
            (Value::Change(by), Some(us), Some(base)) if base.value > 0.0 => {
                let ratio = Estimate { value: us.value / base.value, low: None, high: None };
                judge(rule, &object, &ratio, 1.0 + by, text::change)
            }
            (Value::Change(_), ..) => none("what it is compared with was not reached"),
            _ => none("the rule's value does not fit its metric"),
        });
    }
    found
}

fn outcome(rule: &Rule, object: &str, status: Status, text: String) -> Outcome {
    Outcome { rule: rule.text.clone(), object: object.to_owned(), status, text }
}

fn wants(rule: &Rule, key: Key, name: &str) -> bool {
    rule.selector.iter().filter(|(k, _)| *k == key).all(|(_, wanted)| wanted == name)
}

fn selects_cell(rule: &Rule, c: &Cell) -> bool {
    wants(rule, Key::Workload, &c.workload)
        && wants(rule, Key::Condition, &c.condition)
        && wants(rule, Key::Run, &c.run)
}

/// Comparisons whose subject the selector names. Where the report compares runs, the question is
/// what changed between them; the conditions inside each run are another one.
fn comparisons<'a>(rule: &'a Rule, report: &'a Report) -> impl Iterator<Item = &'a Comparison> {
    let across = |c: &Comparison| c.subject.run != c.baseline.run;
    let between_runs = report.comparisons.iter().any(across);
    report.comparisons.iter().filter(move |c| {
        (!between_runs || across(c))
            && rule.selector.iter().all(|(key, _)| *key != Key::Figure)
            && wants(rule, Key::Condition, &c.subject.condition)
            && wants(rule, Key::Run, &c.subject.run)
    })
}

/// A verdict on runs of events, or a figure's ratio or verdict where the selector names figures.
fn traces(rule: &Rule, report: &Report) -> Vec<Outcome> {
    let by_figure = rule.selector.iter().any(|(key, _)| *key == Key::Figure);
    let mut found = Vec::new();
    let of_events = rule.selector.iter().all(|(key, _)| matches!(key, Key::Figure | Key::Run));
    let wanted = |c: &&TraceComparison| of_events && wants(rule, Key::Run, &c.subject);
    for comparison in report.traces.iter().filter(wanted) {
        if rule.metric == Metric::Verdict && !by_figure {
            found.push(word(rule, &comparison.title, comparison.verdict));
        }
        for figure in comparison.figures.iter().filter(|f| wants(rule, Key::Figure, &f.name)) {
            let object = format!("{}, {}", figure.name, comparison.title);
            match (rule.metric, figure.change_is) {
                (Metric::Verdict, _) if by_figure => {
                    found.push(word(rule, &object, figure.verdict));
                }
                (Metric::Ratio, ChangeKind::Ratio) => {
                    found.push(ratio(rule, &object, figure.verdict, Some(figure.change)));
                }
                _ => {}
            }
        }
    }
    found
}

fn word(rule: &Rule, object: &str, word: VerdictWord) -> Outcome {
    let equal = rule.value == Value::Word(word);
    let met = if rule.operator == Operator::Equal { equal } else { !equal };
    let status = if met { Status::Fail } else { Status::Pass };
    outcome(rule, object, status, format!("the verdict is {}", text::verdict(word)))
}

fn verdict(rule: &Rule, c: &Comparison) -> Outcome {
    let wanted = rule.selector.iter().find(|(k, _)| *k == Key::Workload).map(|(_, name)| name);
    let (object, word) = match wanted {
        None => (c.title.clone(), Some(c.verdict)),
        Some(name) => (
            format!("{name}, {}", c.title),
            c.workloads.iter().find(|w| w.workload == *name).map(|w| w.verdict),
        ),
    };
    let Some(word) = word else {
        return outcome(
            rule,
            &object,
            Status::CannotDecide,
            "the comparison lacks this workload".to_owned(),
        );
    };
    self::word(rule, &object, word)
}

/// A figure of a cell against an absolute limit.
fn absolute(rule: &Rule, c: &Cell) -> Outcome {
    let object = format!("{}, {}", c.workload, c.condition);
    let none = |why: &str| outcome(rule, &object, Status::CannotDecide, why.to_owned());
    let exact = Estimate::bare;
    let share = |n: u64| if c.n == 0 { 0.0 } else { n as f64 / c.n as f64 };
    match (rule.metric, rule.value) {
        (Metric::Latency(quantity, statistic), Value::Latency(limit)) => {
            let Some(distribution) = of(c, quantity) else { return none("it was not recorded") };
            match figure(distribution, statistic) {
                Some(found) => {
                    judge(rule, &object, &found, limit, |v| format!("{} us", text::micros(v)))
                }
                None if statistic == Statistic::P90 => none("windows have p95, p99 and p999"),
                None => none("too few windows for this percentile"),
            }
        }
        (Metric::Missed, _) if c.deadline_us.is_none() => none("there is no deadline"),
        (Metric::Disturbed, _) if !c.disturbed.is_recorded() => {
            none("nothing that disturbs a window was recorded")
        }
        (Metric::Missed | Metric::Disturbed, Value::Share(limit)) => {
            judge(rule, &object, &exact(share(count(rule, c))), limit, text::share)
        }
        (Metric::Missed | Metric::Disturbed, Value::Plain(limit)) => {
            judge(rule, &object, &exact(count(rule, c) as f64), limit, |v| {
                format!("{} windows", text::number(v, 0))
            })
        }
        _ => none("the rule's value does not fit its metric"),
    }
}

fn count(rule: &Rule, c: &Cell) -> u64 {
    if rule.metric == Metric::Missed { c.missed } else { c.disturbed.windows }
}

fn of(c: &Cell, quantity: Quantity) -> Option<&Distribution> {
    match quantity {
        Quantity::Execution => Some(&c.execution),
        Quantity::Lateness => c.lateness.as_ref(),
        Quantity::Response => c.response.as_ref(),
        // It is judged as a change alone.
        Quantity::CpuTime => None,
    }
}

fn figure(d: &Distribution, statistic: Statistic) -> Option<Estimate> {
    let exact = Estimate::bare;
    Some(match statistic {
        Statistic::Median => d.median_us,
        Statistic::P99 => d.p99_us,
        Statistic::Mean => exact(d.mean_us),
        Statistic::Sd => exact(d.sd_us),
        Statistic::P90 => return None,
        Statistic::P95 => exact(d.p95_us),
        Statistic::P999 => exact(d.p999_us?),
        Statistic::Max => exact(d.max_us),
    })
}

/// Ratios of a comparison's workloads (or of all, for a plain `ratio`) against the limit.
fn against_baseline(rule: &Rule, report: &Report, c: &Comparison) -> Vec<Outcome> {
    let by_workload = rule.selector.iter().any(|(k, _)| *k == Key::Workload);
    if rule.metric == Metric::Ratio && !by_workload {
        let found = total_effect(rule, c, None).unwrap_or(c.ratio);
        return vec![change(rule, report, c, &c.title, (c.verdict, Some(found)))];
    }
    c.workloads
        .iter()
        .filter(|w| wants(rule, Key::Workload, &w.workload))
        .map(|w| {
            let object = match c.subject.workload {
                Some(_) => c.title.clone(),
                None => format!("{}, {}", w.workload, c.title),
            };
            let own = total_effect(rule, c, Some(&w.workload));
            let found = own.or_else(|| workload_ratio(rule, report, c, w));
            let outcome = change(rule, report, c, &object, (w.verdict, found));
            with_cpu_time(rule, c, w, outcome)
        })
        .collect()
}

/// Where the times do not decide a rule, others on the machine are often why; what the CPU time of the program
/// says to the same limit is told beside it.
fn with_cpu_time(rule: &Rule, c: &Comparison, w: &WorkloadComparison, outcome: Outcome) -> Outcome {
    let asks_cpu = matches!(rule.metric, Metric::Latency(Quantity::CpuTime, _));
    let is_change = matches!(rule.value, Value::Change(_));
    if outcome.status != Status::CannotDecide || asks_cpu || !is_change {
        return outcome;
    }
    let of_cpu =
        Rule { metric: Metric::Latency(Quantity::CpuTime, Statistic::Median), ..rule.clone() };
    let Some(found) = total_effect(&of_cpu, c, Some(&w.workload)) else { return outcome };
    let judged = ratio(&of_cpu, &outcome.object, w.verdict, Some(found));
    let word = match judged.status {
        Status::CannotDecide => return outcome,
        Status::Fail => "fails",
        Status::Pass => "passes",
    };
    let text = format!(
        "{}; the same limit {word} for the CPU time, cpu.median: {}",
        outcome.text, judged.text
    );
    Outcome { text, ..outcome }
}

/// The total effect that a rule asks for, as a ratio, where the order was random: of one workload, or of
/// all. Its interval is one that holds together with all others of the report.
fn total_effect(rule: &Rule, c: &Comparison, workload: Option<&str>) -> Option<Estimate> {
    let (of, quantile) = match rule.metric {
        Metric::Ratio => (Judged::Execution, 0.5),
        Metric::RatioP99 => (Judged::Execution, 0.99),
        Metric::Latency(quantity, statistic) => {
            let of = match quantity {
                Quantity::Execution => Judged::Execution,
                Quantity::Lateness => Judged::Lateness,
                Quantity::Response => Judged::Response,
                Quantity::CpuTime => Judged::CpuTime,
            };
            let quantile = match statistic {
                Statistic::Median => 0.5,
                Statistic::P99 => 0.99,
                Statistic::P999 => 0.999,
                _ => return None,
            };
            (of, quantile)
        }
        _ => return None,
    };
    let named = |effect: &&Effect| effect.workload.as_deref() == workload;
    let any = c.effects.iter().any(|effect| named(&effect));
    let mut own = c.effects.iter().filter(|e| if any { named(e) } else { e.workload.is_none() });
    let effect = own.find(|effect| effect.of == of && effect.quantile == Some(quantile))?;
    match (effect.ratio, effect.difference) {
        (Some(ratio), _) => Some(ratio),
        (None, Some(by)) if effect.baseline > 0.0 => {
            let over = |us: f64| 1.0 + us / effect.baseline;
            Some(Estimate { value: over(by.value), low: by.low.map(over), high: by.high.map(over) })
        }
        _ => None,
    }
}

/// The comparison's own ratio with its interval where it has one, else the ratio of the two cells.
fn workload_ratio(
    rule: &Rule,
    report: &Report,
    c: &Comparison,
    w: &WorkloadComparison,
) -> Option<Estimate> {
    let (quantity, statistic) = match rule.metric {
        Metric::Ratio | Metric::Latency(Quantity::Execution, Statistic::Median) => {
            return Some(w.ratio);
        }
        Metric::RatioP99 | Metric::Latency(Quantity::Execution, Statistic::P99) => {
            return Some(w.p99_ratio);
        }
        Metric::Latency(quantity, statistic) => (quantity, statistic),
        _ => return None,
    };
    let value = |side: &Side| {
        let workload = side.workload.as_ref().unwrap_or(&w.workload);
        let cell = report.cells.iter().find(|x| {
            x.workload == *workload && x.run == side.run && x.condition == side.condition
        })?;
        figure(of(cell, quantity)?, statistic).map(|e| e.value)
    };
    let (subject, baseline) = (value(&c.subject)?, value(&c.baseline)?);
    (baseline > 0.0).then(|| Estimate::bare(subject / baseline))
}

/// A change between the sides of a comparison against the limit.
fn change(
    rule: &Rule,
    report: &Report,
    c: &Comparison,
    object: &str,
    (verdict, found): (VerdictWord, Option<Estimate>),
) -> Outcome {
    let runs = |side: &Side| {
        let run = report.runs.iter().find(|run| run.name == side.run);
        run.map_or(1, |run| run.pooled.max(1))
    };
    let fewest = runs(&c.subject).min(runs(&c.baseline));
    if c.subject.run != c.baseline.run && fewest < LEAST_BLOCKS as u64 {
        let why = "fewer than 3 runs a side: how much runs of the same thing differ is not known";
        return outcome(rule, object, Status::CannotDecide, why.to_owned());
    }
    let repeats = |side: &Side| {
        let own = |cell: &&Cell| cell.run == side.run && cell.condition == side.condition;
        report.cells.iter().filter(own).map(|cell| cell.repeats).min()
    };
    let fewest = repeats(&c.subject).min(repeats(&c.baseline)).unwrap_or(0);
    if c.subject.run == c.baseline.run && (fewest as usize) < LEAST_BLOCKS {
        let why =
            "fewer than 3 repeats a side: how much repeats of the same thing differ is not known";
        return outcome(rule, object, Status::CannotDecide, why.to_owned());
    }
    ratio(rule, object, verdict, found)
}

fn ratio(rule: &Rule, object: &str, verdict: VerdictWord, ratio: Option<Estimate>) -> Outcome {
    let none = |why: String| outcome(rule, object, Status::CannotDecide, why);
    if matches!(verdict, VerdictWord::Confounded | VerdictWord::Unproven) {
        return none(format!(
            "the comparison is {}: its ratio says nothing about the condition",
            text::verdict(verdict)
        ));
    }
    let Some(ratio) = ratio else {
        return none("one of the two figures was not recorded".to_owned());
    };
    let judged = match rule.value {
        Value::Change(by) => judge(rule, object, &ratio, 1.0 + by, text::change),
        Value::Plain(limit) => {
            judge(rule, object, &ratio, limit, |v| format!("{}x", text::number(v, 3)))
        }
        _ => return none("the rule's value does not fit its metric".to_owned()),
    };
    let limit = match rule.value {
        Value::Change(by) => 1.0 + by,
        Value::Plain(limit) => limit,
        _ => return judged,
    };
    // A change is shown, or shown not to be there, by its whole interval.
    let decided = ratio.interval().is_some_and(|(low, high)| limit < low || limit > high);
    match decided {
        true => judged,
        false => Outcome { status: Status::CannotDecide, ..judged },
    }
}

/// The estimate decides; the interval says how sure that is.
fn judge(
    rule: &Rule,
    object: &str,
    found: &Estimate,
    limit: f64,
    show: impl Fn(f64) -> String,
) -> Outcome {
    if !found.value.is_finite() {
        return outcome(
            rule,
            object,
            Status::CannotDecide,
            "the estimate is not a number".to_owned(),
        );
    }
    let status = if rule.operator.holds(found.value, limit) { Status::Fail } else { Status::Pass };
    let interval = match (found.low, found.high) {
        (Some(low), Some(high)) => {
            let sure = limit < low || limit > high;
            let word = if sure { "excludes" } else { "does not exclude" };
            format!(
                " [{}, {}], the interval {word} the limit of {}",
                show(low),
                show(high),
                show(limit)
            )
        }
        _ => format!(", limit {}, without an interval", show(limit)),
    };
    outcome(rule, object, status, show(found.value) + &interval)
}
