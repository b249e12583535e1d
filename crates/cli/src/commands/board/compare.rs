//! `flyball board compare`: a scenario on a model beside the same on a real kernel.

use crate::args::{BoardCompareArgs, CheckFormat, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{machine, output, runs, scenarios};
use flyball_lab::compare::{
    Agreement, LOST_SHARE, Line, Quantity, Rehearsed, given, judge, of_outcome, of_run, rehearse,
    rehearsed, with,
};
use flyball_lab::session::Progress;
use flyball_run::RunWriter;
use flyball_sim::record::{Outcome, Spread, manifest};
use flyball_sim::scenario::{Record, Scenario};
use flyball_units::Nanos;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// The model's run, in the directory of the comparison.
const MODEL: &str = "model";
/// That of a model that was given nothing of the guest.
const ALONE: &str = "model-alone";
/// The comparison as data.
const RESULT: &str = "comparison.json";

pub fn run(args: &BoardCompareArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::real();
    host.catch_interrupts()?;
    let mut scenario = scenarios::scenario(&args.scenario, &args.set)?;
    scenario.record = Record::Full;
    let seconds = host.realtime().0 / 1_000_000_000;
    let dir = match &args.out {
        Some(dir) => flyball_run::empty_dir(dir)?,
        None => flyball_run::new_dir_below(Path::new(runs::RUNS), seconds, "compare")?,
    };
    let found = match &args.again {
        Some(earlier) => rehearsed(&earlier.join(RESULT)),
        None => {
            let mut bar = Bar::new(talk.quiet);
            let kernel = args.kernel.as_deref();
            rehearse(&host, &scenario, kernel, args.repeats.get(), &dir, &mut |text| bar.note(text))
        }
    };
    let rehearsed = found.inspect_err(|_| {
        // Not empty is what it may be; anything else the user sees in the listing.
        let _ = fs_err::remove_dir(&dir);
    })?;
    if rehearsed.interrupted {
        return Ok(Exit::Interrupted);
    }
    if rehearsed.playings.is_empty() {
        return Err(Failure::new(
            Exit::InvalidRun,
            format!(
                "{}: expected CPUs of the board that lose at most {:.0} % of their time, found {:.0} % \
                 in the best of {} playings",
                dir.display(),
                100.0 * LOST_SHARE,
                100.0 * rehearsed.slow.iter().map(|slow| slow.lost_share).fold(1.0, f64::min),
                rehearsed.slow.len()
            ),
        )
        .hint("run it again while this machine has nothing else to do"));
    }
    let built = scenario.setup(0);
    let missing = |missing| Failure::new(Exit::InvalidRun, missing);
    let runs = rehearsed.playings.iter().map(|playing| &playing.run);
    let given = given(&scenario, &built, runs).map_err(missing)?;
    let informed = with(&scenario, &given);
    let stop = || host.interrupted() > 0;
    let simulate = |scenario: &Scenario, name: &str| {
        let writer = RunWriter::create(dir.join(name), &manifest("sim", scenario))?;
        let ended = flyball_sim::sweep::run(scenario, Some(writer), &stop, &|_| ())?;
        let figures = |outcome: &Outcome| of_outcome(scenario, &built, outcome);
        Ok::<_, Failure>(ended.map(|ended| ended.outcomes.iter().map(figures).collect::<Vec<_>>()))
    };
    let (Some(model), Some(alone)) = (simulate(&informed, MODEL)?, simulate(&scenario, ALONE)?)
    else {
        return Ok(Exit::Interrupted);
    };
    let board = rehearsed
        .playings
        .iter()
        .map(|playing| of_run(&scenario, &built, &playing.run).map_err(missing))
        .collect::<Result<Vec<_>, _>>()?;
    let tick = Nanos(1_000_000_000 / u64::from(scenario.kernel.hz));
    let lines = judge(&board, &model, &alone, tick);
    let value = json!({
        "scenario": scenario.name,
        "platform": scenario.platform.name,
        "model_kernel": scenario.kernel.name,
        "board_kernel": rehearsed.release,
        "phases": model.len(),
        "given": given,
        "boots": rehearsed.boots,
        "playings": rehearsed.playings.iter().map(|playing| json!({
            "run": playing.dir, "lost_share": playing.lost_share,
        })).collect::<Vec<_>>(),
        "left_out": rehearsed.slow,
        "lines": lines,
    });
    let file = dir.join(RESULT);
    fs_err::write(&file, format!("{value:#}\n")).map_err(|error| Failure::io(&error))?;
    output::data(&match args.format {
        CheckFormat::Text => text(&scenario, &rehearsed, model.len(), &lines, &dir),
        CheckFormat::Json => format!("{value:#}\n"),
    })?;
    let differs = lines.iter().any(|line| line.agreement == Agreement::Differs);
    Ok(if differs { Exit::Finding } else { Exit::Ok })
}

fn text(
    scenario: &Scenario,
    rehearsed: &Rehearsed,
    phases: usize,
    lines: &[Line],
    dir: &Path,
) -> String {
    let differing = lines.iter().filter(|line| line.agreement == Agreement::Differs).count();
    let verdict = match differing {
        0 => format!("model and kernel agree in all {} figures", lines.len()),
        _ => format!("model and kernel differ in {differing} of {} figures", lines.len()),
    };
    let largest = rehearsed.playings.iter().map(|playing| playing.lost_share).fold(0.0, f64::max);
    let mut text = format!(
        "{}: {verdict}\n{} phases of the model ({}), {} playings on the board (Linux {}), at most {:.1} % \
         of a CPU's time lost",
        scenario.name,
        phases,
        scenario.kernel.name,
        rehearsed.playings.len(),
        rehearsed.release.as_deref().unwrap_or("?"),
        100.0 * largest
    );
    if !rehearsed.slow.is_empty() {
        let _ = write!(text, "; {} more were too slow and do not count", rehearsed.slow.len());
    }
    let columns = ["kernel: mean (range)", "model: mean (range)", "model alone"];
    let [kernel, model, alone] = columns;
    let _ = writeln!(text, "\n\n{:<36}{kernel:>25}{model:>25}{alone:>25}", "");
    for line in lines.iter().filter(|line| worth_a_line(line)) {
        let mark = match line.agreement {
            Agreement::Agrees => "",
            Agreement::Differs => "  differs",
        };
        let (name, scale, digits) = name(&line.quantity);
        let _ = writeln!(
            text,
            "{name:<36}{:>25}{:>25}{:>25}{mark}",
            of(line.board.as_ref(), line.board_never, scale, digits),
            of(line.model.as_ref(), line.model_never, scale, digits),
            of(line.alone.as_ref(), line.alone_never, scale, digits)
        );
    }
    let _ = writeln!(text, "\nRuns  {}", dir.display());
    text
}

/// Shares that are nothing on both sides say nothing.
fn worth_a_line(line: &Line) -> bool {
    let large = |spread: &Option<Spread>| spread.as_ref().is_some_and(|spread| spread.max >= 0.05);
    let is_time = matches!(line.quantity, Quantity::TimeToUtilization { .. });
    is_time || line.agreement == Agreement::Differs || large(&line.board) || large(&line.model)
}

/// What it is, what its values are divided by to be shown, and digits behind the point.
fn name(quantity: &Quantity) -> (String, f64, usize) {
    match quantity {
        Quantity::TimeToUtilization { task, level } => {
            (format!("{task}: ms to utilisation {level}"), 1e6, 1)
        }
        Quantity::Residency { domain, khz } => {
            (format!("{domain}: % of the time at {} MHz", khz / 1000), 1.0, 1)
        }
        Quantity::BusyResidency { domain, khz } => {
            (format!("{domain}: % of a CPU busy at {} MHz", khz / 1000), 1.0, 1)
        }
        Quantity::Running { task, core_type } => {
            (format!("{task}: % of the time on {core_type}"), 1.0, 1)
        }
    }
}

fn of(spread: Option<&Spread>, never: usize, scale: f64, digits: usize) -> String {
    let Some(spread) = spread else { return "never".to_owned() };
    let at = |value: f64| format!("{:.digits$}", value / scale);
    let mut text = format!("{} ({} to {})", at(spread.mean), at(spread.min), at(spread.max));
    if never > 0 {
        let _ = write!(text, ", {never} never");
    }
    text
}
