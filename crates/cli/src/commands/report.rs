//! `flyball report`: from runs to the terminal, a page, figures, a bundle, and a verdict for CI.

mod sides;

use super::import::column_map;
use super::rampup;
use super::transition;
use crate::args::{OutputArgs, ReportArgs, ReportFormat, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{hosts, output};
use flyball_events::Recording;
use flyball_events::questions::CpuTime;
use flyball_host::Host;
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::bundle::Bundle;
use flyball_report::export;
use flyball_report::figures;
use flyball_report::gate::{self, Gate, Status};
use flyball_report::html::{self, HtmlOptions};
use flyball_report::model::{Comparison, Report};
use flyball_report::terminal::{self, TerminalOptions};
use flyball_run::import::{Options, load};
use flyball_run::{Run, RunState, newest_run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where runs are looked for and put.
pub const RUNS: &str = "flyball-runs";

/// Tasks that a hint names.
const TASKS: usize = 12;

/// Name of the page beside a run.
const PAGE: &str = "report.html";

pub fn run(args: ReportArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = hosts::real();
    if args.format == ReportFormat::JsonSchema {
        output::data(&export::schema().map_err(|error| Failure::new(Exit::Own, error))?)?;
        return Ok(Exit::Ok);
    }
    let rules = rules(&args.output)?;
    let paths = match args.runs.is_empty() {
        true => vec![newest_run(RUNS)?],
        // The first is the one that the others are compared with.
        false => args.against.iter().chain(&args.runs).cloned().collect(),
    };
    let options = Options { map: column_map(args.map.as_deref())?, ..Options::default() };
    if let [path] = &paths[..]
        && transition::is_one(path)?
    {
        return transition::report(path, &args, talk);
    }
    if args.against.is_empty() && rampup::are_all(&paths)? {
        return rampup::report(&paths, &args);
    }
    let mut runs = Vec::new();
    for path in &paths {
        runs.push(read(path, &options)?);
    }
    let hostname = |run: &RunData| run.manifest.machine.as_ref()?.hostname.clone();
    let hostnames: Vec<String> = runs.iter().filter_map(hostname).collect();
    if !args.against.is_empty() {
        runs = sides::of(runs, args.against.len())?;
    }
    let margin = runs.iter().find_map(|run| experiment_margin(&run.manifest.experiment));
    let seed = runs.iter().find_map(|run| run.manifest.seed);
    if let Some(task) = &args.task {
        check_task(task, &runs)?;
    }
    let analysis = AnalysisOptions {
        task: args.task.clone(),
        marker: args.marker.clone(),
        ..analysis(&args.output, margin, seed)
    };
    let report = analyse(&runs, &analysis);
    check_baseline(report.cells.iter().map(|cell| cell.condition.as_str()), &args.output)?;
    if let Some(dir) = &args.figures {
        let each: Vec<Report> =
            runs.iter().map(|run| analyse(std::slice::from_ref(run), &analysis)).collect();
        write_figures(&report, &each, dir, talk)?;
    }
    if let Some(file) = &args.timeline {
        let page = super::timeline::write(&runs, args.marker.as_ref(), file)?;
        for note in &page.notes {
            output::talk(&format!("note: {note}"));
        }
        say(talk, &format!("timeline {} ({} rows)", file.display(), page.rows));
    }
    if let Some(file) = &args.bundle {
        if let Some(foreign) = paths.iter().find(|path| !Run::is_run(path)) {
            return Err(Failure::new(
                Exit::Usage,
                format!("--bundle: expected run directories, found {}", foreign.display()),
            )
            .hint(format!("make it one first: flyball import {}", foreign.display())));
        }
        let redact = if args.with_hostname { Vec::new() } else { hostnames };
        bundle(file, &paths, &report, redact)?;
        say(talk, &format!("bundle  {}", file.display()));
    }
    let page = match args.format {
        ReportFormat::Text => write_page(&report, &args.output, beside(&paths))?,
        _ => args.output.page.as_ref().map(|page| put(page, &page_text(&report))).transpose()?,
    };
    print(host.as_ref(), &report, args.format, &paths, page, talk)?;
    let exit = judge(&report, &rules, talk)?;
    match runs.iter().find(|run| run.manifest.state == RunState::Invalid) {
        Some(run) => Err(Failure::new(
            Exit::InvalidRun,
            format!("{}: the run is not valid: its figures must not be used", run.name),
        )
        .hint("its checks say why: flyball report --verbose, or [[checks]] in run.toml")),
        None => Ok(exit),
    }
}

/// A baseline that is no condition would be replaced by another in silence.
pub fn check_baseline<'a>(
    conditions: impl Iterator<Item = &'a str>,
    args: &OutputArgs,
) -> Result<(), Failure> {
    let Some(wanted) = &args.baseline else { return Ok(()) };
    let mut names: Vec<&str> = conditions.collect();
    names.sort_unstable();
    names.dedup();
    // `idle` stands for `idle on P` and `idle on E`, too.
    let base = |name: &str| name.split(" on ").next() == Some(wanted);
    match names.iter().any(|name| *name == wanted || base(name)) {
        true => Ok(()),
        false => Err(Failure::new(
            Exit::Usage,
            format!("--baseline: expected a condition of this run, found \"{wanted}\""),
        )
        .hint(format!("conditions: {}", names.join(", ")))),
    }
}

/// A task that no run has would be replaced by another in silence.
fn check_task(wanted: &str, runs: &[RunData]) -> Result<(), Failure> {
    let mut ran = BTreeMap::<String, u64>::new();
    for run in runs {
        let recording = Recording::new(&run.tables, &run.manifest, None);
        if recording.find(wanted).is_ok() {
            return Ok(());
        }
        for time in CpuTime::all(&recording).unwrap_or_default().iter().flat_map(|cpu| &cpu.tasks) {
            *ran.entry(time.task.name.clone()).or_default() += time.ran_ns;
        }
    }
    let mut names: Vec<(String, u64)> = ran.into_iter().collect();
    names.sort_by_key(|(_, ran_ns)| std::cmp::Reverse(*ran_ns));
    let names: Vec<&str> = names.iter().take(TASKS).map(|(name, _)| name.as_str()).collect();
    let failure = Failure::new(
        Exit::Usage,
        format!("--task: expected a task of these runs, found \"{wanted}\""),
    );
    Err(match names.is_empty() {
        true => failure.hint("the runs have no table of who ran: leave --task out"),
        false => failure.hint(format!("those that ran longest: {}", names.join(", "))),
    })
}

/// The report on a run that was just made, printed; its comparisons, and what the rules say.
pub fn after_run(
    host: &dyn Host,
    dir: &Path,
    args: &OutputArgs,
    rules: &[Gate],
    margin: f64,
    talk: Talk,
) -> Result<(Vec<Comparison>, Exit), Failure> {
    let run = Run::open(dir)?;
    let runs = [RunData::new(run.name(), dir.display().to_string(), run)];
    let report = analyse(&runs, &analysis(args, Some(margin), runs[0].manifest.seed));
    let page = write_page(&report, args, Some(dir.join(PAGE)))?;
    print(host, &report, ReportFormat::Text, &[dir.to_path_buf()], page, talk)?;
    let judged = judge(&report, rules, talk)?;
    Ok((report.comparisons, judged))
}

/// The rules of `--fail-if`, read before anything runs.
pub fn rules(args: &OutputArgs) -> Result<Vec<Gate>, Failure> {
    let parse = |text: &String| {
        Gate::parse(text).map_err(|error| Failure::new(Exit::Usage, &error).hint(error.hint()))
    };
    args.fail_if.iter().map(parse).collect()
}

fn read(path: &Path, options: &Options<'_>) -> Result<RunData, Failure> {
    // A path that is no file is told of by `load`, which knows more formats.
    let trace = path.is_file() && flyball_events::import::is_trace(path)?;
    let run = match trace {
        true => flyball_events::import::import(path, &flyball_events::import::Options::default())?,
        false => load(path, options)?,
    };
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    Ok(RunData::new(name, path.display().to_string(), run))
}

fn analysis(args: &OutputArgs, margin: Option<f64>, seed: Option<u64>) -> AnalysisOptions {
    let base = AnalysisOptions::default();
    AnalysisOptions {
        task: None,
        marker: None,
        seed: seed.unwrap_or(base.seed),
        replicates: args.replicates,
        baseline: args.baseline.clone(),
        margin: margin.unwrap_or(base.margin),
    }
}

/// The margin that the experiment itself stated.
fn experiment_margin(experiment: &Option<String>) -> Option<f64> {
    let text = experiment.as_deref()?;
    Some(flyball_lab::experiment::read(text, "run.toml").ok()?.margin)
}

fn page_text(report: &Report) -> String {
    let generator = Some(format!("flyball {}", env!("CARGO_PKG_VERSION")));
    html::render(report, &HtmlOptions { generator, ..HtmlOptions::default() })
}

/// A single run directory gets its page beside its data; otherwise it must be asked for.
fn beside(paths: &[PathBuf]) -> Option<PathBuf> {
    match paths {
        [only] if Run::is_run(only) => Some(only.join(PAGE)),
        _ => None,
    }
}

fn write_page(
    report: &Report,
    args: &OutputArgs,
    beside: Option<PathBuf>,
) -> Result<Option<String>, Failure> {
    match (&args.page, args.no_page) {
        (_, true) => Ok(None),
        (Some(page), false) => put(page, &page_text(report)).map(Some),
        // Nobody asked for this one: a place that cannot be written must not hide the report.
        (None, false) => Ok(beside.and_then(|page| {
            put(&page, &page_text(report))
                .map_err(|failure| output::talk(&format!("note: no page: {}", failure.message)))
                .ok()
        })),
    }
}

fn put(path: &Path, text: &str) -> Result<String, Failure> {
    fs_err::write(path, text).map_err(|error| {
        Failure::io(&error).hint("name a place that can be written: --page FILE, or --no-page")
    })?;
    Ok(path.display().to_string())
}

fn print(
    host: &dyn Host,
    report: &Report,
    format: ReportFormat,
    paths: &[PathBuf],
    page: Option<String>,
    talk: Talk,
) -> Result<(), Failure> {
    let json_failed = |error| Failure::new(Exit::Own, error);
    let text = match format {
        ReportFormat::Text => terminal::render(
            report,
            &TerminalOptions {
                width: output::width(host),
                color: output::color(host),
                verbose: talk.verbose,
                runs: paths.iter().map(|path| path.display().to_string()).collect(),
                page,
                more: Some("--verbose".to_owned()),
                charset: output::charset(host),
            },
        ),
        ReportFormat::Json => export::json(report).map_err(json_failed)?,
        ReportFormat::JsonSchema => export::schema().map_err(json_failed)?,
        ReportFormat::Csv if report.cells.is_empty() && !report.events.is_empty() => {
            export::events_csv(report)
        }
        ReportFormat::Csv => export::cells_csv(report),
        ReportFormat::Md => export::markdown(report),
    };
    output::data(&text)
}

/// Tells what became of the rules; a failed or an undecidable one is a finding.
fn judge(report: &Report, rules: &[Gate], talk: Talk) -> Result<Exit, Failure> {
    let outcomes: Vec<_> = rules.iter().flat_map(|rule| rule.evaluate(report)).collect();
    for outcome in &outcomes {
        let word = match outcome.status {
            Status::Pass if !talk.verbose => continue,
            Status::Pass => "pass",
            Status::Fail => "FAIL",
            Status::CannotDecide => "CANNOT DECIDE",
        };
        output::talk(&format!("{word}  {}: {}", outcome.object, outcome.text));
    }
    let count = |status| outcomes.iter().filter(|outcome| outcome.status == status).count();
    if !rules.is_empty() {
        output::talk(&format!(
            "--fail-if: {} failed, {} cannot be decided, {} passed",
            count(Status::Fail),
            count(Status::CannotDecide),
            count(Status::Pass)
        ));
    }
    Ok(if gate::is_finding(&outcomes) { Exit::Finding } else { Exit::Ok })
}

fn say(talk: Talk, text: &str) {
    if !talk.quiet {
        output::talk(text);
    }
}

/// Everything in one file, to be sent to somebody, without the words to `redact`.
fn bundle(
    file: &Path,
    paths: &[PathBuf],
    report: &Report,
    redact: Vec<String>,
) -> Result<(), Failure> {
    let json = export::json(report).map_err(|error| Failure::new(Exit::Own, error))?;
    let bundle = Bundle {
        runs: paths.to_vec(),
        files: vec![
            (PAGE.to_owned(), page_text(report).into_bytes()),
            ("report.json".to_owned(), json.into_bytes()),
        ],
        redact,
    };
    bundle.write(file).map_err(|error| Failure::new(Exit::BadInput, &error).hint(error.hint()))
}

/// The figures that there are data for, each as SVG and PNG. `each` has one report per run.
fn write_figures(report: &Report, each: &[Report], dir: &Path, talk: Talk) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::io(&error);
    fs_err::create_dir_all(dir).map_err(failed)?;
    let drawn = figures::all(report, each);
    for figure in &drawn {
        let name = figure.name;
        fs_err::write(dir.join(format!("{name}.svg")), figure.svg()).map_err(failed)?;
        let png = figure.png().map_err(|error| Failure::new(Exit::Own, error))?;
        fs_err::write(dir.join(format!("{name}.png")), png).map_err(failed)?;
    }
    match drawn.is_empty() {
        true => output::talk("note: no figures: the runs hold nothing that could be drawn"),
        false => say(talk, &format!("figures {}", dir.display())),
    }
    Ok(())
}
