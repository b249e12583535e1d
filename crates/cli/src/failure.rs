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

/// What a library advises, and the command that does it, a line each.
const COMMANDS: &str = include_str!("../help/advice.txt");

/// The command of an advice.
pub fn command(advice: &str) -> Option<&'static str> {
    let mut rows = COMMANDS.lines().filter_map(|line| line.split_once(" => "));
    rows.find(|(known, _)| advice.ends_with(known)).map(|(_, command)| command)
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
