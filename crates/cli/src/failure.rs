//! What every command returns when it cannot go on: a message, a hint, an exit code.

use crate::exit::Exit;
use flyball_capture::trace::{CaptureError, CaptureErrorKind};
use flyball_control::{ControlError, ControlErrorKind};
use flyball_fix::FixError;
use flyball_govern::{GovernError, GovernErrorKind};
use flyball_lab::ab::AbError;
use flyball_lab::experiment::ExperimentError;
use flyball_lab::protocol::rampup::RampupError;
use flyball_lab::protocol::switches::TransitionError;
use flyball_lab::protocol::windows::BenchError;
use flyball_lab::protocol::windows::trial::TrialError;
use flyball_lab::session::EventRecorderError;
use flyball_lab::{self as machine, MachineError};
use flyball_load::LoadError;
use flyball_platform::DescriptionError;
use flyball_probe::ProbeError;
use flyball_sim::scenario::ScenarioError;
use flyball_sim::sweep::{RunError, SweepError};
use flyball_units::Mismatch;
use std::fmt;
use std::io::ErrorKind;

/// A failure as the user reads it.
#[derive(Debug)]
pub struct Failure {
    /// Decides the exit code.
    pub exit: Exit,
    /// What failed on what, expected and found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What a library advises, and the command that does it: libraries know neither commands nor flags.
const COMMANDS: &[(&str, &str)] = &[
    ("boot a kernel of your own", "flyball board run --kernel FILE --modules DIR"),
    ("recover what is left in tracefs, as root", "sudo flyball capture --recover"),
    ("trace as root; the program can be given the user's rights back", TRACE_AS_ROOT),
    ("hold as root; the program can give root up again", HOLD_AS_ROOT),
    ("recover the settings, as root", "sudo flyball hold --recover"),
    ("so that they stay fast while you measure", "flyball hold --load medium"),
    ("min and max stand for the ends of the hardware's range", "flyball check"),
    ("find what disturbs the machine, then try again", "flyball check"),
    ("report it with a snapshot of the machine", "flyball check --snapshot DIR"),
    ("look at its tunables and their ranges", "flyball govern POLICY --dry-run"),
    ("follow such a rule in a trace of this machine", "flyball replay shadow"),
    ("a simulation has the events", "flyball sim"),
    ("run it on the model", "flyball sim"),
    ("hand the costs of that run over", "flyball bench, then --costs RUN"),
    ("begin with a commented one", "flyball sim --init mine.toml"),
    ("latency_us=COLUMN", "--map"),
];
const TRACE_AS_ROOT: &str = "sudo flyball capture trace -- sudo -u \"$USER\" CMD";
const HOLD_AS_ROOT: &str = "sudo flyball hold ... -- sudo -u \"$USER\" CMD";

impl Failure {
    pub fn new(exit: Exit, message: impl fmt::Display) -> Failure {
        Failure { exit, message: message.to_string(), hint: None }
    }

    /// As a failure of ours around a program, whose own codes it must not be taken for, nor for a
    /// verdict by `git bisect`.
    pub fn around_a_program(mut self) -> Failure {
        if !matches!(self.exit, Exit::Interrupted | Exit::RestoreFailed) {
            self.exit = Exit::Own;
        }
        self
    }

    /// A file of the user's that cannot be read or written.
    pub fn io(error: &std::io::Error) -> Failure {
        let (exit, hint) = match error.kind() {
            ErrorKind::PermissionDenied => {
                (Exit::Unsupported, Some("check owner and mode, or name another place"))
            }
            ErrorKind::NotFound => (Exit::BadInput, Some("check the path: is its folder there?")),
            ErrorKind::IsADirectory => (Exit::BadInput, Some("name a file, not a folder")),
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                (Exit::BadInput, Some("a file stands where a folder is needed: name another place"))
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                (Exit::BadInput, Some("free some space, or name another file system"))
            }
            ErrorKind::ReadOnlyFilesystem => {
                (Exit::Unsupported, Some("the file system is read-only: name another place"))
            }
            _ => (Exit::BadInput, None),
        };
        Failure::new(exit, error).maybe_hint(hint.map(str::to_owned))
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// With what a library advises, and the command for it.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Failure {
        self.hint = hint.map(|hint| {
            let command = COMMANDS.iter().find(|(advice, _)| hint.ends_with(advice));
            command.map_or(hint.clone(), |(_, command)| format!("{hint}: {command}"))
        });
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {}", hint.replace('\n', "\n      "))?;
        }
        Ok(())
    }
}

/// A quantity on the command line that can't be read; its place is the flag.
impl From<Mismatch> for Failure {
    fn from(slip: Mismatch) -> Failure {
        Failure::new(Exit::Usage, &slip).maybe_hint(slip.hint)
    }
}

impl From<flyball_host::HostError> for Failure {
    fn from(error: flyball_host::HostError) -> Failure {
        Failure::new(host_exit(error.kind()), &error).maybe_hint(error.hint())
    }
}

impl From<flyball_run::Error> for Failure {
    fn from(error: flyball_run::Error) -> Failure {
        let hint = Some(error.hint()).filter(|hint| !hint.is_empty()).map(str::to_owned);
        Failure::new(run_exit(error.kind()), &error).maybe_hint(hint)
    }
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Failure {
        Failure::new(Exit::BadInput, &error).maybe_hint(error.hint)
    }
}

impl From<AbError> for Failure {
    fn from(error: AbError) -> Failure {
        match error {
            AbError::Host(inner) => inner.into(),
            AbError::Experiment(inner) => inner.into(),
            AbError::Interrupted => Failure::new(Exit::Interrupted, &error),
            AbError::Failed { what, .. } => Failure::new(Exit::BadInput, &error).hint(match what {
                "run" => {
                    "a program that fails is often faster than one that works; run it by hand first"
                }
                _ => "run it by hand first; pipes and variables need --shell",
            }),
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        Failure::new(load_exit(&error), &error).maybe_hint(error.hint())
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Failure {
        let exit = match &error {
            BenchError::Experiment(inner) => return inner.clone().into(),
            BenchError::Workload(_) => Exit::BadInput,
            BenchError::Host(inner) => host_exit(inner.kind()),
            BenchError::Trial(
                TrialError::Host { source, .. } | TrialError::Probe(ProbeError::Host(source)),
            ) => host_exit(source.kind()),
            BenchError::Trial(TrialError::Run(inner)) => run_exit(inner.kind()),
            BenchError::Trial(TrialError::Plan { .. }) => Exit::BadInput,
            BenchError::Trial(_) => Exit::InvalidRun,
            BenchError::Load { source, .. } => load_exit(source),
            BenchError::Settings { source, .. } => control_exit(source),
            BenchError::Run(inner) => run_exit(inner.kind()),
            BenchError::NotApplied { .. } => Exit::Unsupported,
            BenchError::NotQuiet { .. } => Exit::Undecided,
        };
        Failure::new(exit, &error).maybe_hint(error.hint())
    }
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Failure {
        let exit = match (&error, error.kind()) {
            (MachineError::Run(inner), _) => run_exit(inner.kind()),
            (MachineError::Load { source, .. }, _) => load_exit(source),
            (_, machine::ErrorKind::Usage) => Exit::Usage,
            (_, machine::ErrorKind::BadInput) => Exit::BadInput,
            (_, machine::ErrorKind::Unsupported) => Exit::Unsupported,
        };
        match error {
            MachineError::Bench(inner) => inner.into(),
            MachineError::Rampup(inner) => inner.into(),
            MachineError::Ask(inner) => inner.into(),
            MachineError::Switches(inner) => inner.into(),
            MachineError::Play(inner) => inner.into(),
            MachineError::Host(inner) => inner.into(),
            MachineError::EventRecorder(inner) => inner.into(),
            MachineError::Experiment(inner) => inner.into(),
            MachineError::Board(inner) => inner.into(),
            MachineError::Guest { code, .. } => {
                Failure::new(Exit::Program(code), &error).maybe_hint(error.hint())
            }
            error => Failure::new(exit, &error).maybe_hint(error.hint()),
        }
    }
}

impl From<EventRecorderError> for Failure {
    fn from(error: EventRecorderError) -> Failure {
        match error {
            EventRecorderError::Capture(inner) => inner.into(),
            EventRecorderError::Folder(inner) => Failure::io(&inner),
            EventRecorderError::Left(_) => Failure::new(Exit::RestoreFailed, &error)
                .hint("try again with: sudo flyball capture --recover"),
        }
    }
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Failure {
        let exit = match error.kind() {
            CaptureErrorKind::Permission | CaptureErrorKind::Unsupported => Exit::Unsupported,
            CaptureErrorKind::BadInput => Exit::BadInput,
            CaptureErrorKind::System => Exit::InvalidRun,
            CaptureErrorKind::Restore => Exit::RestoreFailed,
        };
        Failure::new(exit, &error).maybe_hint(error.hint())
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Failure {
        Failure::new(control_exit(&error), &error).maybe_hint(error.hint())
    }
}

impl From<FixError> for Failure {
    fn from(error: FixError) -> Failure {
        let exit = match error {
            FixError::Bench(inner) => return inner.into(),
            FixError::Unsuited { .. } | FixError::Stats { .. } => Exit::BadInput,
            FixError::Host(ref inner) => host_exit(inner.kind()),
            FixError::Run(ref inner) => run_exit(inner.kind()),
            FixError::Invalid { .. } => Exit::InvalidRun,
            FixError::Interrupted => Exit::Interrupted,
        };
        Failure::new(exit, &error).maybe_hint(error.hint())
    }
}

fn control_exit(error: &ControlError) -> Exit {
    match error.kind() {
        ControlErrorKind::Permission | ControlErrorKind::Unsupported => Exit::Unsupported,
        ControlErrorKind::BadInput => Exit::BadInput,
        ControlErrorKind::Interrupted => Exit::Interrupted,
        ControlErrorKind::Own => Exit::Own,
        ControlErrorKind::Restore => Exit::RestoreFailed,
    }
}

impl From<TransitionError> for Failure {
    fn from(error: TransitionError) -> Failure {
        let exit = match &error {
            TransitionError::Host { source, .. } => host_exit(source.kind()),
            TransitionError::BadInput { .. } => Exit::BadInput,
            TransitionError::Unsupported { .. } => Exit::Unsupported,
            TransitionError::Interrupted => Exit::Interrupted,
            TransitionError::Control(_) | TransitionError::Run(_) => Exit::Own,
        };
        match error {
            TransitionError::Control(inner) => inner.into(),
            TransitionError::Run(inner) => inner.into(),
            error => Failure::new(exit, &error).maybe_hint(error.hint()),
        }
    }
}

impl From<RampupError> for Failure {
    fn from(error: RampupError) -> Failure {
        let hint = error.hint();
        let message = error.to_string();
        let exit = match error {
            RampupError::Control { source, .. } => control_exit(&source),
            RampupError::Host { source, .. } => host_exit(source.kind()),
            RampupError::Probe(ProbeError::Host(source))
            | RampupError::Trial(TrialError::Host { source, .. }) => host_exit(source.kind()),
            RampupError::Probe(_) | RampupError::Trial(_) => Exit::InvalidRun,
            RampupError::BadInput { .. } => Exit::BadInput,
            RampupError::Run(inner) => return inner.into(),
            RampupError::Model(inner) => return inner.into(),
        };
        Failure::new(exit, message).maybe_hint(hint)
    }
}

impl From<GovernError> for Failure {
    fn from(error: GovernError) -> Failure {
        let exit = match error.kind() {
            GovernErrorKind::Usage => Exit::Usage,
            GovernErrorKind::BadInput => Exit::BadInput,
            GovernErrorKind::Unsupported => Exit::Unsupported,
            GovernErrorKind::Restore => Exit::RestoreFailed,
            GovernErrorKind::Interrupted => Exit::Interrupted,
            GovernErrorKind::Own => Exit::Own,
        };
        Failure::new(exit, &error).maybe_hint(error.hint())
    }
}

impl From<DescriptionError> for Failure {
    fn from(error: DescriptionError) -> Failure {
        let hint = error.hint().map(str::to_owned);
        Failure::new(Exit::BadInput, error).maybe_hint(hint)
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Failure {
        Failure::new(Exit::BadInput, &error).maybe_hint(error.hint)
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Failure {
        match error {
            SweepError::Scenario(error) => error.into(),
            SweepError::Journal(error) => Failure::new(Exit::BadInput, &error).hint(error.hint()),
            error => Failure::new(Exit::BadInput, &error),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Run(error) => error.into(),
            RunError::Setup(error) => {
                let hint = error.hint().map(str::to_owned);
                Failure::new(Exit::BadInput, &error).maybe_hint(hint)
            }
        }
    }
}

fn host_exit(kind: flyball_host::ErrorKind) -> Exit {
    match kind {
        flyball_host::ErrorKind::Permission | flyball_host::ErrorKind::Unsupported => {
            Exit::Unsupported
        }
        flyball_host::ErrorKind::BadInput => Exit::BadInput,
        flyball_host::ErrorKind::NotApplied | flyball_host::ErrorKind::System => Exit::InvalidRun,
    }
}

fn run_exit(kind: flyball_run::ErrorKind) -> Exit {
    match kind {
        flyball_run::ErrorKind::Permission | flyball_run::ErrorKind::Unsupported => {
            Exit::Unsupported
        }
        flyball_run::ErrorKind::BadInput
        | flyball_run::ErrorKind::NotFound
        | flyball_run::ErrorKind::Storage => Exit::BadInput,
    }
}

fn load_exit(error: &LoadError) -> Exit {
    host_exit(error.kind())
}
