//! Reports as commands give them: analysed, printed, with a page beside the run, and judged.

use crate::args::{OutputArgs, ReportFormat, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use flyball_host::Host;
use flyball_report::analysis::{AnalysisOptions, RunData, analyse, check_condition};
use flyball_report::export;
use flyball_report::figures;
use flyball_report::gate::{self, Gate, Outcome, Status};
use flyball_report::html::{self, HtmlOptions};
use flyball_report::model::{Comparison, Report};
use flyball_report::terminal::{self, TerminalOptions};
use flyball_run::Run;
use flyball_run::disk::write_file;
use std::path::{Path, PathBuf};

/// Who made a page.
pub const GENERATOR: &str = concat!("flyball ", env!("CARGO_PKG_VERSION"));

/// The schema of `--format json`; a test of the report holds the file against the types.
pub const SCHEMA: &str = include_str!("../../../docs/reference/report.schema.json");

/// Name of the page beside a run.
pub const PAGE: &str = "report.html";

/// A baseline that is no condition would be replaced by another in silence.
pub fn check_baseline<'a>(
    conditions: impl Iterator<Item = &'a str>,
    args: &OutputArgs,
) -> Result<(), Failure> {
    let Some(wanted) = &args.baseline else { return Ok(()) };
    Ok(check_condition(wanted, conditions).map_err(|slip| slip.at("--baseline"))?)
}

/// What is printed of runs that were just made, and what is written beside it.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Format on stdout.
    pub format: ReportFormat,
    /// Folder for the figures.
    pub figures: Option<PathBuf>,
    /// File for the page; where absent, beside a single run.
    pub page: Option<PathBuf>,
}

/// The report on runs of ramp-ups or switches that were just made, side by side.
pub fn after_runs(
    host: &dyn Host,
    dirs: &[PathBuf],
    wanted: &Wanted,
    talk: Talk,
) -> Result<(), Failure> {
    let mut runs = Vec::new();
    for dir in dirs {
        let run = Run::open(dir)?;
        runs.push(RunData::beside(run.name(), dir, run)?);
    }
    let options = AnalysisOptions {
        seed: runs.iter().find_map(|run| run.manifest.seed).unwrap_or_default(),
        ..AnalysisOptions::default()
    };
    let report = analyse(&runs, &options);
    if let Some(dir) = &wanted.figures {
        write_figures(&report, &[], dir, talk)?;
    }
    let beside = match dirs {
        [dir] if wanted.format == ReportFormat::Text => Some(dir.join(PAGE)),
        _ => None,
    };
    let output = OutputArgs { page: wanted.page.clone(), ..OutputArgs::default() };
    let page = write_page(&report, &output, beside)?;
    print(host, &report, wanted.format, &[], dirs, page, talk)
}

/// The figures that there are data for, each as SVG, PNG and PDF. `each` has one report per run.
pub fn write_figures(
    report: &Report,
    each: &[Report],
    dir: &Path,
    talk: Talk,
) -> Result<(), Failure> {
    match figures::write(report, each, dir)? == 0 {
        true => output::talk("note: no figures: the runs hold nothing that could be drawn"),
        false => output::unless_quiet(talk.quiet, &format!("figures {}", dir.display())),
    }
    Ok(())
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
    let runs = [RunData::beside(run.name(), dir, run)?];
    let report = analyse(&runs, &analysis(args, Some(margin), runs[0].manifest.seed));
    let page = write_page(&report, args, Some(dir.join(PAGE)));
    let written = page.as_ref().ok().cloned().flatten();
    print(host, &report, args.format, rules, &[dir.to_path_buf()], written, talk)?;
    page?;
    let judged = judge(&report, rules, talk)?;
    Ok((report.comparisons, judged))
}

/// What is asked of a report, checked before anything is measured: the rules, and a folder for the page.
pub fn asked(args: &OutputArgs) -> Result<Vec<Gate>, Failure> {
    let folder = args.page.as_deref().and_then(Path::parent);
    match folder.filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        None => rules(args),
        Some(folder) => {
            let found = folder.display();
            let text = format!("--page: expected a file in an existing folder, found {found}");
            Err(Failure::input(text).hint("make the folder first, or name another place"))
        }
    }
}

/// The rules of `--fail-if`.
pub fn rules(args: &OutputArgs) -> Result<Vec<Gate>, Failure> {
    let parse = |text: &String| {
        Gate::parse(text)
            .map_err(|error| Failure::usage(format!("--fail-if: {error}")).hint(error.hint()))
    };
    args.fail_if.iter().map(parse).collect()
}

pub fn analysis(args: &OutputArgs, margin: Option<f64>, seed: Option<u64>) -> AnalysisOptions {
    let base = AnalysisOptions::default();
    AnalysisOptions {
        seed: seed.unwrap_or(base.seed),
        replicates: args.replicates,
        baseline: args.baseline.clone(),
        margin: margin.unwrap_or(base.margin),
        ..base
    }
}

pub fn page_text(report: &Report) -> String {
    let generator = Some(GENERATOR.to_owned());
    html::render(report, &HtmlOptions { generator, ..HtmlOptions::default() })
}

pub fn write_page(
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

pub fn put(path: &Path, text: &str) -> Result<String, Failure> {
    write_file(path, text.as_bytes()).map_err(|error| {
        Failure::of(&error).hint("name a place that can be written: --page FILE, or --no-page")
    })?;
    Ok(path.display().to_string())
}

pub fn print(
    host: &dyn Host,
    report: &Report,
    format: ReportFormat,
    rules: &[Gate],
    paths: &[PathBuf],
    page: Option<String>,
    talk: Talk,
) -> Result<(), Failure> {
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
        ReportFormat::Json => {
            export::json(report).map_err(|error| Failure::new(Exit::Own, error))?
        }
        ReportFormat::JsonSchema => SCHEMA.to_owned(),
        ReportFormat::Csv => {
            // The table has no place for it.
            output::lines(report.unfinished().iter().map(|it| format!("warning: not whole: {it}")));
            export::csv(report)
        }
        ReportFormat::Md => export::markdown(report),
        ReportFormat::Ktap => export::ktap(report, &outcomes(report, rules)),
    };
    output::data(&text)
}

fn outcomes(report: &Report, rules: &[Gate]) -> Vec<Outcome> {
    rules.iter().flat_map(|rule| rule.evaluate(report)).collect()
}

/// Tells what became of the rules; a failed or an undecidable one is a finding.
pub fn judge(report: &Report, rules: &[Gate], talk: Talk) -> Result<Exit, Failure> {
    let outcomes = outcomes(report, rules);
    output::lines(gate::lines(&outcomes, talk.verbose));
    if !rules.is_empty() {
        output::talk(&format!("--fail-if: {}", gate::summary(&outcomes)));
    }
    Ok(match gate::overall(&outcomes) {
        Status::Fail => Exit::Finding,
        Status::CannotDecide => Exit::Undecided,
        Status::Pass => Exit::Ok,
    })
}
