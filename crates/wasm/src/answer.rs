//! A request, and what comes of it.

use crate::disk::Memory;
use flyball_platform::{Kernel, Platform};
use flyball_replay::{Kept, Opened, Placing, Played, Subject, activity, play, to_run};
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::export::json as report_json;
use flyball_report::html;
use flyball_reproduce::{Options, reproduce};
use flyball_run::{ActivitySample, Run};
use flyball_sim::scenario::{EXAMPLES, Record, Scenario, Source, from_tree, parse_text, set};
use flyball_units::{GovernorSpec, Nanos};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What can be asked. Exactly one is given.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// A scenario on its model: the JSON of `flyball sim`.
    Sim {
        /// One that ships, or its text.
        scenario: String,
        /// Keys of it, with their values.
        #[serde(default)]
        set: BTreeMap<String, String>,
    },
    /// Work through governors: the JSON of `flyball replay`, and of each governor the report (JSON and page)
    /// with the checksums of the run directory that it would be.
    Replay {
        /// One that ships, or its text; in its place `activity` and `platform`.
        scenario: Option<String>,
        /// Rows of the table `activity`: end of the interval, its length and the time busy (ns), CPU, frequency (kHz).
        #[serde(default)]
        activity: Vec<(u64, u64, u64, u32, Option<u64>)>,
        /// What a recorded load is replayed on.
        platform: Option<String>,
        /// Such as `schedutil,powersave`.
        governors: String,
    },
    /// Published numbers beside ours: the JSON of `flyball reproduce`.
    Reproduce {
        /// Letters of sources; empty: all.
        #[serde(default)]
        sources: Vec<String>,
        /// Ids or their starts; empty: all.
        #[serde(default)]
        ids: Vec<String>,
    },
}

/// Answers a request, `{"sim": ...}`, `{"replay": ...}` or `{"reproduce": ...}`; `{"error": ...}` where it cannot.
/// Ends in a line feed.
pub fn answer(request: &str) -> String {
    let answered = serde_json::from_str(request).map_err(text).and_then(answered);
    answered.unwrap_or_else(|error| json!({ "error": error }).to_string() + "\n")
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn printed(value: &Value) -> Result<String, String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(text)
}

fn answered(request: Request) -> Result<String, String> {
    match request {
        Request::Sim { scenario, set } => sim(&scenario, &set),
        Request::Replay { scenario, activity, platform, governors } => {
            replay(scenario.as_deref(), &activity, platform.as_deref(), &governors)
        }
        Request::Reproduce { sources, ids } => {
            let all = reproduce(&Options { data: None, sources, ids }, &|_, _| {}).map_err(text)?;
            all.json().map(|text| text + "\n").map_err(text)
        }
    }
}

fn scenario(name: &str, keys: &BTreeMap<String, String>) -> Result<Scenario, String> {
    let shipped = EXAMPLES.iter().find(|example| example.name == name);
    let (name, body) = shipped.map_or(("scenario", name), |example| (name, example.text));
    let mut root = parse_text(body, name).map_err(text)?;
    keys.iter().try_for_each(|(key, value)| set(&mut root, key, value)).map_err(text)?;
    let open = |path: &str| Err(format!("expected no other file, found {path}"));
    let scenario = from_tree(&root, Source { origin: name, name, open: &open }).map_err(text)?;
    scenario.check(name).map_err(text)?;
    Ok(scenario)
}

fn sim(name: &str, keys: &BTreeMap<String, String>) -> Result<String, String> {
    let scenario = Scenario { record: Record::None, ..scenario(name, keys)? };
    let ended = flyball_sim::sweep::run(&scenario, None, &|| false, &|_| {}).map_err(text)?;
    printed(&flyball_sim::text::json(&scenario, &ended.outcomes, None))
}

fn subject(
    name: Option<&str>,
    rows: &[(u64, u64, u64, u32, Option<u64>)],
    platform: Option<&str>,
) -> Result<Subject, String> {
    if let Some(name) = name {
        return Ok(Subject::Scenario(Box::new(scenario(name, &BTreeMap::new())?)));
    }
    let platform = Platform::named(platform.unwrap_or("apple-m1")).map_err(text)?;
    let kernel = Kernel::named(&platform.default_kernel).map_err(text)?;
    let mut run = Run::default();
    for &(t_ns, interval_ns, busy_ns, cpu, claimed_khz) in rows {
        let idle_ns = interval_ns.saturating_sub(busy_ns);
        let row = ActivitySample {
            t_ns,
            interval_ns,
            busy_ns,
            idle_ns,
            cpu,
            claimed_khz,
            ..ActivitySample::default()
        };
        run.tables.activity.push(row);
    }
    let opened = Opened::Work(activity::work(&run).map_err(text)?);
    opened.subject(&(platform, kernel), &Placing::default()).map_err(text)
}

fn replay(
    name: Option<&str>,
    rows: &[(u64, u64, u64, u32, Option<u64>)],
    platform: Option<&str>,
    governors: &str,
) -> Result<String, String> {
    let subject = subject(name, rows, platform)?;
    let mut played = Vec::new();
    let mut reports = Vec::new();
    for choice in GovernorSpec::list(governors).map_err(text)? {
        let mut kept = Kept::default();
        let outcome = play(&subject, &choice, Some(&mut kept), &|| false).map_err(text)?;
        let run = to_run(&subject, &outcome, kept);
        let disk = Memory::default();
        run.write_on(&disk, "run").map_err(text)?;
        let report = analyse(&[RunData::new("run", "run", run)], &AnalysisOptions::default());
        reports.push(json!({
            "json": report_json(&report).map_err(text)?,
            "page": html::render(&report, &html::HtmlOptions::default()),
            "files": disk.sums(),
        }));
        played.push(Played { outcome, took: Nanos::ZERO, dir: None });
    }
    printed(&json!({
        "replay": flyball_replay::text::json(&subject, &played),
        "reports": reports,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_wrongly_is_an_error_in_the_answer() {
        for request in [
            "",
            "{}",
            r#"{"sim": {"scenario": "x = ["}}"#,
            r#"{"replay": {"governors": "schedutil"}}"#,
        ] {
            let answered: Value = serde_json::from_str(&answer(request)).unwrap();
            assert!(answered["error"].is_string(), "{request}: {answered}");
        }
    }

    #[test]
    fn a_replay_has_its_report_and_its_files() {
        let rows: Vec<String> = (1..=20)
            .map(|n| format!("[{}, 10000000, {}, {}, 2064000]", n * 10_000_000, n * 400_000, n % 2))
            .collect();
        let request = format!(
            r#"{{"replay": {{"activity": [{}], "platform": "apple-m1", "governors": "schedutil,powersave"}}}}"#,
            rows.join(",")
        );
        let answered: Value = serde_json::from_str(&answer(&request)).unwrap();
        assert_eq!(answered["reports"].as_array().map(Vec::len), Some(2), "{answered}");
        let files = answered["reports"][0]["files"].as_array().unwrap();
        let names: Vec<&str> = files.iter().filter_map(|file| file[0].as_str()).collect();
        assert!(
            names.contains(&"run/items.parquet") && names.contains(&"run/run.toml"),
            "{names:?}"
        );
        assert!(answered["reports"][0]["page"].as_str().unwrap().contains("<html"));
    }
}
