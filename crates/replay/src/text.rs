//! The result of a replay, for people and as JSON: one column per governor.

use crate::keep::Played;
use crate::outcome::{Outcome, Way};
use crate::subject::Subject;
use flyball_sim::record::Unit;
use flyball_sim::text::value;
use flyball_sim::workload::Pace;
use serde_json::{Value, json};
use std::fmt::Write;

/// Widths of the first column and of the others.
const NAMES: usize = 28;
const COLUMN: usize = 16;

/// A figure of an outcome as text.
type Cell<'a> = &'a dyn Fn(&Outcome) -> String;

/// Governors beside each other at most; more go below.
const BESIDE: usize = 5;

/// One column per governor; every clock domain by itself where it is `verbose`.
pub fn text(subject: &Subject, played: &[Played], verbose: bool) -> String {
    let mut text = heading(subject);
    for group in played.chunks(BESIDE) {
        text.push_str(&table(group));
        text.push_str(&residencies(group, verbose));
    }
    for played in played {
        let _ = writeln!(text, "{}", way(played));
    }
    for outcome in played.iter().map(|played| &played.outcome) {
        let Some(share) = outcome.overload() else { continue };
        let _ = writeln!(
            text,
            "warning: {}: {:.0} % of the work was left at the end, so this machine is too slow for the load: its \
             latencies grow with the recording's length and cannot be compared",
            outcome.governor,
            100.0 * share
        );
    }
    for note in subject.notes() {
        let _ = writeln!(text, "note: {note}");
    }
    for dir in played.iter().filter_map(|played| played.dir.as_ref()) {
        let _ = writeln!(text, "Run   {}", dir.display());
    }
    text
}

fn heading(subject: &Subject) -> String {
    let (platform, kernel) = (subject.platform(), subject.kernel());
    let pace = match subject.pace() {
        Pace::Open => "open loop: work is due at its recorded time",
        Pace::Closed => "closed loop: work is due after the work before, by the recorded gap",
    };
    let mut text = format!(
        "{} on {}, {}, HZ={}\n{pace}\n",
        subject.name(),
        platform.title,
        kernel.name,
        kernel.hz
    );
    if let Subject::Recorded { load, .. } = subject {
        let _ = writeln!(
            text,
            "{} items, {:.3} Gcycles in {:.1} s on {} CPUs",
            load.items(),
            load.cycles() as f64 / 1e9,
            load.duration.as_secs_f64(),
            platform.cpus.len()
        );
    }
    text
}

/// A name cut to its column.
fn column(text: &str) -> String {
    let cut: String = text.chars().take(COLUMN - 2).collect();
    format!("{cut:>COLUMN$}")
}

fn table(played: &[Played]) -> String {
    let mut text = String::from("\n");
    // A governor with its tunables may be longer than a column: they stand below its name.
    let labels: Vec<Vec<&str>> =
        played.iter().map(|p| p.outcome.governor.split([':', ',']).collect()).collect();
    for line in 0..labels.iter().map(Vec::len).max().unwrap_or(0) {
        let _ = write!(text, "{:<NAMES$}", "");
        for label in &labels {
            text.push_str(&column(label.get(line).copied().unwrap_or("")));
        }
        text.push('\n');
    }
    let ns = |ns: u64| value(Unit::Ns, ns as f64);
    let rows: [(&str, Cell<'_>); 14] = [
        ("latency p50", &|o| ns(o.latency.p50_ns)),
        ("latency p90", &|o| ns(o.latency.p90_ns)),
        ("latency p99", &|o| ns(o.latency.p99_ns)),
        ("latency p99.9", &|o| ns(o.latency.p999_ns)),
        ("latency max", &|o| ns(o.latency.max_ns)),
        ("late", &|o| o.late_percent.map_or("-".to_owned(), |late| value(Unit::Percent, late))),
        ("energy", &|o| value(Unit::Mj, o.energy_mj)),
        ("power", &|o| value(Unit::Mw, o.power_mw)),
        ("busy", &|o| value(Unit::Percent, o.busy_percent)),
        ("transitions", &|o| {
            value(Unit::PerS, o.domains.iter().map(|d| d.transitions_per_s).sum())
        }),
        ("wake-ups of CPUs", &|o| value(Unit::PerS, o.wakeups_per_s)),
        ("wake-ups of the governor", &|o| {
            value(Unit::PerS, o.domains.iter().map(|d| d.governor_wakeups_per_s).sum())
        }),
        ("items left undone", &|o| o.left.to_string()),
        ("time", &|o| value(Unit::Ns, o.elapsed_ns as f64)),
    ];
    for (name, cell) in rows {
        let _ = write!(text, "{name:<NAMES$}");
        for played in played {
            text.push_str(&column(&cell(&played.outcome)));
        }
        text.push('\n');
    }
    text
}

/// Shares of time per operating point; of several clock domains with the same points, their mean,
/// unless everything is asked for.
fn residencies(played: &[Played], verbose: bool) -> String {
    let mut text = String::new();
    let Some(first) = played.first() else { return text };
    let domains = &first.outcome.domains;
    let points = |d: usize| -> Vec<u64> {
        domains.get(d).map(|d| d.residency.iter().map(|at| at.khz).collect()).unwrap_or_default()
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for d in 0..domains.len() {
        let same = groups.iter_mut().find(|group| {
            !verbose && group.first().is_some_and(|&first| points(first) == points(d))
        });
        match same {
            Some(group) => group.push(d),
            None => groups.push(vec![d]),
        }
    }
    for group in groups {
        let name = |&d: &usize| domains.get(d).map(|d| d.name.clone()).unwrap_or_default();
        let names: Vec<String> = group.iter().map(name).collect();
        let _ = writeln!(text, "time at each point of {}", shortened(&names));
        for (at, khz) in group.first().map(|&d| points(d)).unwrap_or_default().iter().enumerate() {
            let share = |outcome: &Outcome| {
                let of = |&d: &usize| Some(outcome.domains.get(d)?.residency.get(at)?.share);
                let sum: f64 = group.iter().filter_map(of).sum();
                sum / group.len().max(1) as f64
            };
            let shares: Vec<f64> = played.iter().map(|p| share(&p.outcome)).collect();
            if shares.iter().all(|share| *share < 0.0005) {
                continue;
            }
            let mhz = format!("{} MHz", *khz as f64 / 1e3);
            let _ = write!(text, "  {mhz:<width$}", width = NAMES - 2);
            for share in shares {
                text.push_str(&column(&format!("{:.1} %", 100.0 * share)));
            }
            text.push('\n');
        }
    }
    text
}

fn shortened(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 3 => format!("{first} to {last}"),
        names => names.join(", "),
    }
}

/// How many times faster than it would have been in reality.
fn speed(played: &Played) -> f64 {
    played.outcome.elapsed_ns as f64 / played.took.0.max(1) as f64
}

fn way(played: &Played) -> String {
    let how = match played.outcome.way {
        Way::Leaps => "in leaps".to_owned(),
        Way::Events(why) => format!("event by event: {why}"),
    };
    let outcome = &played.outcome;
    format!(
        "{}: simulated {:.0} times faster than real time, {how}",
        outcome.governor,
        speed(played)
    )
}

/// The same as JSON (`flyball-replay/1`).
pub fn json(subject: &Subject, played: &[Played]) -> Value {
    let one = |played: &Played| {
        json!({
            "outcome": played.outcome,
            "overload": played.outcome.overload(),
            "times_real_time": speed(played),
            "run": played.dir.as_ref().map(|dir| dir.display().to_string()),
        })
    };
    json!({
        "schema": "flyball-replay/1",
        "recording": subject.name(),
        "platform": subject.platform().name,
        "kernel": subject.kernel().name,
        "loop": match subject.pace() { Pace::Open => "open", Pace::Closed => "closed" },
        "notes": subject.notes(),
        "governors": played.iter().map(one).collect::<Vec<_>>(),
    })
}
