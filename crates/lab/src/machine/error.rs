//! Why an experiment could not be run on a machine.

use crate::experiment::ExperimentError;
use crate::protocol::rampup::{AskError, RampupError};
use crate::protocol::score::PlayError;
use crate::protocol::switches::TransitionError;
use crate::protocol::windows::BenchError;
use crate::session::EventRecorderError;
use flyball_host::HostError;
use flyball_load::LoadError;
use flyball_platform::DescriptionError;
use flyball_sim::engine::SetupError;
use flyball_units::{Diagnostic, ErrorKind, Mismatch};

/// An error of a machine.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// A machine that there is not, or a text that names none.
    #[error(transparent)]
    Machine(Mismatch),
    /// A file that does not read.
    #[error(transparent)]
    File(std::io::Error),
    /// A description in a file that is wrong.
    #[error(transparent)]
    Described(DescriptionError),
    /// A description of a platform or a kernel that is not one of those that ship.
    #[error("{machine}: {}", .source.message)]
    Description {
        /// The machine as it was asked for.
        machine: String,
        /// What is wrong.
        source: DescriptionError,
    },
    /// No governor of that name.
    #[error("condition \"{condition}\": {source}")]
    Governor {
        /// The condition.
        condition: String,
        /// What is wrong.
        source: flyball_governors::UnknownGovernor,
    },
    /// Limits that hold no operating point.
    #[error("condition \"{condition}\": {message}")]
    Frequency {
        /// The condition.
        condition: String,
        /// What is wrong.
        message: String,
    },
    /// A tunable that the governor does not have, or a value outside its range.
    #[error("condition \"{condition}\": {source}")]
    Tunable {
        /// The condition.
        condition: String,
        /// What is wrong.
        source: flyball_governors::TunableError,
    },
    /// A setting that the model cannot apply, in an experiment that does not allow to degrade.
    #[error("condition \"{condition}\": cannot apply {setting}: {reason}")]
    NotApplied {
        /// The condition.
        condition: String,
        /// The setting.
        setting: String,
        /// Why not.
        reason: String,
    },
    /// A workload whose cost nobody has measured.
    #[error("workload \"{workload}\": {message}")]
    Cost {
        /// The workload.
        workload: String,
        /// What is missing.
        message: String,
    },
    /// A program, on a machine that runs none.
    #[error("workload \"{workload}\": a model runs signal kernels, expected one, found a program")]
    Program {
        /// The workload.
        workload: String,
    },
    /// A run that gives no costs.
    #[error("{run}: {message}")]
    Costs {
        /// The run.
        run: String,
        /// What is missing.
        message: String,
    },
    /// The load does not fit the machine.
    #[error("condition \"{condition}\": {source}")]
    Load {
        /// The condition.
        condition: String,
        /// What is wrong.
        source: Box<LoadError>,
    },
    /// A setup that the simulation refuses.
    #[error("condition \"{condition}\": {source}")]
    Setup {
        /// The condition.
        condition: String,
        /// What is wrong.
        source: SetupError,
    },
    /// The experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A bench on this computer.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// A virtual board that cannot be had, or failed.
    #[error(transparent)]
    Board(#[from] flyball_board::BoardError),
    /// The bench in a guest refused.
    #[error("{machine}: {message}")]
    Guest {
        /// The machine.
        machine: String,
        /// The guest's exit code.
        code: u8,
        /// Its error.
        message: String,
        /// Its hint.
        hint: Option<String>,
    },
    /// What is asked of ramp-ups.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// A ramp-up.
    #[error(transparent)]
    Rampup(#[from] RampupError),
    /// A measurement of switches.
    #[error(transparent)]
    Switches(#[from] TransitionError),
    /// A scenario on this computer.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// This computer.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The recording of events.
    #[error(transparent)]
    EventRecorder(#[from] EventRecorderError),
    /// Groups of events that nobody knows.
    #[error("groups of events: expected {expected}")]
    Events {
        /// What would have been right, and what was found.
        expected: String,
    },
    /// The run directory.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
}

impl MachineError {
    /// From what the guest's program said when it ended with `code`: lines `error: ` and `hint: `.
    pub(crate) fn guest(machine: &str, code: u8, told: &str) -> MachineError {
        let after = |prefix: &str| {
            told.lines()
                .find_map(|line| line.strip_prefix(prefix))
                .map(|text| text.trim().to_owned())
        };
        let message = after("error: ")
            .unwrap_or_else(|| format!("the guest's bench ended with {code}\n{}", told.trim_end()));
        MachineError::Guest { machine: machine.to_owned(), code, message, hint: after("hint: ") }
    }
}

impl Diagnostic for MachineError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        Some(match self {
            MachineError::Load { source, .. } => source.as_ref(),
            MachineError::Setup { source, .. } => source,
            MachineError::Experiment(error) => error,
            MachineError::Bench(error) => error,
            MachineError::Board(error) => error,
            MachineError::Ask(error) => error,
            MachineError::Rampup(error) => error,
            MachineError::Switches(error) => error,
            MachineError::Play(error) => error,
            MachineError::Host(error) => error,
            MachineError::EventRecorder(error) => error,
            MachineError::Run(error) => error,
            MachineError::File(error) => error,
            MachineError::Described(error) => error,
            _ => return None,
        })
    }

    fn kind(&self) -> ErrorKind {
        match self {
            MachineError::Machine(_)
            | MachineError::Events { .. }
            | MachineError::Description { .. } => ErrorKind::Usage,
            MachineError::NotApplied { .. }
            | MachineError::Cost { .. }
            | MachineError::Program { .. } => ErrorKind::Unsupported,
            MachineError::Guest { code, .. } => ErrorKind::Program(*code),
            _ => self.inner().map_or(ErrorKind::BadInput, Diagnostic::kind),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            MachineError::Machine(error) => error.hint.clone(),
            MachineError::Description { source, .. } => source.hint(),
            MachineError::Governor { source, .. } => source.hint(),
            MachineError::NotApplied { .. } => {
                Some("set degrade = true to run without it; every figure then says so".to_owned())
            }
            MachineError::Cost { .. } => {
                Some("measure it on a real machine, and hand the costs of that run over".to_owned())
            }
            MachineError::Program { .. } => {
                Some("record its load, and replay that under other governors".to_owned())
            }
            MachineError::Guest { hint, .. } => hint.clone(),
            _ => self.inner().and_then(Diagnostic::hint),
        }
    }
}
