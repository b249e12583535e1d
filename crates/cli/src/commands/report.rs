//! `flyball report`: from runs to the terminal, a page, figures, a bundle, and a verdict for CI.

mod import;

use super::ended;
use crate::args::{ReportArgs, ReportFormat, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporting::{
    GENERATOR, PAGE, SCHEMA, analysis as analysis_options, check_baseline, judge, page_text, print,
    put, rules, write_figures, write_page,
};
use crate::runs::RUNS;
use crate::{machine, output};
use flyball_events::Reading;
use flyball_lab::experiment;
use flyball_report::analysis::{AnalysisOptions, RunData, analyse, tasks};
use flyball_report::bundle::Bundle;
use flyball_report::export;
use flyball_report::lanes::{self, LanesOptions};
use flyball_report::model::Report;
use flyball_report::sides::{self, SidesError};
use flyball_run::disk::write_file;
use flyball_run::{Run, RunState, manifest, newest_run};
use flyball_sim::sweep::Journal;
use std::path::{Path, PathBuf};

/// Tasks that a hint names.
const TASKS: usize = 12;

pub fn run(args: ReportArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::real();
    if args.output.format == ReportFormat::JsonSchema {
        output::data(SCHEMA)?;
        return Ok(Exit::Ok);
    }
    let rules = rules(&args.output)?;
    let mut paths: Vec<PathBuf> = match args.runs.is_empty() {
        true => vec![newest_run(RUNS).map_err(|error| {
            Failure::from(error).hint("measure one with: flyball bench; or name a run directory")
        })?],
        // The first is the one that the others are compared with.
        false => args.against.iter().chain(&args.runs).cloned().collect(),
    };
    let reading = import::reading(&args, host.as_ref())?;
    import::check(&paths, &args)?;
    if let Some(dir) = &args.out {
        paths = vec![import::keep(&paths, dir, &reading, talk)?];
    }
    let mut runs = Vec::new();
    for path in &paths {
        flyball_console::doing(format!("reading {}", path.display()));
        runs.push(read(path, &reading)?);
    }
    flyball_console::doing("computing the report".to_owned());
    if !args.against.is_empty() {
        runs = sides::of(runs, args.against.len()).map_err(|error| match error {
            SidesError::Run(error) => error.into(),
            SidesError::Mixed(_) => Failure::usage(format!("--against: {error}"))
                .hint("switches and ramp-ups are laid side by side without it: flyball report A B"),
        })?;
    }
    let margin = runs.iter().find_map(|run| experiment::margin_of(&run.manifest));
    let seed = runs.iter().find_map(|run| run.manifest.seed);
    if let Some(task) = &args.task {
        check_task(task, &runs)?;
    }
    let analysis = AnalysisOptions {
        task: args.task.clone(),
        marker: args.marker.clone(),
        ..analysis_options(&args.output, margin, seed)
    };
    let report = analyse(&runs, &analysis);
    check_baseline(report.baselines().into_iter(), &args.output)?;
    if let Some(dir) = &args.figures {
        let each: Vec<Report> =
            runs.iter().map(|run| analyse(std::slice::from_ref(run), &analysis)).collect();
        write_figures(&report, &each, dir, talk)?;
    }
    if let Some(file) = &args.timeline {
        let (marker, generator) = (args.marker.clone(), Some(GENERATOR.to_owned()));
        let options = LanesOptions { marker, generator, ..LanesOptions::default() };
        let page = lanes::for_file(&runs, &options, file)?;
        write_file(file, &page.bytes)?;
        for note in &page.notes {
            output::talk(&format!("note: {note}"));
        }
        output::unless_quiet(
            talk.quiet,
            &format!("timeline {} ({} rows)", file.display(), page.rows),
        );
    }
    if let Some(file) = &args.bundle {
        if let Some(foreign) = paths.iter().find(|path| !Run::is_run(path)) {
            return Err(Failure::usage(format!(
                "--bundle: expected run directories, found {}",
                foreign.display()
            ))
            .hint(format!(
                "keep it as one first: flyball report {} --out DIR",
                foreign.display()
            )));
        }
        bundle(file, &paths, &report, &args, talk)?;
    }
    let page = match args.output.format {
        ReportFormat::Text => write_page(&report, &args.output, beside(&paths))?,
        _ => args.output.page.as_ref().map(|page| put(page, &page_text(&report))).transpose()?,
    };
    print(host.as_ref(), &report, args.output.format, &rules, &paths, page, talk)?;
    let exit = judge(&report, &rules, talk)?;
    match runs.iter().find(|run| run.manifest.state == RunState::Invalid) {
        Some(run) => Err(ended::invalid(
            &run.name,
            "its checks say why: flyball report --verbose, or [[checks]] in run.toml",
        )),
        None => Ok(exit),
    }
}

/// A task that no run has would be replaced by another in silence.
fn check_task(wanted: &str, runs: &[RunData]) -> Result<(), Failure> {
    let Err(ran) = tasks::find(wanted, runs, TASKS) else { return Ok(()) };
    let text = format!("--task: expected a task of these runs, found \"{wanted}\"");
    Err(Failure::usage(text).hint(match ran.is_empty() {
        true => "the runs have no table of who ran: leave --task out".to_owned(),
        false => format!("those that ran longest: {}", ran.join(", ")),
    }))
}

fn read(path: &Path, reading: &Reading) -> Result<RunData, Failure> {
    // Its directory may have been begun.
    let begun = path.join(manifest::FILE).exists();
    if let Some(slip) = Journal::unfinished(path).filter(|_| !begun) {
        return Err(Failure::input(&slip).maybe_hint(slip.hint.clone()));
    }
    let run = reading.open(path)?;
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    Ok(RunData::beside(name, path, run)?)
}

/// A single run directory gets its page beside its data; otherwise it must be asked for.
fn beside(paths: &[PathBuf]) -> Option<PathBuf> {
    match paths {
        [only] if Run::is_run(only) => Some(only.join(PAGE)),
        _ => None,
    }
}

/// Everything in one file, to be sent to somebody.
fn bundle(
    file: &Path,
    paths: &[PathBuf],
    report: &Report,
    args: &ReportArgs,
    talk: Talk,
) -> Result<(), Failure> {
    let json = export::json(report).map_err(|error| Failure::new(Exit::Own, error))?;
    let files = vec![
        (PAGE.to_owned(), page_text(report).into_bytes()),
        ("report.json".to_owned(), json.into_bytes()),
    ];
    let bundle = Bundle { runs: paths.to_vec(), files, keep: args.keep.clone() };
    output::unless_quiet(talk.quiet, &format!("bundle  {}", file.display()));
    bundle
        .write(file, &mut |line| output::unless_quiet(talk.quiet, &line))
        .map_err(|error| Failure::input(&error).hint(error.hint()))
}
