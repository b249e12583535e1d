//! Cells and comparisons as CSV (RFC 4180, comma, LF): one header line, units in the names, full
//! precision, empty where unknown.

use std::fmt::Write as _;

use crate::model::{Cell, Estimate, Measure, Report, StratumRatio, Welch};
use crate::text;

/// One line per run, workload and condition.
#[must_use]
pub fn cells_csv(report: &Report) -> String {
    let mut out = Table::new(&[
        "run",
        "workload",
        "condition",
        "n",
        "repeats",
        "median_us",
        "median_low_us",
        "median_high_us",
        "mean_us",
        "sd_us",
        "min_us",
        "p1_us",
        "p5_us",
        "p25_us",
        "p75_us",
        "p95_us",
        "p99_us",
        "p99_low_us",
        "p99_high_us",
        "p999_us",
        "max_us",
        "lateness_median_us",
        "lateness_p99_us",
        "response_median_us",
        "response_p99_us",
        "missed",
        "deadline_us",
        "effective_n",
        "lag1_autocorrelation",
        "modes",
        "mixture",
        "mode_medians_us",
        "mode_shares",
        "delivered_median",
        "delivered_p1",
        "delivered_p99",
        "delivered_source",
        "delivered_unit",
        "placement",
        "placement_recorded",
        "disturbed_windows",
        "scheduling",
        "degraded",
        "measure",
    ]);
    for cell in &report.cells {
        cell_line(&mut out, cell);
    }
    out.text
}

fn cell_line(out: &mut Table, cell: &Cell) {
    let e = &cell.execution;
    out.words([&cell.run, &cell.workload, &cell.condition]);
    out.counts([cell.n, u64::from(cell.repeats)]);
    out.estimate(&e.median_us);
    out.numbers(
        [e.mean_us, e.sd_us, e.min_us, e.p1_us, e.p5_us, e.p25_us, e.p75_us, e.p95_us].map(Some),
    );
    out.estimate(&e.p99_us);
    out.numbers([e.p999_us, Some(e.max_us)]);
    for other in [&cell.lateness, &cell.response] {
        let other = other.as_ref();
        out.numbers([other.map(|d| d.median_us.value), other.map(|d| d.p99_us.value)]);
    }
    out.counts([cell.missed]);
    out.numbers([cell.deadline_us, Some(cell.effective_n), cell.lag1_autocorrelation]);
    let modes = &cell.modes.modes;
    out.counts([modes.len() as u64]);
    out.word(if cell.modes.mixture { "true" } else { "false" });
    out.word(&modes.iter().map(|m| m.median_us.to_string()).collect::<Vec<_>>().join(";"));
    out.word(&modes.iter().map(|m| m.share.to_string()).collect::<Vec<_>>().join(";"));
    match &cell.delivered {
        Some(d) => {
            out.numbers([d.median, d.p1, d.p99].map(Some));
            out.word(&d.source);
            out.word(if text::is_percent(d) { "percent" } else { "mhz" });
        }
        None => out.words(["", "", "", "", ""]),
    }
    out.word(&cell.placement.summary);
    out.word(if cell.placement.recorded { "true" } else { "false" });
    out.counts([cell.disturbed.windows]);
    out.word(cell.scheduling.as_deref().unwrap_or_default());
    out.word(&cell.degraded.join("; "));
    out.word(match cell.measure {
        Measure::Execution => "execution",
        Measure::WakeUp => "wake_up",
    });
    out.end();
}

/// One line per figure of a run with events: whose it is, what it is with its unit, and the number.
#[must_use]
pub fn events_csv(report: &Report) -> String {
    let mut out = Table::new(&["run", "trial", "parameters", "subject", "name", "value"]);
    for run in &report.events {
        for trial in &run.trials {
            let mut line = |subject: &str, name: &str, value: Option<f64>| {
                out.words([run.run.as_str(), &trial.name, "", subject, name]);
                out.numbers([value]);
                out.end();
            };
            for item in &trial.items {
                line(&item.task, "items_done", Some(item.done as f64));
                line(&item.task, "latency_median_us", item.median_us);
                line(&item.task, "latency_p99_us", item.p99_us);
                line(&item.task, "latency_max_us", item.max_us);
                line(&item.task, "missed", Some(item.missed as f64));
            }
            for domain in &trial.domains {
                let subject = format!("domain {}", domain.domain);
                line(&subject, "frequency_mean_mhz", domain.mean_mhz);
                line(&subject, "transitions_per_s", domain.transitions_per_s);
                for level in &domain.residency {
                    line(&subject, &format!("share_at_{}_mhz", level.mhz), Some(level.share));
                }
            }
            for task in &trial.tasks {
                let subject = format!("{}-{}", task.task, task.tid);
                line(&subject, "running_share", Some(task.running));
                line(&subject, "runnable_share", Some(task.runnable));
                line(&subject, "sleeping_share", Some(task.sleeping));
                line(&subject, "wakeups", Some(task.wakeups as f64));
                line(&subject, "wakeup_median_us", task.wakeup_median_us);
                line(&subject, "wakeup_p99_us", task.wakeup_p99_us);
                line(&subject, "wakeup_max_us", task.wakeup_max_us);
                line(&subject, "frequency_while_running_mhz", task.mean_mhz);
            }
            for cpu in &trial.cpus {
                let subject = format!("cpu{}", cpu.cpu);
                line(&subject, "busy_share", cpu.busy);
                line(&subject, "util_median", cpu.util_median.map(f64::from));
                line(&subject, "util_max", cpu.util_max.map(f64::from));
                for state in &cpu.idle {
                    line(&subject, &format!("idle_state_{}_share", state.state), Some(state.share));
                }
            }
            for sum in &trial.energy {
                line(&sum.subject, "energy_mj", Some(sum.energy_mj));
            }
        }
        for point in &run.points {
            let parameters = point.parameters.iter().map(|f| format!("{}={}", f.name, f.value));
            let parameters = parameters.collect::<Vec<_>>().join(" ");
            for result in &point.results {
                for (what, value) in
                    [("median", result.median), ("p1", result.p1), ("p99", result.p99)]
                {
                    let name = format!("{} {what} over phases", result.name);
                    out.words([run.run.as_str(), "", &parameters, &result.subject, &name]);
                    out.numbers([Some(value)]);
                    out.end();
                }
            }
        }
    }
    out.text
}

/// One line per comparison and scope: `all`, each stratum, each workload and each of its strata.
#[must_use]
pub fn comparisons_csv(report: &Report) -> String {
    let mut out = Table::new(&[
        "title",
        "subject_run",
        "subject_condition",
        "baseline_run",
        "baseline_condition",
        "scope",
        "workload",
        "stratum",
        "inferred",
        "verdict",
        "ratio",
        "ratio_low",
        "ratio_high",
        "p99_ratio",
        "p99_ratio_low",
        "p99_ratio_high",
        "margin",
        "welch_t",
        "welch_df",
        "welch_p",
        "repeat_t",
        "repeat_df",
        "repeat_p",
        "reasons",
    ]);
    for comparison in &report.comparisons {
        let (subject, baseline) = (&comparison.subject, &comparison.baseline);
        let head = [
            comparison.title.as_str(),
            &subject.run,
            &subject.condition,
            &baseline.run,
            &baseline.condition,
        ];
        let reasons: Vec<_> = comparison.reasons.iter().map(|r| r.kind.as_str()).collect();
        let mut line = |scope: [&str; 5],
                        ratio: &Estimate,
                        p99: Option<&Estimate>,
                        tests: [Option<&Welch>; 2]| {
            out.words(head);
            out.words(scope);
            out.estimate(ratio);
            match p99 {
                Some(p99) => out.estimate(p99),
                None => out.words(["", "", ""]),
            }
            out.numbers([Some(comparison.margin)]);
            for test in tests {
                out.numbers([test.map(|t| t.t), test.map(|t| t.df), test.map(|t| t.p)]);
            }
            out.word(&reasons.join(";"));
            out.end();
        };
        line(
            ["all", "", "", "", text::verdict(comparison.verdict)],
            &comparison.ratio,
            None,
            [None; 2],
        );
        for stratum in comparison.like_for_like.iter().chain(&comparison.equal_frequency) {
            line(stratum_scope("", stratum), &stratum.ratio, None, [None; 2]);
        }
        for w in &comparison.workloads {
            let scope = ["workload", &w.workload, "", "", text::verdict(w.verdict)];
            line(scope, &w.ratio, Some(&w.p99_ratio), [w.welch.as_ref(), w.repeat_level.as_ref()]);
            for stratum in w.like_for_like.iter().chain(&w.equal_frequency) {
                line(stratum_scope(&w.workload, stratum), &stratum.ratio, None, [None; 2]);
            }
        }
    }
    out.text
}

fn stratum_scope<'a>(workload: &'a str, stratum: &'a StratumRatio) -> [&'a str; 5] {
    let inferred = if stratum.inferred { "true" } else { "false" };
    ["like_for_like", workload, &stratum.stratum, inferred, ""]
}

/// A CSV table under construction; fields are appended, [`Table::end`] closes the line.
struct Table {
    text: String,
    at_start: bool,
}

impl Table {
    fn new(header: &[&str]) -> Self {
        Self { text: header.join(",") + "\n", at_start: true }
    }

    fn separate(&mut self) {
        if !self.at_start {
            self.text.push(',');
        }
        self.at_start = false;
    }

    fn word(&mut self, field: &str) {
        self.separate();
        // A spreadsheet takes these for formulas; a leading apostrophe is its own way to say "text".
        let formula = field.starts_with(['=', '+', '@', '\t', '\r'])
            || (field.starts_with('-') && field.len() > 1);
        let guard = if formula { "'" } else { "" };
        if formula || field.contains([',', '"', '\n', '\r']) {
            let _ = write!(self.text, "\"{guard}{}\"", field.replace('"', "\"\""));
        } else {
            self.text.push_str(field);
        }
    }

    fn words<S: AsRef<str>, const N: usize>(&mut self, fields: [S; N]) {
        for field in fields {
            self.word(field.as_ref());
        }
    }

    fn counts<const N: usize>(&mut self, fields: [u64; N]) {
        for field in fields {
            self.separate();
            let _ = write!(self.text, "{field}");
        }
    }

    fn numbers<const N: usize>(&mut self, fields: [Option<f64>; N]) {
        for field in fields {
            self.separate();
            if let Some(value) = field.filter(|v| v.is_finite()) {
                let _ = write!(self.text, "{value}");
            }
        }
    }

    fn estimate(&mut self, estimate: &Estimate) {
        self.numbers([Some(estimate.value), estimate.low, estimate.high]);
    }

    fn end(&mut self) {
        self.text.push('\n');
        self.at_start = true;
    }
}
