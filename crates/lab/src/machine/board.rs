//! A virtual board behind the trait: the same bench, run by the `flyball` in the guest, its run
//! directory written into this machine's through a shared folder.
//!
//! ```text
//! Board::prepare   the plan, from the platform; emulator, kernel and root are looked for
//! BoardRun::run    boot; flyball bench in the guest -> run directory; then what only the outside
//!                  knows: whether the CPUs kept their pace, and the P-state writes
//! Board::run       the same for another protocol
//! ```

use crate::experiment::Experiment;
use crate::job::{Job, Protocol};
use crate::machine::cores;
use crate::machine::error::MachineError;
use crate::machine::in_guest;
use crate::machine::{Machine, Order, Prepared};
use crate::plan::{Plan, plan};
use crate::protocol::windows::Context;
use crate::session::{BLAME, Destination, Origin, Outcome, Progress, SideRecorder};
use flyball_board::cache::Cache;
use flyball_board::plugin::USUAL_STEP;
use flyball_board::{Arch, BoardError, Ready, Request, arch_for, request, usual_ipc};
use flyball_host::Host;
use flyball_platform::Platform;
use flyball_units::{BoardSpec, Nanos};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the guest puts the job, and what it runs. The argument is the job.
const SCRIPT: &str = r#"printf %s "$1" >/run/board/job.toml && exec flyball job /run/board/job.toml --out /run/share"#;

/// Signal kernels are floating point, of which an emulator executes less per second than of the rest.
/// So the CPUs are slower by this than usual, and their steps as long in time. No slower than they have
/// to be: the slower a CPU, the larger the share of its time that the kernel's tick takes.
const SLOWER: f64 = 1.5;

/// A real kernel on an emulated machine.
#[derive(Clone, Debug)]
pub struct Board {
    name: String,
    platform: Platform,
    arch: Arch,
    kernel: Option<String>,
    append: Option<String>,
    modules: Option<PathBuf>,
    events: bool,
}

/// An experiment that is ready to run on a board.
#[derive(Debug)]
struct BoardRun {
    name: String,
    ready: Ready,
    experiment: Experiment,
    plan: Plan,
    job: Job,
    origin: Origin,
}

impl Board {
    /// The board that is meant, where `x86_64` and `aarch64` are platforms, too: the usual ones; with
    /// `events` the guest's scheduler is recorded beside the windows.
    ///
    /// # Errors
    /// A name that nothing has; the hint names the nearest.
    pub fn of(target: &BoardSpec, events: bool) -> Result<Board, MachineError> {
        let Request { platform, arch, .. } = Request::of(target)?;
        let platform = match platform {
            Some(platform) => platform,
            None => request::platform(&target.name)?,
        };
        Ok(Board {
            name: target.to_string(),
            arch: arch.unwrap_or_else(|| arch_for(&platform)),
            platform,
            kernel: target.kernel.clone(),
            append: target.append.clone(),
            modules: None,
            events,
        })
    }

    /// What the guest runs for a job.
    fn command(&self, job: &Job) -> Result<Vec<String>, BoardError> {
        let text =
            toml::to_string(job).map_err(|error| BoardError::failed("the job as TOML", error))?;
        Ok(["sh", "-c", SCRIPT, "sh", &text].map(str::to_owned).to_vec())
    }

    /// A boot for this command.
    fn request(&self, timeout: Nanos, command: Vec<String>) -> Request {
        Request {
            arch: Some(self.arch),
            platform: Some(self.platform.clone()),
            kernel: self.kernel.clone(),
            append: self.append.clone(),
            modules: self.modules.clone(),
            timeout,
            command,
            ..Request::default()
        }
    }

    /// The same board with these modules of its kernel.
    pub fn with_modules(mut self, modules: Option<PathBuf>) -> Board {
        self.modules = modules;
        self
    }
}

/// The groups of events that a ramp-up asks the guest's kernel for: what the answers need, and no more,
/// for its CPUs are slow.
const RAMPUP_EVENTS: [&str; 4] = ["sched", "frequency", "util", "capacity"];

impl Machine for Board {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn prepare(
        &self,
        host: &Arc<dyn Host>,
        mut experiment: Experiment,
        context: &Context<'_>,
    ) -> Result<Box<dyn Prepared>, MachineError> {
        let online = self.platform.cpus.iter().map(|cpu| cpu.id).collect();
        let plan = plan(&experiment, &cores::of(&self.platform), &online)?;
        if let Some(file) = &experiment.input.file {
            // The guest has this machine's files at their own places, or none of them.
            let path = context.folder.unwrap_or(Path::new(".")).join(file);
            if Arch::own() != Some(self.arch) {
                return Err(MachineError::from(
                    BoardError::missing(
                        path.display(),
                        format!(
                            "expected input that an {} guest has, found a file here",
                            self.arch
                        ),
                    )
                    .with_hint(
                        "use the synthetic input, or a board of this machine's architecture",
                    ),
                ));
            }
            let whole = fs_err::canonicalize(path).map_err(|error| {
                BoardError::input("input", error).with_hint("the file of [input] in the experiment")
            })?;
            experiment.input.file = Some(whole.display().to_string());
        }
        let events = self.events.then(|| BLAME.map(|group| group.to_string()).to_vec());
        let job = Job { events, protocol: Protocol::Windows(Box::new(experiment.clone())) };
        let timeout = job.patience(Some(plan.duration(&experiment)));
        let command = self.command(&job)?;
        let request = Request {
            ipc: Some(usual_ipc(&self.platform) / SLOWER),
            step: (USUAL_STEP as f64 / SLOWER) as u64,
            ..self.request(timeout, command)
        };
        let ready = request.ready_for_flyball(host.as_ref(), &Cache::of(host.as_ref())?)?;
        let (name, origin) = (self.name.clone(), context.origin.clone());
        Ok(Box::new(BoardRun { name, ready, experiment, plan, job, origin }))
    }

    fn run(
        &self,
        host: &Arc<dyn Host>,
        order: &Order,
        destination: &Destination,
        origin: &Origin,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, MachineError> {
        let mut job = order.job()?;
        if matches!(order, Order::Rampup(_)) && job.events.as_ref().is_none_or(Vec::is_empty) {
            job.events = Some(RAMPUP_EVENTS.map(str::to_owned).to_vec());
        }
        let request = self.request(job.patience(None), self.command(&job)?);
        let mut ready = request.ready_for_flyball(host.as_ref(), &Cache::of(host.as_ref())?)?;
        run(host, &self.name, &mut ready, (&job.protocol, origin), destination, progress)
    }
}

impl Prepared for BoardRun {
    fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn run(
        mut self: Box<Self>,
        host: &Arc<dyn Host>,
        destination: &Destination,
        progress: &mut dyn Progress,
        _: Option<&mut dyn SideRecorder>,
    ) -> Result<Outcome, MachineError> {
        let BoardRun { name, ready, job, origin, .. } = &mut *self;
        run(host, name, ready, (&job.protocol, origin), destination, progress)
    }
}

/// Boots, lets the guest do its job, and adds what only the outside knows.
fn run(
    host: &Arc<dyn Host>,
    name: &str,
    ready: &mut Ready,
    (protocol, origin): (&Protocol, &Origin),
    destination: &Destination,
    progress: &mut dyn Progress,
) -> Result<Outcome, MachineError> {
    let dir = destination.empty(host.as_ref(), protocol.kind())?;
    let booted = in_guest::run(host, name, ready, &dir, &mut |text| progress.note(text));
    progress.closing();
    in_guest::close(dir, &booted?, &origin.command, protocol)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::Diagnostic;

    #[test]
    fn names_and_their_slips() {
        let named = |name: &str, kernel: Option<&str>, arch: Option<&str>| {
            let own = |text: Option<&str>| text.map(str::to_owned);
            let (kernel, arch) = (own(kernel), own(arch));
            Board::of(&BoardSpec { name: name.to_owned(), kernel, arch, append: None }, false)
        };
        let board = named("aarch64", Some("debian:7"), None).unwrap();
        assert_eq!((board.arch, board.platform.name.as_str()), (Arch::Aarch64, "board-aarch64"));
        assert_eq!(board.name(), "board:aarch64,kernel=debian:7");
        let error = named("board-x68", None, None).unwrap_err();
        assert!(error.hint().unwrap_or_default().contains("board-x86"), "{error}");
        assert!(named("board-x86", None, Some("mips")).is_err());
    }
}
