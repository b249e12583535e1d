//! `flyball qos measure`: what a ramp brings and costs, in random blocks with and without it.

use super::asked;
use crate::args::{MeasureArgs, Talk};
use crate::commands::ended;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::{experiments, machine, output, runs};
use flyball_console::Bar;
use flyball_host::Host;
use flyball_lab::experiment;
use flyball_lab::ramped::{self as lab, WITHOUT, with_and_without};
use flyball_lab::session::{Destination, Outcome};
use flyball_lab::{Machine, Model, Order};
use flyball_qos::{By, backend, text};
use flyball_report::kinds::rampup;
use flyball_report::ramped::{self, Conditions, Figure, Measured};
use flyball_run::{Run, RunState};
use flyball_units::MachineSpec;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn run(args: &MeasureArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::with_faults(None)?;
    host.catch_interrupts()?;
    let multiplier = asked(&args.ramp, false)?.multiplier();
    let margin = args.turns.margin()?;
    let name = lab::with(multiplier);
    let conditions = Conditions { without: WITHOUT, with: &name };
    let model = args.predict.as_deref().map(model).transpose()?;
    // Before anything is written: a prediction alone is an answer, too.
    let how = backend(host.as_ref(), By::best(host.as_ref()));
    let how = if model.is_some() { Ok(how) } else { how.map(Ok) }?;
    if let (Ok(backend), false) = (&how, talk.quiet) {
        output::lines(text::how(backend).lines().map(str::to_owned));
    }
    let folder = runs::destination(args.out.as_deref()).empty(host.as_ref(), "qos")?;
    let by = how.as_ref().ok().map(|backend| backend.name);
    let mut measuring = Measuring { host: &host, args, by, multiplier, conditions, folder, talk };
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
    let outcome = measuring.runs()?;
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
    by: Option<&'static str>,
    multiplier: u32,
    conditions: Conditions<'a>,
    folder: PathBuf,
    talk: Talk,
}

impl Measuring<'_> {
    /// Spins on a machine, with and without; none where it was interrupted.
    fn spins(&mut self, machine: &dyn Machine, folder: &str) -> Result<Option<Figure>, Failure> {
        let ask = lab::spins(self.multiplier, self.args.repeats, self.args.turns.seed)?;
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
    fn runs(&self) -> Result<Outcome, Failure> {
        let args = self.args;
        let experiment = experiments::for_program(&args.program, self.host, false)?;
        let program = args.program.first().map(String::as_str).unwrap_or_default();
        let mut experiment = with_and_without(experiment, program, self.multiplier);
        experiment.repeats = args.repeats;
        if let Some(text) = &args.duration {
            experiment.duration = time("--duration", text)?;
        }
        args.turns.apply(&mut experiment)?;
        experiment::check(&experiment, "command line")?;
        let to = Destination::Dir(self.folder.join("runs"));
        let context = runs::context(None);
        let mut bar = Bar::new(self.talk.quiet);
        Ok(lab::run(self.host, experiment, (args.trace, &context), &to, &mut bar)?)
    }

    /// What the runs say.
    fn of_runs(&self, outcome: &Outcome, margin: f64) -> Result<Vec<Figure>, Failure> {
        let program = self.args.program.first().map(Path::new).and_then(Path::file_name);
        let program = program.unwrap_or_default().to_string_lossy();
        let judged = (self.args.turns.seed, margin);
        Ok(ramped::of_directory(&outcome.dir, self.conditions, judged, &program)?)
    }

    fn print(&self, figures: &[Figure]) -> Result<(), Failure> {
        let measured = Measured {
            schema: "flyball-qos-measure/1",
            by: self.by,
            conditions: self.conditions,
            figures,
            run: self.folder.display().to_string(),
        };
        output::result(self.args.format, || measured.text(), || json!(measured))
    }
}
