//! A command of the `flyball` in a guest that leaves a run directory: boot, and what only the outside
//! knows of the run.

use crate::job::Protocol;
use crate::machine::error::MachineError;
use crate::session::Outcome;
use flyball_board::guest::{self, Ending};
use flyball_board::plugin::{Account, CpuAccount};
use flyball_board::{BoardError, Ready};
use flyball_host::Host;
use flyball_run::manifest::{BoardPaceRecord, CheckOutcome, CheckRecord};
use flyball_run::{Columns, Manifest, Run, RunState};
use flyball_units::Nanos;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Boots, and lets the guest write its run into `dir`.
///
/// # Errors
/// A board that does not boot; a guest that refuses, or leaves no run.
pub fn run(
    host: &Arc<dyn Host>,
    name: &str,
    ready: &mut Ready,
    dir: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<guest::Outcome, MachineError> {
    // The emulator runs in a folder of its own.
    let whole =
        fs_err::canonicalize(dir).map_err(|error| BoardError::input("run directory", error))?;
    ready.options.share = Some(whole);
    tell(&format!("booting {name}"));
    let Ready { options, qemu, plugin } = &*ready;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let booted = guest::run(host.as_ref(), qemu, plugin, options, &mut out, &mut err);
    let booted = booted.inspect_err(|_| remove_if_empty(dir))?;
    for note in &booted.notes {
        tell(note);
    }
    if let (Some(boot), Some(release)) = (booted.boot, &booted.release) {
        let seconds = boot.as_secs_f64();
        tell(&format!("Linux {release} was up after {seconds:.1} s"));
    }
    let told = String::from_utf8_lossy(&err);
    match booted.ending {
        // What a measurement that ran can end with; how it ended is in the run directory.
        Ending::Status(0 | 5 | 130 | 143) | Ending::Interrupted | Ending::TimedOut => {}
        Ending::Status(code) => {
            remove_if_empty(dir);
            return Err(MachineError::guest(name, code, &told));
        }
    }
    if !dir.join(flyball_run::manifest::FILE).is_file() {
        remove_if_empty(dir);
        let what = format!("expected a run from the guest, found none\n{}", told.trim_end());
        return Err(match booted.ending {
            Ending::Interrupted => BoardError::interrupted(name),
            _ => BoardError::failed(name, what),
        }
        .into());
    }
    Ok(booted)
}

/// When something was measured, on the guest's clock, and on which CPUs.
struct Measured {
    begin: i64,
    end: i64,
    cpus: BTreeSet<u32>,
}

/// From the first release of a window that counts to the last one's end: what was lost in the boot and
/// the first warm-up, while the emulator translated new code, says nothing of them.
///
/// # Errors
/// A run that does not read.
fn windows(dir: &Path) -> Result<Option<Measured>, MachineError> {
    let columns = ["release_ns", "end_ns", "cpu_before", "warmup"].map(|name| ("windows", name));
    let windows = Run::open_with(dir, Columns::Only(&columns))?.tables.windows;
    let counted = windows.release_ns.iter().zip(&windows.warmup).filter(|(_, warmup)| !**warmup);
    let begin = counted.map(|(at, _)| *at).min();
    let cpus = windows.cpu_before.iter().flatten().collect();
    Ok(measured(begin, windows.end_ns.iter().max().copied(), cpus))
}

/// From the first spin to the last one's end.
///
/// # Errors
/// A run that does not read.
fn rampups(dir: &Path) -> Result<Option<Measured>, MachineError> {
    let columns = [("rampups", "begin_ns"), ("rampups", "end_ns"), ("rampup_samples", "cpu")];
    let tables = Run::open_with(dir, Columns::Only(&columns))?.tables;
    let begin = tables.rampups.begin_ns.iter().min().copied();
    let cpus = tables.rampup_samples.cpu.iter().flatten().collect();
    Ok(measured(begin, tables.rampups.end_ns.iter().max().copied(), cpus))
}

/// From the first write to the last one.
///
/// # Errors
/// A run that does not read.
fn switches(dir: &Path) -> Result<Option<Measured>, MachineError> {
    let columns = [("trials", "t_ns"), ("trials", "cpu")];
    let trials = Run::open_with(dir, Columns::Only(&columns))?.tables.trials;
    let times = || trials.t_ns.iter().flatten();
    Ok(measured(times().min(), times().max(), trials.cpu.iter().flatten().collect()))
}

fn measured(begin: Option<u64>, end: Option<u64>, cpus: BTreeSet<u32>) -> Option<Measured> {
    let (begin, end) = (i64::try_from(begin?).ok()?, i64::try_from(end?).ok()?);
    Some(Measured { begin, end, cpus })
}

/// Adds to the guest's run what only the outside knows.
///
/// # Errors
/// A run that does not read; a full disk.
pub fn close(
    dir: PathBuf,
    booted: &guest::Outcome,
    command: &[String],
    protocol: &Protocol,
) -> Result<Outcome, MachineError> {
    booted.save(&dir)?;
    let measured = match protocol {
        Protocol::Windows(_) => windows(&dir),
        Protocol::Rampup(_) => rampups(&dir),
        Protocol::Switches(_) => switches(&dir),
    };
    let (account, measured) = while_measuring(measured?, booted);
    let pace = pace_check(&account, &measured, booted.ending);
    let mut invalid = Vec::new();
    let mut state = RunState::Invalid;
    flyball_run::amend(&dir, &mut |manifest: &mut Manifest| {
        manifest.command = command.to_vec();
        if let Some(board) = manifest.machine.as_mut().and_then(|machine| machine.board.as_mut()) {
            board.pace = pace_records(&account);
        }
        manifest.state = match (manifest.state, booted.ending) {
            (RunState::Running, Ending::Interrupted) => RunState::Interrupted,
            (RunState::Running, _) => RunState::Invalid,
            (state, _) if pace.outcome == CheckOutcome::Passed => state,
            _ => RunState::Invalid,
        };
        manifest.checks.push(pace.clone());
        state = manifest.state;
        let failed = |check: &&CheckRecord| check.outcome == CheckOutcome::Failed;
        invalid = manifest.checks.iter().filter(failed).cloned().collect();
    })?;
    if state != RunState::Invalid {
        invalid.clear();
    }
    Ok(Outcome { dir, state, invalid })
}

/// What was counted meanwhile, and the CPUs.
fn while_measuring(
    measured: Option<Measured>,
    booted: &guest::Outcome,
) -> (Account, BTreeSet<u32>) {
    let Some(Measured { begin, end, cpus }) = measured else {
        return (booted.account.clone(), BTreeSet::new());
    };
    let before = booted.accounts.iter().rev().find(|(at, _)| *at <= begin);
    let after = booted.accounts.iter().find(|(at, _)| *at >= end);
    let during = match (before, after) {
        (Some((_, before)), Some((_, after))) => after.since(before),
        // The guest was gone before the next look.
        (Some((_, before)), None) => booted.account.since(before),
        _ => booted.account.clone(),
    };
    (during, cpus)
}

/// A directory that the guest never wrote to must not look like a run.
fn remove_if_empty(dir: &Path) {
    // Not empty is what it should be; anything else the user sees in the listing.
    let _ = fs_err::remove_dir(dir);
}

fn pace_records(account: &Account) -> Vec<BoardPaceRecord> {
    let record = |(cpu, of): (usize, &CpuAccount)| BoardPaceRecord {
        cpu: u32::try_from(cpu).unwrap_or(u32::MAX),
        busy_s: of.took().as_secs_f64(),
        lost_s: of.late.as_secs_f64(),
        waking_s: of.waking.as_secs_f64(),
    };
    account.cpus.iter().enumerate().map(record).collect()
}

/// The check that says whether this computer was fast enough for a board.
pub const BOARD_PACE: &str = "board pace";

/// Share of its work's time that a measured CPU may lose: what was measured is longer by at most as much.
const MEASURED_LOSS: f64 = 0.03;

/// Share that any CPU may lose: a load is smaller by as much.
const MOST_LOSS: f64 = 0.05;

/// Less than this is always lost, while the emulator translates new code.
const TRANSLATION: Nanos = Nanos::from_millis(300);

/// Whether this machine was fast enough to be that one. `measured` are the CPUs that ran windows.
fn pace_check(account: &Account, measured: &BTreeSet<u32>, ending: Ending) -> CheckRecord {
    let cpus = || account.cpus.iter().zip(0_u32..);
    let too_late = |(of, cpu): (&CpuAccount, u32)| {
        let (share, much) = (of.late_share(), of.late > TRANSLATION);
        match measured.contains(&cpu) {
            true => share > MOST_LOSS || (share > MEASURED_LOSS && much),
            false => share > MOST_LOSS && much,
        }
    };
    let worst = cpus().max_by_key(|(of, cpu)| (too_late((of, *cpu)), of.late));
    let behind = cpus().any(too_late);
    let (passed, found, hint) = match (ending, worst) {
        (Ending::TimedOut, _) => {
            (false, "the guest did not end in time".to_owned(), "give the host less other work")
        }
        (_, None) => {
            (false, "no account of the emulator".to_owned(), "boot the board by itself and look")
        }
        (_, Some((of, cpu))) => (
            !behind,
            format!(
                "cpu{cpu} lost {:.2} s of {:.2} s ({:.1} %)",
                of.late.as_secs_f64(),
                of.took().as_secs_f64(),
                100.0 * of.late_share()
            ),
            "run it again while this machine has nothing else to do, or on a smaller platform",
        ),
    };
    CheckRecord {
        name: BOARD_PACE.to_owned(),
        outcome: if passed { CheckOutcome::Passed } else { CheckOutcome::Failed },
        object: "speed of the board's CPUs".to_owned(),
        expected: "at most 3 % or 0.3 s lost by CPUs that were measured, 5 % by every one"
            .to_owned(),
        found,
        hint: (!passed).then(|| hint.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(late_ms: u64) -> Account {
        let cpu = |late_ms| CpuAccount {
            paced: Nanos::from_secs(10),
            late: Nanos::from_millis(late_ms),
            ..CpuAccount::default()
        };
        Account { cpus: vec![cpu(10), cpu(late_ms)], ..Account::default() }
    }

    #[test]
    fn a_board_that_fell_behind_makes_the_run_invalid() {
        let measured = BTreeSet::from([0]);
        let pace_check = |account: &Account, ending| pace_check(account, &measured, ending);
        let kept = pace_check(&account(200), Ending::Status(0));
        assert_eq!(kept.outcome, CheckOutcome::Passed);
        let lost = pace_check(&account(900), Ending::Status(0));
        assert_eq!(lost.outcome, CheckOutcome::Failed);
        assert_eq!(lost.found, "cpu1 lost 0.90 s of 10.90 s (8.3 %)");
        assert_eq!(
            pace_check(&Account::default(), Ending::Status(0)).outcome,
            CheckOutcome::Failed
        );
        assert_eq!(pace_check(&account(0), Ending::TimedOut).outcome, CheckOutcome::Failed);
    }

    #[test]
    fn a_measured_cpu_may_lose_less() {
        let cpu = |paced_ms, late_ms| CpuAccount {
            paced: Nanos::from_millis(paced_ms),
            late: Nanos::from_millis(late_ms),
            ..CpuAccount::default()
        };
        // 8 % of little time: no matter to windows elsewhere, too much for its own.
        let account = Account { cpus: vec![cpu(5000, 100), cpu(2300, 200)], ..Account::default() };
        let outcome =
            |measured| pace_check(&account, &BTreeSet::from([measured]), Ending::Status(0)).outcome;
        assert_eq!(outcome(0), CheckOutcome::Passed);
        assert_eq!(outcome(1), CheckOutcome::Failed);
    }
}
