//! Names of run directories: `20261120T120400Z-bench` below a root.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a board's emulator saw of a run's writes to P-states, beside the run.
pub const P_STATES_LOG: &str = "p-states.log";

/// Where runs go unless told otherwise, below the working directory.
pub const DEFAULT_ROOT: &str = "flyball-runs";

/// Name of the thread that spins in a ramp-up; traces know it by it.
pub const RAMPUP_TASK: &str = "rampup";

/// Severity of a note on what was not measured.
pub const REFUSED: &str = "error";

/// Most bytes of a name: of a task, a workload, a condition. Each is written once per row of every table.
pub const NAME_BYTES: usize = 4096;

/// Refuses a longer name, and one with a line end, which would make two lines of one; says what was found.
///
/// # Errors
/// What was found of it.
pub fn check_name(name: &str) -> Result<(), String> {
    if name.contains(['\n', '\r']) {
        return Err(format!("a line end in {:?}", name.chars().take(40).collect::<String>()));
    }
    check_length(name)
}

/// As [`check_name`], of names from elsewhere, which may hold anything.
///
/// # Errors
/// What was found of it.
pub fn check_length(name: &str) -> Result<(), String> {
    match name.len() <= NAME_BYTES {
        true => Ok(()),
        false => {
            Err(format!("{} bytes: {:?}...", name.len(), name.chars().take(20).collect::<String>()))
        }
    }
}

/// The name of a run of `kind` that started `unix_s` seconds after 1970, UTC.
pub fn run_name(unix_s: u64, kind: &str) -> String {
    let compact: String =
        rfc3339(unix_s).chars().filter(|c| c.is_ascii_digit() || matches!(c, 'T' | 'Z')).collect();
    format!("{compact}-{kind}")
}

/// RFC 3339 in UTC, whole seconds, of `unix_s` seconds after 1970; times after the year 9999
/// are clamped to its end.
pub fn rfc3339(unix_s: u64) -> String {
    const YEAR_9999_S: u64 = 253_402_300_799;
    humantime::format_rfc3339_seconds(time(unix_s.min(YEAR_9999_S))).to_string()
}

fn time(unix_s: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(unix_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time() {
        assert_eq!(run_name(1_795_176_240, "bench"), "20261120T120400Z-bench");
        assert_eq!(rfc3339(u64::MAX), "9999-12-31T23:59:59Z");
    }
}
