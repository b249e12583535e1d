//! What the shadow found, for people.

use crate::shadow::{Answer, DomainReport, Miss, Report, Trial};
use flyball_report::text;
use flyball_run::Run;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Misses told one by one in the short form.
const MISSES: usize = 20;

/// Every trial of the recording `name`; `run` says what its trials are called. In the
/// `short` form many misses are counted, and this says how to see all.
pub fn text(name: &str, answer: &Answer, run: Option<&Run>, short: Option<&str>) -> String {
    let mut out = String::new();
    for (at, trial) in answer.trials.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let title = match title(trial, run) {
            Some(title) => format!("{name}, {title}"),
            None => name.to_owned(),
        };
        report(&mut out, &title, &answer.governor.to_string(), &trial.report, short);
    }
    let _ = writeln!(out, "\nDomains  {}", answer.origin);
    for note in &answer.notes {
        let _ = writeln!(out, "         {}", text::plain(note));
    }
    out
}

/// Which trial of a run of several.
fn title(trial: &Trial, run: Option<&Run>) -> Option<String> {
    let number = trial.trial?;
    let record = run?.manifest.order.iter().find(|record| record.trial == number);
    Some(record.map_or_else(|| format!("trial {number}"), |record| record.condition.clone()))
}

fn report(out: &mut String, title: &str, governor: &str, report: &Report, short: Option<&str>) {
    let title = text::plain(title);
    let tolerance = report.tolerance_ns as f64 / 1e6;
    let _ = match report.share {
        Some(share) => writeln!(
            out,
            "{title}: {governor} predicts {} of {} changes ({} %) and decides {} alone",
            report.predicted,
            report.changes,
            text::number(share * 100.0, 1),
            times(report.alone.len()),
        ),
        None => writeln!(
            out,
            "{title}: no change of frequency to predict; {governor} decides {} alone",
            times(report.alone.len())
        ),
    };
    let same = match report.busy_ns {
        0 => String::new(),
        busy => {
            let percent = 100.0 * report.same_ns as f64 / busy as f64;
            format!("; the same frequency for {} % of the busy time", text::number(percent, 1))
        }
    };
    let _ = writeln!(
        out,
        "  same operating point, within {} ms; {} updates of utilisation given to it{same}\n",
        text::micros(tolerance),
        report.updates
    );
    let width = report.domains.iter().map(|own| label(own).len()).max().unwrap_or(6).max(6);
    let _ = writeln!(
        out,
        "  {:<width$}  changes  predicted        alone  after its decision: median  at most",
        "domain"
    );
    for own in &report.domains {
        let predicted = match own.share {
            Some(share) => format!("{} ({} %)", own.predicted, text::number(share * 100.0, 1)),
            None => "-".to_owned(),
        };
        let median = own.median_after_ns.map_or_else(|| "-".to_owned(), |ns| ms(ns as f64));
        let most = if own.predicted > 0 { ms(own.farthest_ns as f64) } else { "-".to_owned() };
        let _ = writeln!(
            out,
            "  {:<width$}  {:>7}  {predicted:<15}  {:>5}  {median:>26}  {most:>7}",
            label(own),
            own.changes,
            own.alone
        );
    }
    misses(out, "Missed", &report.missed, report, short);
    misses(out, "Decided alone", &report.alone, report, short);
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// `little (cpu0,1)`.
fn label(own: &DomainReport) -> String {
    let cpus: Vec<String> = own.cpus.iter().map(u32::to_string).collect();
    format!("{} (cpu{})", text::plain(&own.name), cpus.join(","))
}

fn ms(ns: f64) -> String {
    format!("{} ms", text::micros(ns / 1e6))
}

/// Every one with its reason; of many first how often which reason.
fn misses(out: &mut String, title: &str, misses: &[Miss], report: &Report, short: Option<&str>) {
    if misses.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    let most = if short.is_some() { MISSES } else { usize::MAX };
    if misses.len() > most {
        let mut reasons = BTreeMap::<String, usize>::new();
        for miss in misses {
            *reasons.entry(kind(&miss.why)).or_default() += 1;
        }
        let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (why, count) in reasons {
            let _ = writeln!(out, "  {count:>6} x  {why}");
        }
    }
    for miss in misses.iter().take(most) {
        let domain = report.domains.get(miss.change.domain).map_or("", |own| own.name.as_str());
        let _ = writeln!(
            out,
            "  {:>12.6} s  {} to {} MHz: {}",
            miss.change.t_ns as f64 / 1e9,
            text::plain(domain),
            miss.change.khz / 1000,
            miss.why
        );
    }
    if misses.len() > most {
        let more = short.map(|how| format!(": {how}")).unwrap_or_default();
        let _ = writeln!(out, "  ... and {} more{more}", misses.len() - most);
    }
}

/// A reason without its numbers.
fn kind(why: &str) -> String {
    let mut kind = String::with_capacity(why.len());
    for c in why.chars() {
        match c {
            '0'..='9' | '.' if kind.ends_with('N') => {}
            '0'..='9' => kind.push('N'),
            c => kind.push(c),
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_without_their_numbers() {
        assert_eq!(kind("the shadow decided so 3.8 ms later"), "the shadow decided so N ms later");
    }
}
