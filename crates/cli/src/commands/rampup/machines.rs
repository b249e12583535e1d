//! On machines: each leaves a run directory of its own, and all are shown beside each other.

use super::asked::{self, Asked};
use crate::args::{RampupArgs, Talk};
use crate::commands::report::RUNS;
use crate::commands::trace::{self, Trace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::meter::Meter;
use crate::{hosts, output};
use flyball_host::Host;
use flyball_machine::Target;
use flyball_measure::bench::{Beside, Destination};
use flyball_rampup::live::{self, About};
use flyball_run::RunState;
use flyball_run::manifest::Flyball;
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
    let mut dirs = Vec::new();
    for (target, destination) in targets.iter().zip(destinations(&host, args, targets)?) {
        let (dir, state) = order.measure(target, &destination)?;
        dirs.push(dir);
        if state == RunState::Interrupted {
            break;
        }
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
            other => Err(Failure::new(
                Exit::Unsupported,
                format!("--machine: expected host, found {other}"),
            )),
        }
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
