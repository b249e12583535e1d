//! Child processes: what to start, and what became of it.

use crate::ThreadUsage;
use flyball_units::Nanos;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

pub use crate::sys::process::Child;

/// What becomes of a child's standard output or error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Thrown away.
    #[default]
    Discard,
    /// Kept, and handed over in [`Exit`].
    Capture,
    /// Shown on ours.
    Inherit,
}

/// What a child reads from its standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing.
    #[default]
    Empty,
    /// Ours.
    Inherit,
}

/// A program to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessSpec {
    /// Name, looked up in PATH, or path.
    pub program: OsString,
    /// Arguments.
    pub arguments: Vec<OsString>,
    /// Variables added to the environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Folder to run in; ours where none is given.
    pub folder: Option<PathBuf>,
    /// Standard input. A child is in a process group of its own, which a terminal would stop when it
    /// reads there: to be inherited only where ours is no terminal.
    pub stdin: Input,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
}

impl ProcessSpec {
    /// `program` with `arguments`, its output thrown away.
    pub fn new<A: Into<OsString>>(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = A>,
    ) -> ProcessSpec {
        ProcessSpec {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            ..ProcessSpec::default()
        }
    }

    /// The same, with both outputs captured.
    pub fn captured(mut self) -> ProcessSpec {
        (self.stdout, self.stderr) = (Output::Capture, Output::Capture);
        self
    }
}

/// How a process is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal has gone.
    HangUp,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Status {
    /// As shells say it: its own code, or 128 and the signal.
    #[must_use]
    pub fn shell_code(self) -> u8 {
        let code = match self {
            Status::Code(code) => code,
            Status::Signal(signal) => 128 + signal,
        };
        u8::try_from(code).unwrap_or(u8::MAX)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Code(code) => write!(f, "{code}"),
            Status::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// A process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// How it ended.
    pub status: Status,
    /// What the kernel counted for it and for the children it waited for (wait4).
    pub usage: ThreadUsage,
    /// Time that it was ready to run and waited for a CPU, and that whoever waits for its end did. None
    /// where that is not known of all of it: several threads or children, or a kernel that does not
    /// count it.
    pub waited: Option<Nanos>,
    /// From before its start until its end was seen, on CLOCK_MONOTONIC.
    pub elapsed: Nanos,
    /// Captured standard output, at most [`Exit::OUTPUT_LIMIT`] bytes; without what processes that
    /// it left behind write later.
    pub stdout: Vec<u8>,
    /// Captured standard error, at most [`Exit::OUTPUT_LIMIT`] bytes.
    pub stderr: Vec<u8>,
}

impl Exit {
    /// Bytes kept of each output; the rest is read and thrown away, so that the child never waits.
    pub const OUTPUT_LIMIT: usize = 16 << 20;

    /// Whether it ended by itself with code 0.
    pub fn is_success(&self) -> bool {
        self.status == Status::Code(0)
    }
}
