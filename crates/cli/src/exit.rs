//! The one table of exit codes.

use flyball_host::Wake;
use flyball_units::ErrorKind;
use std::process::ExitCode;

/// Why the program ended as it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Ok,
    /// Done, and something was found: a finding, or a `--fail-if` that holds.
    Finding,
    /// A `--fail-if` that these data do not decide; a machine that does not become quiet.
    Undecided,
    /// The command line is wrong.
    Usage,
    /// A file or a value is wrong.
    BadInput,
    /// Not supported here, or not permitted.
    Unsupported,
    /// The measurement is not valid.
    InvalidRun,
    /// A setting could not be restored.
    RestoreFailed,
    /// Flyball itself failed.
    Own,
    /// Interrupted; what was measured is kept.
    Interrupted,
    /// The same, asked by SIGTERM.
    Terminated,
    /// The code of a program that was run, or its like: 124 where a time limit passed.
    Program(u8),
}

/// Code, name and meaning, in the order of the codes. Printed by `flyball help exit-codes`.
pub const TABLE: &[(Exit, u8, &str)] = &[
    (Exit::Ok, 0, "ok"),
    (Exit::Finding, 1, "a finding, or a --fail-if that holds"),
    (Exit::Usage, 2, "the command line is wrong"),
    (Exit::BadInput, 3, "a file or a value is wrong"),
    (Exit::Unsupported, 4, "not supported on this machine, or not permitted"),
    (Exit::InvalidRun, 5, "the run is not valid: its figures must not be used"),
    (Exit::RestoreFailed, 6, "a setting of the machine could not be restored"),
    (Exit::Undecided, 7, "not decided: a --fail-if by these data, or what needs a quiet machine"),
    (Exit::Own, 125, "Flyball itself failed (a command that it runs keeps its own code)"),
    (Exit::Interrupted, 130, "interrupted; what was measured until then is kept"),
    (Exit::Terminated, 143, "the same, asked to end by SIGTERM"),
];

impl Exit {
    /// The code for an error of a library.
    pub fn of(kind: ErrorKind) -> Exit {
        match kind {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::BadInput | ErrorKind::NotFound | ErrorKind::Storage => Exit::BadInput,
            ErrorKind::Permission | ErrorKind::Unsupported => Exit::Unsupported,
            ErrorKind::NotApplied | ErrorKind::System | ErrorKind::Invalid => Exit::InvalidRun,
            ErrorKind::Undecided => Exit::Undecided,
            ErrorKind::Restore => Exit::RestoreFailed,
            ErrorKind::Interrupted => Exit::Interrupted,
            ErrorKind::Own => Exit::Own,
            ErrorKind::Program(code) => Exit::Program(code),
        }
    }

    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        if let Exit::Program(code) = self {
            return code;
        }
        TABLE.iter().find(|(exit, ..)| *exit == self).map_or(125, |(_, code, _)| *code)
    }
}

/// How a wait ended that the user may cut short.
impl From<Wake> for Exit {
    fn from(wake: Wake) -> Exit {
        if wake == Wake::Interrupted { Exit::Interrupted } else { Exit::Ok }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The table as text.
pub fn table() -> String {
    let rows = TABLE.iter().map(|(_, code, meaning)| format!("{code:>5}  {meaning}\n"));
    format!("Exit codes\n{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_has_its_own_code() {
        let mut codes: Vec<u8> = TABLE.iter().map(|(_, code, _)| *code).collect();
        codes.dedup();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 125, 130, 143]);
        assert!(TABLE.iter().all(|(exit, code, _)| exit.code() == *code));
    }
}
