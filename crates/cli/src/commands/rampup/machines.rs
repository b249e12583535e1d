//! On machines: each leaves a run directory of its own, and all are shown beside each other.

use super::asked::{self, Asked};
use super::variant;
use crate::args::{RampupArgs, Talk};
use crate::commands::report::RUNS;
use crate::commands::trace::{self, Trace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::meter::Meter;
use crate::progress::Bar;
use crate::{hosts, output};
use flyball_host::Host;
use flyball_lab::protocol::rampup::live::{self, About};
use flyball_lab::protocol::rampup::model::{self, Case};
use flyball_lab::protocol::windows::{Beside, Destination, Progress};
use flyball_lab::{Board, GuestRows, Model, Target};
use flyball_run::RunState;
use flyball_run::manifest::Flyball;
use flyball_units::Nanos;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is asked, once for all machines.
struct Order<'a> {
    host: Arc<dyn Host>,
    args: &'a RampupArgs,
    asked: Vec<Asked>,
    spin: &'a str,
    talk: Talk,
}

pub fn run(args: &RampupArgs, targets: &[Target], talk: Talk) -> Result<Exit, Failure> {
    if args.figure.is_some() {
        return Err(Failure::new(
            Exit::Usage,
            "--figure: expected one model, and nothing asked of its gaps",
        ));
    }
    let host = hosts::real();
    host.catch_interrupts()?;
    let alone = targets == [Target::Host];
    let order = Order {
        host: Arc::clone(&host),
        args,
        asked: asked::asked(args, alone)?,
        spin: asked::spin(args, alone),
        talk,
    };
    let (mut dirs, mut interrupted) = (Vec::new(), false);
    for (target, destination) in targets.iter().zip(destinations(&host, args, targets)?) {
        let (dir, state) = order.measure(target, &destination)?;
        dirs.push(dir);
        interrupted = state == RunState::Interrupted;
        if interrupted {
            break;
        }
    }
    if args.no_report {
        return Ok(if interrupted { Exit::Interrupted } else { Exit::Ok });
    }
    super::show(&dirs, args.format)
}

/// One directory per machine: of several in one folder, by their names.
fn destinations(
    host: &Arc<dyn Host>,
    args: &RampupArgs,
    targets: &[Target],
) -> Result<Vec<Destination>, Failure> {
    if targets.len() == 1 {
        return Ok(vec![match &args.out {
            Some(dir) => Destination::Dir(dir.clone()),
            None => Destination::Below(PathBuf::from(RUNS)),
        }]);
    }
    let folder = match &args.out {
        Some(dir) => flyball_run::empty_dir(dir)?,
        None => {
            let seconds = host.realtime().0 / 1_000_000_000;
            flyball_run::new_dir_below(Path::new(RUNS), seconds, "rampup")?
        }
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name = |(number, target): (usize, &Target)| {
        let name: String = target.to_string().chars().map(plain).collect();
        Destination::Dir(folder.join(format!("{}-{name}", number + 1)))
    };
    Ok(targets.iter().enumerate().map(name).collect())
}

impl Order<'_> {
    fn measure(
        &self,
        target: &Target,
        destination: &Destination,
    ) -> Result<(PathBuf, RunState), Failure> {
        match target {
            Target::Host => self.live(destination),
            Target::Model { name, kernel } => {
                self.model(target, (name, kernel.as_deref()), destination)
            }
            Target::Board(board) => self.board(&Board::of(board, true)?, destination),
            Target::Record(dir) => Err(Failure::new(
                Exit::Usage,
                format!("--machine: expected a machine, found record:{}", dir.display()),
            )
            .hint(format!("read it with: flyball report {}", dir.display()))),
        }
    }

    /// On a model: every phase of every variant and gap.
    fn model(
        &self,
        target: &Target,
        (name, kernel): (&str, Option<&str>),
        destination: &Destination,
    ) -> Result<(PathBuf, RunState), Failure> {
        let (platform, kernel) = super::model::model(self.args, name, kernel)?;
        let mut cases = Vec::new();
        for one in &self.asked {
            for gap in &one.gaps {
                let words = one.words.join(" ");
                let text = format!("{}: {words} sleeps={} gap={}ns", one.name, one.sleeps, gap.0);
                let args = RampupArgs {
                    variant: vec![text],
                    duration: Some(self.spin.to_owned()),
                    ..self.args.clone()
                };
                for variant in variant::all(&args, &platform, &kernel)? {
                    cases.push(Case {
                        condition: variant.name,
                        gap: *gap,
                        sleeps: one.sleeps,
                        scenario: variant.scenario,
                    });
                }
            }
        }
        let machine = Model::named(&platform, Some(&kernel))?.record();
        let phases: usize = cases.iter().map(|case| case.scenario.phases as usize).sum();
        let meter = Meter::new(&self.host, self.talk.quiet, phases, "phases");
        let seconds = self.host.realtime().0 / 1_000_000_000;
        let left = model::run(
            &cases,
            (&target.to_string(), machine),
            (destination, seconds),
            &|| self.host.interrupted() > 0,
            &|done| meter.at(done),
        );
        meter.finish();
        Ok(left?)
    }

    /// In the guest of a board: the same command for its own machine, with the kernel's events.
    fn board(
        &self,
        board: &Board,
        destination: &Destination,
    ) -> Result<(PathBuf, RunState), Failure> {
        // Refused here rather than in the guest.
        let plan = asked::plan(self.args, &self.asked, self.spin)?;
        let arguments = asked::arguments(self.args, &self.asked, self.spin);
        let dir = match destination {
            Destination::Dir(dir) => dir.clone(),
            Destination::Below(root) => {
                let seconds = self.host.realtime().0 / 1_000_000_000;
                flyball_run::new_dir_below(root, seconds, "rampup")?
            }
        };
        let seconds = plan.duration().as_secs_f64();
        let mut bar = Bar::new(self.talk.quiet);
        bar.note(&format!("{} ramp-ups, about {seconds:.0} s and a boot", plan.spins()));
        // A guest is slow to start programs, to calibrate and to write.
        let timeout = Nanos(plan.duration().0.saturating_mul(4)) + Nanos::from_secs(600);
        let command = crate::command_line();
        let tell = &mut |text: &str| bar.note(text);
        let left = (dir.as_path(), command.as_slice());
        let outcome =
            board.flyball(&self.host, &arguments, timeout, left, GuestRows::Rampups, tell)?;
        Ok((outcome.dir, outcome.state))
    }

    /// On this machine.
    fn live(&self, destination: &Destination) -> Result<(PathBuf, RunState), Failure> {
        let host = &self.host;
        let plan = asked::plan(self.args, &self.asked, self.spin)?;
        let groups = self.args.trace.as_deref().map(trace::groups).transpose()?;
        let about = About {
            command: crate::command_line(),
            flyball: Flyball {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                commit: option_env!("FLYBALL_COMMIT").map(str::to_owned),
            },
        };
        let prepared = live::prepare(host, plan, &about)?;
        let plan = prepared.plan();
        if !self.talk.quiet {
            output::talk(&format!(
                "{} ramp-ups, about {:.0} s",
                plan.spins(),
                plan.duration().as_secs_f64()
            ));
        }
        let meter = Meter::new(host, self.talk.quiet, plan.spins(), "ramp-ups");
        let mut trace = match groups {
            Some(groups) => Some(Trace::start(host, destination, groups, self.talk.quiet)?),
            None => None,
        };
        let beside = trace.as_mut().map(|trace| trace as &mut dyn Beside);
        let outcome = live::run(host, prepared, destination, &|done| meter.at(done), beside);
        meter.finish();
        let outcome = outcome?;
        trace.map_or(Ok(()), |trace| trace.restored())?;
        Ok((outcome.dir, outcome.state))
    }
}
