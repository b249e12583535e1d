//! On one model: variants side by side, with the figures that only a model knows.

use super::variant::{self, Variant};
use crate::args::{CheckFormat, RampupArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::figure::Target as Figure;
use crate::meter::Meter;
use crate::{machine, output, runs};
use flyball_events::Recording;
use flyball_host::Host;
use flyball_lab::Model;
use flyball_report::timeline::{self, Ask, Options, RunView};
use flyball_run::manifest::{ConditionRecord, TrialRecord};
use flyball_run::{Manifest, Run, RunState};
use flyball_sim::record::{Outcome, Spread, Unit, manifest};
use flyball_sim::scenario::Scenario;
use flyball_sim::sweep::{record_phase, run_phases};
use flyball_sim::text::{json as sim_json, value};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// The task in every variant, and the mark at which its demand begins.
const TASK: &str = "rampup";
const MARK: &str = "spin";

pub fn run(
    args: &RampupArgs,
    name: &str,
    kernel: Option<&str>,
    talk: Talk,
) -> Result<Exit, Failure> {
    let (platform, kernel) = model(name, kernel)?;
    let figure = args.figure.as_deref().map(Figure::of).transpose()?;
    let host = machine::real();
    host.catch_interrupts()?;
    let variants = variant::all(args, &platform, &kernel)?;
    let phases: usize = variants.iter().map(|variant| variant.scenario.phases as usize).sum();
    let meter = Meter::new(&host, talk.quiet, phases, "phases");
    let stop = || host.interrupted() > 0;
    let mut results = Vec::new();
    for variant in &variants {
        let before: usize = results.iter().map(Vec::len).sum();
        let failed = |error| Failure::from(flyball_sim::sweep::RunError::Setup(error));
        let outcomes = run_phases(&variant.scenario, &stop, &|done| meter.at(before + done));
        match outcomes.map_err(failed)? {
            Some(outcomes) => results.push(outcomes),
            None => return Ok(interrupted()),
        }
    }
    meter.finish();
    let manifest = describe(&variants);
    let mut writer = runs::create(args.out.as_deref(), host.as_ref(), &manifest)?;
    for (trial, variant) in variants.iter().enumerate() {
        if record_phase(&variant.scenario, 0, trial as u32, &mut writer, &stop)?.is_none() {
            return Ok(interrupted());
        }
    }
    let dir = writer.finish(&Manifest { state: RunState::Complete, ..manifest })?;
    let run = Run::open(&dir)?;
    let views = views(&run, &variants)?;
    if let Some(figure) = figure {
        figure.write(&views, talk)?;
    }
    output::data(&match args.format {
        CheckFormat::Text => {
            let mut text =
                table(&variants, &results, args.duration.as_deref().unwrap_or(RampupArgs::SPIN));
            let _ = writeln!(text, "\nPhase 0 of each, from the start of the spin\n");
            text.push_str(&timeline::render(&views, &options(host.as_ref())));
            let _ = writeln!(text, "\nRun   {}", dir.display());
            text
        }
        CheckFormat::Json => format!("{:#}\n", as_json(&variants, &results, &views, &dir)),
    })?;
    Ok(Exit::Ok)
}

pub fn interrupted() -> Exit {
    output::talk("interrupted: no result");
    Exit::Interrupted
}

/// Platform and kernel by name.
pub fn model(name: &str, kernel: Option<&str>) -> Result<(String, String), Failure> {
    let model = Model::named(name, kernel)?;
    Ok((name.to_owned(), model.kernel().name.clone()))
}

/// One run of several trials, one per variant.
pub fn describe(variants: &[Variant]) -> Manifest {
    let Some(first) = variants.first() else { return Manifest::default() };
    let condition = |variant: &Variant| ConditionRecord {
        name: variant.name.clone(),
        governor: variant.scenario.governor_in_charge().map(str::to_owned),
        ..ConditionRecord::default()
    };
    let trial = |(number, variant): (usize, &Variant)| TrialRecord {
        trial: number as u32,
        workload: TASK.to_owned(),
        condition: variant.name.clone(),
        repeat: 1,
        ..TrialRecord::default()
    };
    let texts = variants.iter().map(|v| format!("# variant: {}\n{}", v.name, v.scenario.text));
    Manifest {
        experiment: Some(texts.collect::<Vec<_>>().join("\n")),
        conditions: variants.iter().map(condition).collect(),
        order: variants.iter().enumerate().map(trial).collect(),
        ..manifest("rampup", &first.scenario)
    }
}

fn views(run: &Run, variants: &[Variant]) -> Result<Vec<RunView>, Failure> {
    let ask = Ask { task: Some(TASK.to_owned()), marker: Some(MARK.to_owned()), ..Ask::default() };
    let view = |(trial, variant): (usize, &Variant)| {
        let recording = Recording::of_trial(run, trial as u32);
        RunView::of(variant.name.clone(), &recording, &ask)
            .map_err(|missing| Failure::new(Exit::InvalidRun, missing))
    };
    variants.iter().enumerate().map(view).collect()
}

fn options(host: &dyn Host) -> Options {
    Options {
        width: Some(output::width(host)),
        color: output::color(host),
        charset: output::charset(host),
        ..Options::default()
    }
}

/// The figures that answer the question, one column per variant; `spin` is how long each was
/// watched.
fn table(variants: &[Variant], results: &[Vec<Outcome>], spin: &str) -> String {
    let Some(first) = variants.first() else { return String::new() };
    let scenario = &first.scenario;
    let mut text = format!(
        "{}; median [1 %, 99 %] over {} phases of tick and poll\n\n",
        scenario.platform.title, scenario.phases
    );
    let cells: Vec<Vec<String>> = rows(scenario)
        .iter()
        .map(|(subject, name, unit, label)| {
            let cell = |outcomes: &Vec<Outcome>| {
                cell(outcomes, subject, name, *unit).unwrap_or_else(|| absent(name, spin))
            };
            std::iter::once(label.clone()).chain(results.iter().map(cell)).collect()
        })
        .collect();
    let heads = std::iter::once(String::new()).chain(variants.iter().map(|v| v.name.clone()));
    let heads: Vec<String> = heads.collect();
    let width = |column: usize| {
        let cells = cells.iter().filter_map(|row| row.get(column)).chain(heads.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + 2
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    for row in std::iter::once(&heads).chain(&cells) {
        let line: String =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// What stands where nothing came to be in any phase.
fn absent(name: &str, spin: &str) -> String {
    match name {
        "frequency_busy_khz" => "never busy".to_owned(),
        name if name.starts_with("util_") || name == "on_largest_ns" => {
            format!("not within {spin}")
        }
        _ => "none".to_owned(),
    }
}

/// Subject, metric, unit, and how the table names it.
fn rows(scenario: &Scenario) -> Vec<(String, String, Unit, String)> {
    let mut rows = Vec::new();
    let mut add = |subject: &str, name: String, unit, label: String| {
        rows.push((subject.to_owned(), name, unit, label));
    };
    for threshold in &scenario.utilization {
        add(
            TASK,
            format!("util_{threshold}_ns"),
            Unit::Ns,
            format!("util_avg reaches {threshold}"),
        );
    }
    let mut types: Vec<&str> = Vec::new();
    for cpu in &scenario.platform.cpus {
        if !types.contains(&cpu.core_type.as_str()) {
            types.push(&cpu.core_type);
        }
    }
    if types.len() > 1 {
        add(TASK, "on_largest_ns".to_owned(), Unit::Ns, "first on the largest core".to_owned());
        for core in types {
            add(TASK, format!("on_{core}_ns"), Unit::Ns, format!("time on {core}"));
        }
    }
    for domain in &scenario.platform.domains {
        let subject = format!("domain {}", domain.name);
        let label = format!("{}: mean frequency while busy", domain.name);
        add(&subject, "frequency_busy_khz".to_owned(), Unit::Khz, label);
    }
    add("machine", "energy_mj".to_owned(), Unit::Mj, "energy".to_owned());
    rows
}

/// Median and range; None where it came to be in no phase.
fn cell(outcomes: &[Outcome], subject: &str, name: &str, unit: Unit) -> Option<String> {
    let found = spread(outcomes, subject, name)?;
    let median = value(unit, found.median);
    let range = match found.min == found.max {
        true => String::new(),
        false => format!(" [{}, {}]", value(unit, found.p1), value(unit, found.p99)),
    };
    let reached = match found.n < outcomes.len() {
        true => format!(" in {} of {}", found.n, outcomes.len()),
        false => String::new(),
    };
    Some(format!("{median}{range}{reached}"))
}

fn spread(outcomes: &[Outcome], subject: &str, name: &str) -> Option<Spread> {
    flyball_sim::record::spread(outcomes.iter().filter_map(|o| o.value(subject, name)))
}

fn as_json(
    variants: &[Variant],
    results: &[Vec<Outcome>],
    views: &[RunView],
    dir: &Path,
) -> serde_json::Value {
    let variants = variants.iter().zip(results).zip(views).map(|((variant, outcomes), view)| {
        json!({
            "name": variant.name,
            "result": sim_json(&variant.scenario, outcomes, None),
            "timeline": view,
        })
    });
    json!({
        "schema": "flyball-rampup/1",
        "variants": variants.collect::<Vec<_>>(),
        "run": dir.display().to_string(),
    })
}
