//! What a daemon says, for people.

use crate::{Ended, Exact, Outline, Replayed, Status};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

fn mhz(khz: u64) -> String {
    format!("{} MHz", khz / 1_000)
}

/// What a rule inside of the kernel did.
pub fn exact(exact: &Exact) -> String {
    let mut text = String::new();
    for domain in &exact.domains {
        let _ = writeln!(text, "{:<10}{} decisions", domain.name, domain.decisions);
    }
    let first = exact.domains.first().map_or("", |domain| domain.name.as_str());
    let _ = writeln!(
        text,
        "model     {} decisions of {first} made again by the model's governor: {} differ",
        exact.compared, exact.differ
    );
    if let Some(difference) = &exact.first_difference {
        let _ = writeln!(text, "          {difference}");
    }
    if exact.unread > 0 {
        let _ = writeln!(text, "          {} came faster than they were read", exact.unread);
    }
    text
}

/// At its begin.
pub fn exact_begun(exact: &Exact) -> Vec<String> {
    let cpus: usize = exact.domains.iter().map(|domain| domain.cpus.len()).sum();
    let ticks = exact.tick_hz.map(|hz| format!(", {hz} ticks a second of each"));
    let rule = format!(
        "{} rules inside of the kernel: {} domains, {cpus} CPUs{}",
        exact.governor,
        exact.domains.len(),
        ticks.unwrap_or_default()
    );
    let notes = exact.notes.iter().map(|note| format!("note: {note}"));
    [rule].into_iter().chain(notes).collect()
}

/// The outline: what would be done.
pub fn outline(outline: &Outline) -> String {
    let mut text = format!("{}: {}\n", outline.governor, outline.summary);
    let resolution = outline.resolution_ns.0 as f64 / 1e6;
    let _ = writeln!(
        text,
        "times     {}, certain to {resolution} ms; polls at least {} ms apart",
        outline.source.name(),
        resolution * 2.0
    );
    if let Some(unit) = outline.source.finer_unit() {
        let _ = writeln!(text, "          its finer counter counts in {} ns", unit.0);
    }
    match outline.interval_ns {
        Some(interval) => {
            let _ = writeln!(text, "polls     every {} ms", interval.0 as f64 / 1e6);
        }
        None => text.push_str("polls     none\n"),
    }
    let needs = &outline.needs;
    let named = [
        (needs.poll, "busy and idle times".to_owned()),
        (needs.tick_hz.is_some(), format!("ticks at {} Hz", needs.tick_hz.unwrap_or(0))),
        (needs.temperature, "the package's temperature".to_owned()),
    ];
    let named: Vec<String> =
        named.into_iter().filter(|(needed, _)| *needed).map(|(_, name)| name).collect();
    let needs = if named.is_empty() { "nothing".to_owned() } else { named.join(", ") };
    let _ = writeln!(text, "needs     {needs}");
    for tunable in &outline.tunables {
        let _ = writeln!(
            text,
            "tunable   {} = {} ({} to {}): {}",
            tunable.name, tunable.value, tunable.min, tunable.max, tunable.doc
        );
    }
    for domain in &outline.domains {
        let cpus: Vec<String> = domain.cpus.iter().map(|cpu| cpu.0.to_string()).collect();
        let points: Vec<String> =
            domain.points_khz.iter().map(|khz| (khz.0 / 1_000).to_string()).collect();
        let _ = writeln!(
            text,
            "{:<10}CPUs {}, {} to {} of {} MHz, at {}",
            domain.name,
            cpus.join(" "),
            mhz(domain.min_khz.0),
            mhz(domain.max_khz.0),
            points.join(" "),
            mhz(domain.current_khz.0)
        );
        for file in domain.files.iter().filter(|_| !outline.shadow) {
            let _ = writeln!(text, "          written with every change: {}", file.display());
        }
    }
    if let Some(plan) = &outline.plan {
        for step in plan.all() {
            let (path, old, new) = (step.path.display(), &step.old, &step.new);
            match step.is_change() {
                true => {
                    let _ = writeln!(text, "once      {path}: {old} -> {new}");
                }
                false => {
                    let _ = writeln!(text, "once      {path}: {new}, already");
                }
            }
        }
    }
    for note in &outline.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// What is done from now on.
pub fn begun(outline: &Outline) -> Vec<String> {
    let count = outline.domains.len();
    let domains =
        if count == 1 { "1 clock domain".to_owned() } else { format!("{count} clock domains") };
    let how = if outline.shadow { "decides beside" } else { "rules" };
    let first = format!("{} {how} {domains}", outline.governor);
    let notes = outline.notes.iter().map(|note| format!("note: {note}"));
    std::iter::once(first).chain(notes).collect()
}

/// What became of it; `verbose` tells also what is as it should be.
pub fn ended(ended: &Ended, verbose: bool) -> Vec<String> {
    let restored = ended.restored.iter().flat_map(|restored| &restored.foreign);
    let mut lines: Vec<String> = restored.map(flyball_control::text::foreign).collect();
    if ended.dropped > 0 {
        lines.push(format!("warning: the log lacks {} records: the ring was full", ended.dropped));
    }
    if verbose && ended.restored.is_some() {
        lines.push("restored".to_owned());
    }
    lines
}

/// The whole as JSON; `run` is its run directory.
pub fn json(outline: &Outline, ended: &Ended, run: Option<&Path>) -> Value {
    json!({
        "outline": outline,
        "status": ended.status,
        "restored": ended.restored,
        "logged": ended.logged,
        "dropped": ended.dropped,
        "log_error": ended.log_error,
        "process_cpu_ns": ended.process_cpu_ns,
        "run": run,
    })
}

/// Where it stood at the end.
pub fn status(status: &Status) -> String {
    // A struct of texts and numbers always serialises.
    answered(&serde_json::to_value(status).unwrap_or_default())
}

/// A status as a daemon sent it.
pub fn answered(status: &Value) -> String {
    let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
    let word = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or("?").to_owned()
    };
    let running = number(status, "running_ns").max(1) as f64;
    let cpu = number(status, "cpu_time_ns") as f64;
    let polls = number(status, "polls");
    let mut text = format!(
        "{}: {:.1} s, {polls} polls, {} late, {} suspends, {:.3} % of a CPU ({:.1} us a poll)\n",
        word(status, "governor"),
        running / 1e9,
        number(status, "late"),
        number(status, "suspends"),
        cpu * 100.0 / running,
        cpu / 1e3 / polls.max(1) as f64
    );
    let list = |name: &str| status.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    for domain in list("domains") {
        let _ = write!(
            text,
            "{:<10}{}, {} of {} to {}: {} events, {} requests, {} writes",
            word(&domain, "name"),
            word(&domain, "state"),
            mhz(number(&domain, "current_khz")),
            mhz(number(&domain, "min_khz")),
            mhz(number(&domain, "max_khz")),
            number(&domain, "events"),
            number(&domain, "requests"),
            number(&domain, "writes")
        );
        let failures = number(&domain, "failures");
        if failures > 0 {
            let _ = write!(text, ", {failures} refused");
        }
        let compared = number(&domain, "compared");
        if compared > 0 {
            let share = number(&domain, "agreed") as f64 * 100.0 / compared as f64;
            let _ =
                write!(text, "; the machine's frequency in {share:.0} % of {compared} decisions");
        }
        text.push('\n');
    }
    let tunables = list("tunables");
    let tunables = tunables.iter().map(|tunable| {
        let value = tunable.get("value").and_then(Value::as_i64).unwrap_or(0);
        format!("{}={value}", word(tunable, "name"))
    });
    let tunables: Vec<String> = tunables.collect();
    if !tunables.is_empty() {
        let _ = writeln!(text, "tunables  {}", tunables.join(" "));
    }
    text
}

/// What came of a replay.
pub fn replayed(replayed: &Replayed) -> String {
    let mut text = String::new();
    if !replayed.ended {
        let _ = writeln!(
            text,
            "Not whole: the log does not say that it ended; the daemon runs or was killed, or the \
             file was cut"
        );
    }
    for (line, fresh) in replayed.different.iter().take(10) {
        let _ = writeln!(text, "line {line}: a fresh governor gives {fresh}");
    }
    let _ = writeln!(
        text,
        "{} decisions, {} of them requests, {} different",
        replayed.decisions,
        replayed.requests,
        replayed.different.len()
    );
    if replayed.dropped > 0 {
        let _ = writeln!(
            text,
            "note: {} records are missing: what follows them cannot be the same",
            replayed.dropped
        );
    }
    text
}
