//! `flyball loadgen`: a load on its own, with proof.

use super::bench::time;
use crate::args::{CheckFormat, LoadgenArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{hosts, output};
use flyball_load::{LoadError, LoadProof, LoadRow, Profile, Site, Until, run_alone};
use serde_json::{Value, json};
use std::fmt::Write;

pub fn run(args: &LoadgenArgs, talk: Talk) -> Result<Exit, Failure> {
    let profile: Profile =
        args.profile.parse().map_err(|error| Failure::from(LoadError::Profile(error)))?;
    let until = match &args.duration {
        Some(text) => Until::Elapsed(time("--duration", text)?.0),
        None => Until::Interrupted,
    };
    let host = hosts::real();
    host.catch_interrupts()?;
    let site = Site::of(host.as_ref())?;
    if !talk.quiet {
        let end = match until {
            Until::Elapsed(time) => format!("for {:.0} s", time.as_secs_f64()),
            Until::Interrupted => "until Ctrl-C".to_owned(),
        };
        output::talk(&format!("load {profile} on CPUs {}, {end}", site.usable));
    }
    let proof = run_alone(&host, &profile, &site, 1, until, |rows| {
        if !talk.quiet {
            output::talk(&second(rows));
        }
    })?;
    output::data(&match args.format {
        CheckFormat::Text => text(&proof),
        CheckFormat::Json => format!("{:#}\n", as_json(&proof)),
    })?;
    // Being told to stop is how a load without a duration ends.
    if matches!(until, Until::Elapsed(_)) && host.interrupted() > 0 {
        return Ok(Exit::Interrupted);
    }
    proof.require()?;
    Ok(Exit::Ok)
}

/// One second's rows in one line.
fn second(rows: &[LoadRow]) -> String {
    let cpus = rows.iter().map(|row| {
        let steal = row.steal.filter(|steal| *steal >= 0.5);
        let steal = steal.map(|steal| format!(" (steal {steal:.0} %)")).unwrap_or_default();
        format!("{} {:.1} %{steal}", row.cpu, row.achieved)
    });
    cpus.collect::<Vec<_>>().join("   ")
}

fn text(proof: &LoadProof) -> String {
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

fn as_json(proof: &LoadProof) -> Value {
    let threads = proof.threads.iter().map(|thread| {
        json!({
            "cpus": thread.cpus.to_string(),
            "wanted_percent": thread.wanted,
            "achieved_percent": thread.achieved,
            "lowest_percent": thread.lowest,
            "waited_percent": thread.waited,
        })
    });
    let cpus = proof.cpus.iter().map(|cpu| {
        json!({
            "cpu": cpu.cpu.0,
            "wanted_percent": cpu.wanted,
            "achieved_percent": cpu.achieved,
            "busy_percent": cpu.busy,
            "steal_percent": cpu.steal,
        })
    });
    json!({
        "profile": proof.profile.to_string(),
        "observed_ns": proof.observed.0,
        "proven": proof.proven,
        "why": proof.why.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "cpus": cpus.collect::<Vec<_>>(),
        "notes": proof.notes,
    })
}
