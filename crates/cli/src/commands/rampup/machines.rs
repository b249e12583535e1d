//! On machines: each leaves a run directory of its own, and all are shown beside each other.

use super::asked::{self, Asked};
use super::variant;
use crate::args::{RampupArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::machine;
use crate::progress::Bar;
use crate::runs::RUNS;
use flyball_host::Host;
use flyball_lab::protocol::rampup::model::{self, Case};
use flyball_lab::session::Destination;
use flyball_lab::{Board, Job, Model, Protocol};
use flyball_run::RunState;
use flyball_units::{MachineSpec, Nanos};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The groups of events that a board's kernel is asked for: what the answers need, and no more, for
/// its CPUs are slow.
const BOARD_EVENTS: [&str; 4] = ["sched", "frequency", "util", "capacity"];

/// What is asked, once for all machines.
struct Order<'a> {
    host: Arc<dyn Host>,
    args: &'a RampupArgs,
    asked: Vec<Asked>,
    spin: &'a str,
    talk: Talk,
}

pub fn run(args: &RampupArgs, targets: &[MachineSpec], talk: Talk) -> Result<Exit, Failure> {
    if args.figure.is_some() {
        return Err(Failure::new(
            Exit::Usage,
            "--figure: expected one model, and nothing asked of its gaps",
        ));
    }
    let host = machine::real();
    host.catch_interrupts()?;
    let alone = targets == [MachineSpec::Host];
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
    super::show(&dirs, args, talk)
}

/// One directory per machine: of several in one folder, by their names.
fn destinations(
    host: &Arc<dyn Host>,
    args: &RampupArgs,
    targets: &[MachineSpec],
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
    let name = |(number, target): (usize, &MachineSpec)| {
        let name: String = target.to_string().chars().map(plain).collect();
        Destination::Dir(folder.join(format!("{}-{name}", number + 1)))
    };
    Ok(targets.iter().enumerate().map(name).collect())
}

impl Order<'_> {
    fn measure(
        &self,
        target: &MachineSpec,
        destination: &Destination,
    ) -> Result<(PathBuf, RunState), Failure> {
        match target {
            MachineSpec::Host => {
                let mut bar = Bar::new(self.talk.quiet);
                let job = self.job(self.events())?;
                let left = job.run(&self.host, destination, &crate::runs::origin(), &mut bar)?;
                Ok((left.dir, left.state))
            }
            MachineSpec::Model { name, kernel } => {
                self.model(target, (name, kernel.as_deref()), destination)
            }
            MachineSpec::Board(board) => {
                let mut bar = Bar::new(self.talk.quiet);
                let usual = || BOARD_EVENTS.map(str::to_owned).to_vec();
                let events = self.events().filter(|named| !named.is_empty());
                let job = self.job(Some(events.unwrap_or_else(usual)))?;
                let board = Board::of(board, true)?;
                let left =
                    board.run(&self.host, &job, destination, &crate::runs::origin(), &mut bar)?;
                Ok((left.dir, left.state))
            }
            MachineSpec::Record(dir) => Err(Failure::new(
                Exit::Usage,
                format!("--machine: expected a machine, found record:{}", dir.display()),
            )
            .hint(format!("read it with: flyball report {}", dir.display()))),
        }
    }

    /// On a model: every phase of every variant and gap.
    fn model(
        &self,
        target: &MachineSpec,
        (name, kernel): (&str, Option<&str>),
        destination: &Destination,
    ) -> Result<(PathBuf, RunState), Failure> {
        let (platform, kernel) = super::model::model(name, kernel)?;
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
        let mut bar = Bar::new(self.talk.quiet);
        let virtual_time = cases
            .iter()
            .map(|case| case.scenario.duration.0 * u64::from(case.scenario.phases))
            .sum();
        bar.planned_in_virtual_time(phases, "phases", Nanos(virtual_time));
        let (host, name) = (self.host.as_ref(), target.to_string());
        let left = model::run(&cases, (&name, machine), host, destination, &mut bar)?;
        Ok((left.dir, left.state))
    }

    /// On this machine, or in the guest of a board, with the kernel's events.
    fn job(&self, events: Option<Vec<String>>) -> Result<Job, Failure> {
        let plan = asked::plan(self.args, &self.asked, self.spin)?;
        Ok(Job { events, protocol: Protocol::Rampup(plan) })
    }

    /// The groups of events that are asked for; none where none are.
    fn events(&self) -> Option<Vec<String>> {
        let named = |text: &String| {
            let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        };
        self.args.trace.as_ref().map(named)
    }
}
