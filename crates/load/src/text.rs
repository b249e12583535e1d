//! A load and its proof for people and as JSON.

use crate::{LoadProof, LoadRow, Profile, Site, Until};
use serde_json::Value;
use std::fmt::Write;

/// What is about to run, where and for how long.
pub fn begun(profile: &Profile, site: &Site, until: Until) -> String {
    let end = match until {
        Until::Elapsed(time) => format!("for {:.0} s", time.as_secs_f64()),
        Until::Interrupted => "until Ctrl-C".to_owned(),
    };
    format!("load {profile} on CPUs {}, {end}", site.usable)
}

/// One second's rows in one line.
pub fn second(rows: &[LoadRow]) -> String {
    let cpus = rows.iter().map(|row| {
        let steal = row.steal.filter(|steal| *steal >= 0.5);
        let steal = steal.map(|steal| format!(" (steal {steal:.0} %)")).unwrap_or_default();
        format!("{} {:.1} %{steal}", row.cpu, row.achieved)
    });
    cpus.collect::<Vec<_>>().join("   ")
}

/// The proof: verdict, threads, CPUs.
pub fn proof(proof: &LoadProof) -> String {
    let verdict = if proof.proven { "PROVEN" } else { "NOT PROVEN" };
    let mut text =
        format!("load {}: {verdict} over {:.1} s\n", proof.profile, proof.observed.as_secs_f64());
    if !proof.threads.is_empty() {
        text.push_str("thread  CPUs      asked  achieved  lowest second  waited for a CPU\n");
    }
    let percent =
        |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1} %"));
    for (number, thread) in proof.threads.iter().enumerate() {
        let _ = writeln!(
            text,
            "{number:>6}  {:<8}{:>5.0} %{:>10}{:>15}{:>18}",
            thread.cpus.to_string(),
            thread.wanted,
            percent(Some(thread.achieved)),
            percent(thread.lowest),
            percent(thread.waited)
        );
    }
    for cpu in &proof.cpus {
        let _ = writeln!(
            text,
            "{:>6}  load {:.1} %, busy in all {}, steal {}",
            cpu.cpu.to_string(),
            cpu.achieved,
            percent(cpu.busy),
            percent(cpu.steal)
        );
    }
    for note in &proof.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// The same for programs.
pub fn json(proof: &LoadProof) -> Value {
    let threads = proof.threads.iter().map(|thread| {
        serde_json::json!({
            "cpus": thread.cpus.to_string(),
            "wanted_percent": thread.wanted,
            "achieved_percent": thread.achieved,
            "lowest_percent": thread.lowest,
            "waited_percent": thread.waited,
        })
    });
    let cpus = proof.cpus.iter().map(|cpu| {
        serde_json::json!({
            "cpu": cpu.cpu.0,
            "wanted_percent": cpu.wanted,
            "achieved_percent": cpu.achieved,
            "busy_percent": cpu.busy,
            "steal_percent": cpu.steal,
        })
    });
    serde_json::json!({
        "profile": proof.profile.to_string(),
        "observed_ns": proof.observed.0,
        "proven": proof.proven,
        "why": proof.why.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "cpus": cpus.collect::<Vec<_>>(),
        "notes": proof.notes,
    })
}
