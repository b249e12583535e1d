//! `flyball fix`: the smallest change of settings that meets a latency goal.

use crate::args::{CheckFormat, FixArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::progress::Bar;
use crate::{experiments, machine, output, runs};
use flyball_fix::{
    Bench, Candidate, Goal, Ladder, Milliseconds, Outcome, Report, Standing, Tried, Trier, Windows,
    fix,
};
use flyball_host::{Host, Topology};
use flyball_lab::experiment::{self, Condition, Experiment};
use flyball_units::Mismatch;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn run(args: &FixArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::with_faults(args.faults.as_deref())?;
    host.catch_interrupts()?;
    let goal: Goal = args.goal.parse().map_err(|slip: Mismatch| slip.at("--goal"))?;
    let (experiment, folder) = experiment(args, &host, &goal)?;
    let context = runs::context(folder.as_deref());
    let runs = match &args.out {
        Some(dir) => dir.clone(),
        None => new_folder(host.as_ref()),
    };
    let mut bar = Bar::new(talk.quiet || args.dry_run);
    let mut bench = Bench::new(&host, experiment, goal, context, &runs, &mut bar)?;
    if args.dry_run {
        return dry_run(&mut bench, goal, args.format);
    }
    let found = fix(goal, &mut bench)?;
    output::data(&match args.format {
        CheckFormat::Json => json_of(&found, bench.topology()),
        CheckFormat::Text => text_of(&found, bench.topology()),
    })?;
    Ok(match found.outcome {
        Outcome::AlreadyMet | Outcome::Found { .. } => Exit::Ok,
        Outcome::Unreachable { .. } | Outcome::NotProven { .. } => Exit::Finding,
    })
}

/// A new folder beside the runs of `bench`, named after the time.
fn new_folder(host: &dyn Host) -> PathBuf {
    let seconds = host.realtime().0 / 1_000_000_000;
    Path::new(runs::RUNS).join(flyball_run::name::run_name(seconds, "fix"))
}

/// The experiment with what the goal needs of windows, and the folder that its paths are relative to.
fn experiment(
    args: &FixArgs,
    host: &Arc<dyn Host>,
    goal: &Goal,
) -> Result<(Experiment, Option<PathBuf>), Failure> {
    let (mut experiment, folder) = match (&args.experiment, args.program.is_empty()) {
        (Some(name), true) => experiments::named_or_file(name)?,
        (None, false) => {
            let mut experiment = experiments::for_program(&args.program, host, args.dry_run)?;
            experiment.conditions = vec![Condition {
                scheduling: "other".to_owned(),
                placement: "any".to_owned(),
                ..Condition::default()
            }];
            (experiment, None)
        }
        _ => {
            return Err(Failure::new(
                Exit::Usage,
                "expected an experiment, or a program after `--`: one of them",
            ));
        }
    };
    if let Some(text) = &args.period {
        experiment.period = time("--period", text)?;
        experiment.duration = experiment.duration.max(experiment.period);
    }
    if let Some(seed) = args.seed {
        experiment.seed = seed;
    }
    let needed = Windows::needed(goal, &experiment);
    experiment.repeats = args.repeats.map_or(needed.repeats, |repeats| repeats.get());
    experiment.duration = match &args.duration {
        Some(text) => time("--duration", text)?,
        None => needed.duration,
    };
    experiment::check(&experiment, "command line")?;
    Ok((experiment, folder))
}

/// What would be tried for work that the scheduler places where this program runs now.
fn dry_run(bench: &mut Bench<'_>, goal: Goal, format: CheckFormat) -> Result<Exit, Failure> {
    let home = bench.topology().online.iter().last().unwrap_or_default();
    let ladder = bench.ladder(home)?;
    output::data(&match format {
        CheckFormat::Json => {
            let rungs: Vec<_> = ladder
                .rungs
                .iter()
                .map(|rung| json!({ "kind": rung.kind, "levels": rung.levels }))
                .collect();
            let all = json!({ "goal": goal, "home": home, "try": rungs, "unavailable": ladder.unavailable });
            format!("{all:#}\n")
        }
        CheckFormat::Text => planned(&ladder, goal, &home.to_string()),
    })?;
    Ok(Exit::Ok)
}

fn planned(ladder: &Ladder, goal: Goal, home: &str) -> String {
    let mut text = format!("Goal {goal}; for work that runs on {home}, the smallest first:\n");
    for rung in &ladder.rungs {
        let levels: Vec<String> = rung.levels.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "  {:<18} {}", rung.kind.name(), levels.join(", "));
    }
    unavailable(&mut text, &ladder.unavailable);
    text
}

fn unavailable(text: &mut String, all: &[flyball_fix::Unavailable]) {
    for one in all {
        let _ = writeln!(text, "  not here: {}: {}", one.kind.name(), one.why);
    }
}

fn json_of(found: &Report, topology: &Topology) -> String {
    let persistent = match &found.outcome {
        Outcome::Found { changes, .. } => changes.persistent(topology),
        _ => Vec::new(),
    };
    format!("{:#}\n", json!({ "report": found, "persistent": persistent }))
}

fn text_of(found: &Report, topology: &Topology) -> String {
    let mut text = verdict(found);
    for stage in &found.stages {
        let _ = writeln!(text, "\n{} ({})", stage.name, stage.run.display());
        for tried in &stage.tried {
            let _ = writeln!(text, "  {:<7} {}", word(tried.standing), line(tried));
        }
    }
    if !found.unavailable.is_empty() {
        text.push('\n');
        unavailable(&mut text, &found.unavailable);
    }
    if let Outcome::Found { changes, .. } = &found.outcome {
        text.push_str("\nTo make it stay (nothing was left changed):\n");
        for line in changes.persistent(topology) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn verdict(found: &Report) -> String {
    let goal = found.goal;
    match &found.outcome {
        Outcome::AlreadyMet => format!("{goal}: met already; nothing has to change\n"),
        Outcome::Found { changes, confirmed, baseline } => {
            let mut text = format!("{goal}: met by {changes}, confirmed in fresh windows\n");
            let _ = writeln!(text, "  with it     {}", interval(confirmed));
            let _ = writeln!(text, "  without     {}", interval(baseline));
            for change in &changes.changes {
                let _ = writeln!(text, "  its cost    {}", change.kind().cost());
            }
            let _ = writeln!(text, "  power       {}", power(confirmed, baseline));
            text
        }
        Outcome::Unreachable { closest } => format!(
            "{goal}: out of reach on this machine; closest was {} with {}\n",
            closest.candidate,
            interval(closest)
        ),
        Outcome::NotProven { closest, why } => format!(
            "{goal}: not proven; closest was {} with {}\n{why}\n",
            closest.candidate,
            interval(closest)
        ),
    }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Met => "met",
        Standing::Missed => "missed",
        Standing::Open => "open",
    }
}

fn line(tried: &Tried) -> String {
    let name = match tried.candidate == Candidate::BASELINE {
        true => "baseline".to_owned(),
        false => tried.candidate.to_string(),
    };
    let power = tried.power_w.map(|watts| format!(", {watts:.2} W")).unwrap_or_default();
    format!("{:<44} {}{power}", name, interval(tried))
}

fn interval(tried: &Tried) -> String {
    let estimate = &tried.found.estimate;
    let bounds = match estimate.interval() {
        Some((low, high)) => format!("[{}, {}]", Milliseconds(low), Milliseconds(high)),
        None => "[no interval]".to_owned(),
    };
    format!("{} {bounds}, {} windows", Milliseconds(estimate.value), tried.windows)
}

fn power(confirmed: &Tried, baseline: &Tried) -> String {
    match (confirmed.power_w, baseline.power_w) {
        (Some(with), Some(without)) => {
            format!("{with:.2} W with it, {without:.2} W without (packages, one mean each)")
        }
        _ => "not known: no energy counter that may be read here".to_owned(),
    }
}
