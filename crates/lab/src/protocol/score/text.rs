//! What was played, for people and as JSON.

use crate::protocol::score::Played;
use flyball_sim::record::spread;
use flyball_sim::scenario::Scenario;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// One line per task, then where the runs are.
pub fn text(scenario: &Scenario, played: &[(PathBuf, Played)]) -> String {
    let mut text = format!(
        "{} on this machine, {} s{}\n\n{:<24}{:>8}{:>14}{:>14}{:>14}\n",
        scenario.name,
        scenario.duration.as_secs_f64(),
        if played.len() > 1 { format!(", {} times", played.len()) } else { String::new() },
        "task",
        "items",
        "median ms",
        "p99 ms",
        "largest ms"
    );
    let Some((_, first)) = played.first() else { return text };
    for player in &first.players {
        let items: Vec<f64> = played
            .iter()
            .flat_map(|(_, played)| &played.players)
            .filter(|other| other.name == player.name)
            .flat_map(|player| &player.items)
            .filter_map(|item| item.latency_ns)
            .map(|latency| latency as f64 / 1e6)
            .collect();
        let _ = write!(text, "{:<24}{:>8}", player.name, items.len());
        match spread(items) {
            Some(of) => {
                let _ = writeln!(text, "{:>14.3}{:>14.3}{:>14.3}", of.median, of.p99, of.max);
            }
            None => {
                let _ = writeln!(text, "{:>14}{:>14}{:>14}", "-", "-", "-");
            }
        }
    }
    text.push('\n');
    for (dir, _) in played {
        let _ = writeln!(text, "Run   {}", dir.display());
    }
    text
}

/// The same as JSON.
pub fn json(scenario: &Scenario, played: &[(PathBuf, Played)]) -> Value {
    let list: Vec<Value> = played.iter().map(|(dir, played)| value(dir, played)).collect();
    json!({ "scenario": scenario.name, "played": list })
}

fn value(dir: &Path, played: &Played) -> Value {
    let players: Vec<Value> = played
        .players
        .iter()
        .map(|player| {
            let done = player.items.iter().filter(|item| item.ended_ns.is_some()).count();
            let responses = player.items.iter().filter_map(|item| item.latency_ns);
            json!({
                "task": player.name, "tid": player.tid, "began_ns": player.began.0,
                "items": player.items.len(), "done": done,
                "response_ns": spread(responses.map(|latency| latency as f64)),
            })
        })
        .collect();
    json!({
        "run": dir, "begin_ns": played.begin.0, "end_ns": played.end.0,
        "interrupted": played.interrupted, "tasks": players,
    })
}
