//! The answer of one model: its variants side by side, as people read it and as JSON.

use super::model::{Case, Simulated};
use super::{RampupError, Variant, text};
use flyball_events::{Missing, Recording};
use flyball_report::timeline::{self, Ask, Options, RunView};
use flyball_run::Run;
use flyball_run::name::RAMPUP_TASK;
use flyball_sim::record::Outcome;
use flyball_sim::text::json;
use flyball_sim::workload::SPIN;
use flyball_units::Mismatch;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// What one model answered.
pub struct Answer {
    names: Vec<String>,
    cases: Vec<Case>,
    phases: Vec<Vec<Outcome>>,
    /// Phase 0 of each variant over time.
    pub views: Vec<RunView>,
    /// The run directory.
    dir: PathBuf,
}

impl Answer {
    /// Of variants that were simulated whole on `platform`; phase 0 of each is read from their run.
    ///
    /// # Errors
    /// A run that cannot be read, or lacks the spin.
    pub fn of(
        platform: &str,
        cases: Vec<Case>,
        simulated: Simulated,
    ) -> Result<Answer, RampupError> {
        let dir = simulated.outcome.dir;
        let names: Vec<String> = cases.iter().map(|case| name(case, platform)).collect();
        let views = views(&Run::open(&dir)?, &names, &cases)?;
        Ok(Answer { names, cases, phases: simulated.phases, views, dir })
    }

    /// What people read: figures over all phases, of which each was watched for `spin`, and phase 0 over time. Within
    /// `lines`, where there is such a bound, the run's place left out.
    pub fn text(&self, spin: &str, lines: Option<usize>, options: &Options) -> String {
        let mut text = text::figures(&self.names, &self.cases, &self.phases, spin);
        let _ = writeln!(text, "\nPhase 0 of each, from the start of the spin\n");
        let room = lines.map(|lines| lines.saturating_sub(text.lines().count()));
        text.push_str(&timeline::render(&self.views, &Options { room, ..*options }));
        let _ = writeln!(text, "\nRun   {}", self.dir.display());
        text
    }

    /// As the JSON of `flyball-rampup/1`.
    pub fn json(&self) -> Value {
        let variant = |(number, case): (usize, &Case)| {
            let result = json(&case.scenario, &self.phases[number], None);
            json!({ "name": self.names[number], "result": result, "timeline": self.views[number] })
        };
        let variants: Vec<Value> = self.cases.iter().enumerate().map(variant).collect();
        let run = self.dir.display().to_string();
        json!({ "schema": "flyball-rampup/1", "variants": variants, "run": run })
    }
}

/// The variant's name, or what it is where none was named.
fn name(case: &Case, platform: &str) -> String {
    match case.scenario.governor_in_charge().filter(|_| case.condition == Variant::ONLY) {
        Some(governor) => format!("{platform} {governor}"),
        None => case.condition.clone(),
    }
}

fn views(run: &Run, names: &[String], cases: &[Case]) -> Result<Vec<RunView>, RampupError> {
    let ask =
        Ask { task: Some(RAMPUP_TASK.to_owned()), marker: Some(SPIN.to_owned()), ..Ask::default() };
    let mut trial = 0;
    let view = |(name, case): (&String, &Case)| {
        let recording = Recording::of_trial(run, trial);
        trial += case.scenario.phases;
        RunView::of(name.clone(), &recording, &ask).map_err(|missing: Missing| {
            let slip = Mismatch::value("a task that sleeps and spins", missing);
            RampupError::BadInput(slip.at(format!("phase 0 of {}", case.condition)))
        })
    };
    names.iter().zip(cases).map(view).collect()
}
