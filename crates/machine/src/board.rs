//! A virtual board behind the trait: the same bench, run by the `flyball` in the guest, its run
//! directory written into this machine's through a shared folder.
//!
//! ```text
//! Board::prepare   the plan, from the platform; emulator, kernel and root are looked for
//! BoardRun::run    boot; flyball bench in the guest -> run directory; then what only the outside
//!                  knows: whether the CPUs kept their pace, and the P-state writes
//! ```

use crate::cores;
use crate::error::MachineError;
use crate::machine::{Machine, Prepared};
use crate::target::Target;
use flyball_board::cache::Cache;
use flyball_board::guest::{self, Ending};
use flyball_board::plugin::{Account, CpuAccount, USUAL_STEP};
use flyball_board::{Arch, BoardError, Ready, Request, arch_for, request, usual_ipc};
use flyball_host::Host;
use flyball_measure::bench::{Beside, Context, Destination, Outcome, Progress};
use flyball_measure::experiment::Experiment;
use flyball_measure::plan::{Plan, plan};
use flyball_platform::Platform;
use flyball_run::manifest::{BoardPaceRecord, CheckOutcome, CheckRecord};
use flyball_run::{Columns, Manifest, Run, RunState};
use flyball_units::Nanos;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the guest puts the experiment, and what it runs. The first argument is the experiment.
const SCRIPT: &str = r#"printf %s "$1" >/run/board/experiment.toml && shift && exec flyball bench \
/run/board/experiment.toml --out /run/share --no-report --quiet "$@""#;

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
    command: Vec<String>,
}

impl Board {
    /// The board of a platform (`x86_64` and `aarch64` mean the usual ones), under a kernel image or
    /// `debian:SERIES`; with `events` the guest's scheduler is recorded beside the windows.
    ///
    /// # Errors
    /// A name that nothing has; the hint names the nearest.
    pub fn named(
        name: &str,
        kernel: Option<&str>,
        arch: Option<&str>,
        events: bool,
    ) -> Result<Board, MachineError> {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let target = Target::Board { name: name.to_owned(), kernel: own(kernel), arch: own(arch) };
        let usual: Option<Arch> = name.parse().ok();
        let platform = request::platform(usual.map_or(name, |arch| arch.usual_platform()))?;
        let asked: Option<Arch> = arch.map(str::parse).transpose()?;
        let arch = asked.or(usual).unwrap_or_else(|| arch_for(&platform));
        Ok(Board {
            name: target.to_string(),
            platform,
            arch,
            kernel: own(kernel),
            modules: None,
            events,
        })
    }

    /// The same board with these modules of its kernel.
    pub fn with_modules(mut self, modules: Option<PathBuf>) -> Board {
        self.modules = modules;
        self
    }
}

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
        let text = toml::to_string(&experiment)
            .map_err(|error| BoardError::failed("the experiment as TOML", error))?;
        let mut command: Vec<String> =
            ["sh", "-c", SCRIPT, "sh", &text].map(str::to_owned).to_vec();
        if self.events {
            command.push("--trace".to_owned());
        }
        let request = Request {
            arch: Some(self.arch),
            platform: Some(self.platform.clone()),
            kernel: self.kernel.clone(),
            ipc: Some(usual_ipc(&self.platform) / SLOWER),
            step: (USUAL_STEP as f64 / SLOWER) as u64,
            modules: self.modules.clone(),
            // A guest is slow to start programs and to calibrate; its trials take their time.
            timeout: Nanos(plan.duration(&experiment).0.saturating_mul(3)) + Nanos::from_secs(600),
            command,
            ..Request::default()
        };
        let ready = request.ready_for_flyball(host.as_ref(), &Cache::of(host.as_ref())?)?;
        let command = context.command.clone();
        Ok(Box::new(BoardRun { name: self.name.clone(), ready, experiment, plan, command }))
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
        _: Option<&mut dyn Beside>,
    ) -> Result<Outcome, MachineError> {
        let dir = self.directory(host.as_ref(), destination)?;
        self.ready.options.share = Some(dir.clone());
        progress.note(&format!("booting {}", self.name));
        let Ready { options, qemu, plugin } = &self.ready;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let booted = guest::run(host.as_ref(), qemu, plugin, options, &mut out, &mut err);
        progress.closing();
        let booted = booted.inspect_err(|_| remove_if_empty(&dir))?;
        for note in &booted.notes {
            progress.note(note);
        }
        if let (Some(boot), Some(release)) = (booted.boot, &booted.release) {
            let seconds = boot.as_secs_f64();
            progress.note(&format!("Linux {release} was up after {seconds:.1} s"));
        }
        let told = String::from_utf8_lossy(&err);
        match booted.ending {
            // What a bench that ran can end with; how it ended is in the run directory.
            Ending::Status(0 | 5 | 130) | Ending::Interrupted | Ending::TimedOut => {}
            Ending::Status(code) => {
                remove_if_empty(&dir);
                return Err(MachineError::guest(&self.name, code, &told));
            }
        }
        if !dir.join(flyball_run::manifest::FILE).is_file() {
            remove_if_empty(&dir);
            let what = format!("expected a run from the guest, found none\n{}", told.trim_end());
            return Err(match booted.ending {
                Ending::Interrupted => BoardError::interrupted(&self.name),
                _ => BoardError::failed(&self.name, what),
            }
            .into());
        }
        self.close(dir, &booted)
    }
}

impl BoardRun {
    /// The empty directory that the guest writes its run into.
    fn directory(
        &self,
        host: &dyn Host,
        destination: &Destination,
    ) -> Result<PathBuf, MachineError> {
        let dir = match destination {
            Destination::Dir(dir) => flyball_run::empty_dir(dir)?,
            Destination::Below(root) => {
                flyball_run::new_dir_below(root, host.realtime().0 / 1_000_000_000, "bench")?
            }
        };
        // The emulator runs in a folder of its own.
        Ok(fs_err::canonicalize(&dir).map_err(|error| BoardError::input("run directory", error))?)
    }

    /// Adds to the guest's run what only the outside knows.
    fn close(&self, dir: PathBuf, booted: &guest::Outcome) -> Result<Outcome, MachineError> {
        booted.save(&dir)?;
        let (account, measured) = while_measuring(&dir, booted)?;
        let pace = pace_check(&account, &measured, booted.ending);
        let mut invalid = Vec::new();
        let mut state = RunState::Invalid;
        flyball_run::amend(&dir, &mut |manifest: &mut Manifest| {
            manifest.command.clone_from(&self.command);
            if let Some(board) =
                manifest.machine.as_mut().and_then(|machine| machine.board.as_mut())
            {
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
}

/// What was counted from the first release of a window that counts to the last one's end, and the CPUs
/// that ran windows: what was lost in the boot and the first warm-up, while the emulator translated new code, says nothing of them.
fn while_measuring(
    dir: &Path,
    booted: &guest::Outcome,
) -> Result<(Account, BTreeSet<u32>), MachineError> {
    let columns = ["release_ns", "end_ns", "cpu_before", "warmup"].map(|name| ("windows", name));
    let windows = Run::open_with(dir, Columns::Only(&columns))?.tables.windows;
    let counted = windows.release_ns.iter().zip(&windows.warmup).filter(|(_, warmup)| !**warmup);
    let begin = counted.map(|(at, _)| *at).min().and_then(|at| i64::try_from(at).ok());
    let end = windows.end_ns.iter().max().and_then(|at| i64::try_from(*at).ok());
    let measured = windows.cpu_before.iter().flatten().collect();
    let (Some(begin), Some(end)) = (begin, end) else {
        return Ok((booted.account.clone(), measured));
    };
    let before = booted.accounts.iter().rev().find(|(at, _)| *at <= begin);
    let after = booted.accounts.iter().find(|(at, _)| *at >= end);
    let during = match (before, after) {
        (Some((_, before)), Some((_, after))) => after.since(before),
        // The guest was gone before the next look.
        (Some((_, before)), None) => booted.account.since(before),
        _ => booted.account.clone(),
    };
    Ok((during, measured))
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

/// Share of its work's time that any CPU may lose: windows there are longer by as much, and a load is
/// smaller by as much.
const MOST_LOSS: f64 = 0.05;

/// Whether this machine was fast enough to be that one. `measured` are the CPUs that ran windows.
fn pace_check(account: &Account, measured: &BTreeSet<u32>, ending: Ending) -> CheckRecord {
    let cpus = || account.cpus.iter().zip(0_u32..);
    let too_late = |(of, cpu): (&CpuAccount, u32)| {
        let lost = of.late_share() > MOST_LOSS;
        if measured.contains(&cpu) { lost || of.fell_behind() } else { lost && of.fell_behind() }
    };
    let worst = cpus().max_by_key(|(of, cpu)| (too_late((of, *cpu)), of.late));
    let behind = cpus().any(too_late);
    let (passed, found, hint) = match (ending, worst) {
        (Ending::TimedOut, _) => {
            (false, "the guest did not end in time".to_owned(), "give the host less other work")
        }
        (_, None) => (false, "no account of the emulator".to_owned(), "see flyball board run"),
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
        name: "board pace".to_owned(),
        outcome: if passed { CheckOutcome::Passed } else { CheckOutcome::Failed },
        object: "speed of the board's CPUs".to_owned(),
        expected: "at most 2 % or 0.3 s lost by CPUs that ran windows, 5 % by every one".to_owned(),
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
        Account { writes: 0, cpus: vec![cpu(10), cpu(late_ms)] }
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
        let account = Account { writes: 0, cpus: vec![cpu(5000, 100), cpu(2300, 200)] };
        let outcome =
            |measured| pace_check(&account, &BTreeSet::from([measured]), Ending::Status(0)).outcome;
        assert_eq!(outcome(0), CheckOutcome::Passed);
        assert_eq!(outcome(1), CheckOutcome::Failed);
    }

    #[test]
    fn names_and_their_slips() {
        let board = Board::named("aarch64", Some("debian:7"), None, false).unwrap();
        assert_eq!((board.arch, board.platform.name.as_str()), (Arch::Aarch64, "board-aarch64"));
        assert_eq!(board.name(), "board:aarch64,kernel=debian:7");
        let error = Board::named("board-x68", None, None, false).unwrap_err();
        assert!(error.hint().unwrap_or_default().contains("board-x86"), "{error}");
        assert!(Board::named("board-x86", None, Some("mips"), false).is_err());
    }
}
