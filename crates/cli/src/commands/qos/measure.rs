//! `flyball qos measure`: what a ramp brings and costs, in random blocks with and without it.

use super::asked;
use crate::args::{MeasureArgs, Talk};
use crate::commands::ended;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::progress::Bar;
use crate::{experiments, machine, output, reporting, runs};
use flyball_host::{Host, Topology};
use flyball_lab::experiment::{self, Condition, Experiment, Placement, ProbeTiming};
use flyball_lab::job;
use flyball_lab::protocol::rampup::{Ask, Variant};
use flyball_lab::protocol::windows;
use flyball_lab::session::{BLAME, Destination, EnergyLog, EnergySide, Metered, Outcome};
use flyball_lab::{Machine, MachineError, Model, Order};
use flyball_qos::{By, backend};
use flyball_report::analysis::{AnalysisOptions, analyse};
use flyball_report::kinds::rampup;
use flyball_report::ramped::{self, Conditions, Figure};
use flyball_run::{Run, RunState};
use flyball_units::{MachineSpec, Mismatch, Nanos, Share};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Length of each spin: by load tracking's own pace the highest frequency takes some 130 ms.
const SPIN: Nanos = Nanos::from_millis(250);
/// Phases of tick and poll on a model.
const PHASES: u32 = 20;
/// Length of a kernel's name of a program.
const COMM: usize = 15;

pub fn run(args: &MeasureArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::with_faults(None)?;
    host.catch_interrupts()?;
    let multiplier = asked(&args.ramp, false)?.multiplier();
    let Share(margin) = args.margin.parse().map_err(|slip: Mismatch| slip.at("--margin"))?;
    let name = format!("ramp={multiplier}");
    let conditions = Conditions { without: Variant::ONLY, with: &name };
    let model = args.predict.as_deref().map(model).transpose()?;
    // Before anything is written: a prediction alone is an answer, too.
    let how = backend(host.as_ref(), By::Clamps);
    let how = if model.is_some() { Ok(how) } else { how.map(Ok) }?;
    let folder = runs::destination(args.out.as_deref()).empty(host.as_ref(), "qos")?;
    let mut measuring = Measuring { host: &host, args, conditions, folder, talk };
    let mut figures = Vec::new();
    if let Some(model) = &model {
        let Some(figure) = measuring.spins(model, "predicted")? else {
            return Ok(Exit::Interrupted);
        };
        figures.push(Figure { name: format!("{}, model", figure.name), ..figure });
    }
    if let Err(error) = how {
        measuring.print(&figures)?;
        return Err(error.into());
    }
    let Some(figure) = measuring.spins(&flyball_lab::machine::Host, "spins")? else {
        return Ok(Exit::Interrupted);
    };
    figures.push(figure);
    if args.program.is_empty() {
        measuring.print(&figures)?;
        return Ok(Exit::Ok);
    }
    let outcome = measuring.runs(multiplier, margin)?;
    figures.extend(measuring.of_runs(&outcome, margin)?);
    measuring.print(&figures)?;
    ended::exit(&outcome, Ok(Exit::Ok))
}

fn model(text: &str) -> Result<Model, Failure> {
    match machine::to_measure(text)? {
        MachineSpec::Model { name, kernel } => Ok(Model::named(&name, kernel.as_deref())?),
        other => {
            Err(Failure::usage(format!("--predict: expected a model (model:NAME), found {other}")))
        }
    }
}

struct Measuring<'a> {
    host: &'a Arc<dyn Host>,
    args: &'a MeasureArgs,
    conditions: Conditions<'a>,
    folder: PathBuf,
    talk: Talk,
}

impl Measuring<'_> {
    /// Spins on a machine, with and without; none where it was interrupted.
    fn spins(&mut self, machine: &dyn Machine, folder: &str) -> Result<Option<Figure>, Failure> {
        let base = Variant::usual(false);
        let ask = Ask {
            words: Vec::new(),
            variants: vec![
                base.with(self.conditions.without, "")?,
                base.with(self.conditions.with, self.conditions.with)?,
            ],
            spin: SPIN,
            repeats: self.args.repeats,
            phases: PHASES,
            seed: self.args.seed,
            events: None,
        };
        let to = Destination::Dir(self.folder.join(folder));
        let mut bar = Bar::new(self.talk.quiet);
        let origin = runs::origin();
        let left = machine.run(self.host, &Order::Rampup(ask), &to, &origin, &mut bar)?;
        if left.state == RunState::Interrupted {
            return Ok(None);
        }
        let found = rampup::analyse(&Run::open(&left.dir)?);
        Ok(Some(ramped::time_to_level(&found, self.conditions)))
    }

    /// Runs of the program, with and without.
    fn runs(&mut self, multiplier: u32, margin: f64) -> Result<Outcome, Failure> {
        let args = self.args;
        let mut experiment = experiments::for_program(&args.program, self.host, false)?;
        self.lay_out(&mut experiment, multiplier, margin)?;
        let prepared = windows::prepare(self.host, experiment, &runs::context(None));
        let prepared = prepared.map_err(MachineError::from)?;
        let mut bar = Bar::new(self.talk.quiet);
        let to = Destination::Dir(self.folder.join("runs"));
        let groups = args.trace.then(|| Some(BLAME.to_vec()));
        let topology = Topology::discover(self.host.as_ref())?;
        let log = EnergyLog::new(self.host.as_ref(), &topology);
        let outcome = job::recorded(self.host, &to, groups, &mut bar, |progress, side| {
            let order = prepared.plan.order();
            progress.planned(prepared.plan.trials.len(), "turns", prepared.duration(), &order);
            let mut side = EnergySide { log: &log, other: side };
            let mut metered = Metered { log: &log, progress };
            Ok(windows::run(self.host, prepared, &to, &mut metered, Some(&mut side))?)
        });
        Ok(outcome?)
    }

    fn lay_out(&self, experiment: &mut Experiment, ramp: u32, margin: f64) -> Result<(), Failure> {
        let program = self.args.program.first().map(String::as_str).unwrap_or_default();
        experiment.name = "qos".to_owned();
        experiment.question =
            Some(format!("What does a ramp bring {program}, and what does it cost?"));
        experiment.repeats = self.args.repeats;
        experiment.seed = self.args.seed;
        experiment.margin = margin;
        // Probing keeps the core busy, and a governor would see that.
        experiment.probe = ProbeTiming::Off;
        if let Some(text) = &self.args.duration {
            experiment.duration = time("--duration", text)?;
        }
        let plain = Condition {
            name: Some(self.conditions.without.to_owned()),
            placement: Placement::Any,
            ..Condition::default()
        };
        let mut ramped = Condition { name: Some(self.conditions.with.to_owned()), ..plain.clone() };
        ramped.settings.response_ramp = Some(ramp);
        experiment.conditions = vec![plain, ramped];
        self.args.quiet.apply(experiment)?;
        Ok(experiment::check(experiment, "command line")?)
    }

    /// What the runs say.
    fn of_runs(&self, outcome: &Outcome, margin: f64) -> Result<Vec<Figure>, Failure> {
        let run = Run::open(&outcome.dir)?;
        let data = [reporting::data(run.name(), &outcome.dir, run)?];
        let options = AnalysisOptions {
            seed: self.args.seed,
            baseline: Some(self.conditions.without.to_owned()),
            margin,
            ..AnalysisOptions::default()
        };
        let report = analyse(&data, &options);
        let program = self.args.program.first().map(Path::new).and_then(Path::file_name);
        let program: String =
            program.unwrap_or_default().to_string_lossy().chars().take(COMM).collect();
        let ours = |task: &str| {
            task == program
                || task == "telemetry"
                || task.starts_with("flyball")
                || task.starts_with("trial-")
        };
        let run = Run::open(&outcome.dir)?;
        Ok(vec![
            ramped::response(&report),
            ramped::power(&run, self.conditions, margin),
            ramped::others(&run, self.conditions, margin, &ours),
        ])
    }

    fn print(&self, figures: &[Figure]) -> Result<(), Failure> {
        let folder = self.folder.display();
        output::result(
            self.args.format,
            || {
                let Conditions { without, with } = self.conditions;
                format!("{without} -> {with}\n{}\nRun   {folder}\n", ramped::lines(figures))
            },
            || {
                json!({
                    "schema": "flyball-qos-measure/1",
                    "without": self.conditions.without,
                    "with": self.conditions.with,
                    "figures": figures,
                    "run": folder.to_string(),
                })
            },
        )
    }
}
