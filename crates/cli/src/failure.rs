//! What every command returns when it cannot go on: a message, a hint, an exit code.

use crate::exit::Exit;
use flyball_board::BoardError;
use flyball_lab::MachineError;
use flyball_lab::program::ProgramError;
use flyball_lab::protocol::rampup::AskError;
use flyball_units::{Diagnostic, Mismatch};
use std::fmt;

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
    ("hold a higher lowest frequency", "sudo flyball hold --min FREQUENCY -- CMD"),
    (
        "set the governor for as long as the program runs",
        "sudo flyball hold --governor schedutil -- CMD",
    ),
    ("prefer performance over energy on all CPUs", "sudo flyball hold --epp performance -- CMD"),
    ("remove the clamps, as root", "sudo flyball qos --recover"),
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
    ("give a directory", "--out DIR"),
    ("quote them, or ask for one", "--shell"),
    ("only models have it", "--machine model:NAME by itself"),
    ("latency_us=COLUMN", "--map"),
];
const TRACE_AS_ROOT: &str = "sudo flyball capture trace -- sudo -u \"$USER\" CMD";
const HOLD_AS_ROOT: &str = "sudo flyball hold ... -- sudo -u \"$USER\" CMD";

/// The command of an advice.
pub fn command(advice: &str) -> Option<&'static str> {
    let known = COMMANDS.iter().find(|(known, _)| advice.ends_with(known));
    known.map(|(_, command)| *command)
}

impl Failure {
    pub fn new(exit: Exit, message: impl fmt::Display) -> Failure {
        Failure { exit, message: message.to_string(), hint: None }
    }

    /// A command line that makes no sense.
    pub fn usage(message: impl fmt::Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// A file or a value that is wrong.
    pub fn input(message: impl fmt::Display) -> Failure {
        Failure::new(Exit::BadInput, message)
    }

    /// What a library could not do.
    pub fn of(error: &dyn Diagnostic) -> Failure {
        Failure::new(Exit::of(error.kind()), error).maybe_hint(error.hint())
    }

    /// As a failure of ours around a program, whose own codes it must not be taken for, nor for a
    /// verdict by `git bisect`.
    pub fn around_a_program(mut self) -> Failure {
        if !matches!(self.exit, Exit::Interrupted | Exit::RestoreFailed) {
            self.exit = Exit::Own;
        }
        self
    }

    /// The same where there is a program.
    pub fn around(self, program: &[String]) -> Failure {
        if program.is_empty() { self } else { self.around_a_program() }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// With what a library advises, and the command for it.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Failure {
        self.hint = hint.map(|hint| match command(&hint) {
            Some(command) => format!("{hint}: {command}"),
            None => hint,
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

/// Errors of libraries, each told as it is.
macro_rules! told_as_they_are {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::of(&error)
            }
        })*
    };
}

told_as_they_are! {
    std::io::Error,
    Mismatch,
    flyball_capture::load::RecordingError,
    flyball_capture::trace::CaptureError,
    flyball_control::ControlError,
    flyball_fix::FixError,
    flyball_govern::GovernError,
    flyball_host::HostError,
    flyball_lab::compare::CompareError,
    flyball_lab::experiment::ExperimentError,
    flyball_lab::protocol::switches::TransitionError,
    flyball_lab::session::EventRecorderError,
    flyball_load::LoadError,
    flyball_platform::DescriptionError,
    flyball_qos::QosError,
    flyball_replay::ReplayError,
    flyball_replay::SourceError,
    flyball_replay::shadow::ShadowError,
    flyball_report::draw::FigureError,
    flyball_report::lanes::LanesError,
    flyball_reproduce::CatalogueError,
    flyball_run::Error,
    flyball_sim::scenario::ScenarioError,
    flyball_sim::sweep::MergeError,
    flyball_sim::sweep::PlacesError,
    flyball_sim::sweep::RunError,
    flyball_sim::sweep::SweepError,
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Failure {
        match &error {
            ProgramError::Failed { what: "setup" | "preparation", .. } => {
                Failure::of(&error).hint("run it by hand first; pipes and variables need --shell")
            }
            _ => Failure::of(&error),
        }
    }
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Failure {
        match error {
            MachineError::Board(board) => board.into(),
            MachineError::Ask(AskError::Word(_)) => Failure::usage(format!("--variant: {error}")),
            error => Failure::of(&error),
        }
    }
}

impl From<BoardError> for Failure {
    fn from(error: BoardError) -> Failure {
        let setup = error.setup().map(|(arch, kernel)| {
            let kernel = kernel.map(|kernel| format!(" --kernel {kernel}")).unwrap_or_default();
            format!("flyball board setup --arch {arch}{kernel}")
        });
        let hints: Vec<String> = setup.into_iter().chain(error.hint()).collect();
        let hint = (!hints.is_empty()).then(|| hints.join("; or "));
        Failure::of(&error).maybe_hint(hint)
    }
}
