//! The scenario on the board: boots, governors, playings, and whether the board kept its pace.

use super::given::{Given, given};
use crate::machine::MachineError;
use crate::protocol::score::{BEGIN, END};
use flyball_board::cache::Cache;
use flyball_board::guest::{self, Ending};
use flyball_board::plugin::Account;
use flyball_board::{Arch, BoardError, Ready, Request, arch_for};
use flyball_host::Host;
use flyball_run::Run;
use flyball_sim::scenario::{Scenario, Source, read};
use flyball_sim::setup::Class;
use flyball_units::Nanos;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Boots that are tried to get the playings that are asked for.
const BOOTS: usize = 4;

/// A playing is left out where a CPU lost more than this share of the scenario's time: no share of the
/// time can be off by more, and [`super::POINTS`] are asked for.
pub const LOST_SHARE: f64 = 0.04;

/// How many times as fast as this computer's clock a board's may run while it is compared. Nobody waits for it in
/// real time, and it stands still where the CPUs cannot follow.
const RATE: f64 = 8.0;

/// Instructions per step of the pacing there: an interrupt waits for the end of one, 10 us on the slowest CPU of the aarch64 board.
const STEP: u64 = 250;

/// Playings at the start of a boot that do not count: the emulator translates what is run first.
const WARM_UP: u32 = 1;

/// First argument: the scenario; second: the settings, as shell; the others: arguments of the player.
/// The kernel's debug files tell of scheduling domains where they are asked to.
const SCRIPT: &str = r#"{ mount -t debugfs none /sys/kernel/debug; echo Y >/sys/kernel/debug/sched/verbose; } 2>/dev/null
printf %s "$1" >/run/board/scenario.toml && eval "$2" && shift 2 && exec \
flyball sim /run/board/scenario.toml --machine host --quiet "$@" >/dev/null"#;

/// What the settings use: writes a value, and sees that it was taken.
const SETTER: &str = r#"set_one() {
  echo "$2" >"$1" || exit 3; read -r found <"$1"
  [ "$found" = "$2" ] || { echo "$1: expected $2, found $found" >&2; exit 3; }
}
"#;

/// A playing on the board.
#[derive(Debug)]
pub struct Playing {
    /// Its run directory.
    pub dir: PathBuf,
    /// The largest share of the time that a CPU lost, because the host could not keep up.
    pub lost_share: f64,
    /// Its run.
    pub run: Run,
}

/// What came of the boots.
#[derive(Debug, Default)]
pub struct Rehearsed {
    /// The playings that count.
    pub playings: Vec<Playing>,
    /// Those that do not, because the board lost time, with the share.
    pub slow: Vec<Slow>,
    /// The guest's kernel.
    pub release: Option<String>,
    /// Boots.
    pub boots: usize,
    /// Whether the user asked to end.
    pub interrupted: bool,
}

/// A playing that was too slow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slow {
    /// Its run directory.
    pub dir: PathBuf,
    /// The largest share of the time that a CPU lost.
    pub lost_share: f64,
}

/// Plays a scenario until with those of `rehearsed` `repeats` playings count, in at most four boots, below `dir`.
///
/// # Errors
/// A governor that no kernel has; a board that is not there or does not boot; a guest that refuses; another kernel than
/// before.
pub fn rehearse(
    host: &Arc<dyn Host>,
    scenario: &Scenario,
    mut rehearsed: Rehearsed,
    kernel: Option<&str>,
    repeats: u32,
    dir: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<Rehearsed, MachineError> {
    if rehearsed.playings.len() >= repeats as usize {
        return Ok(rehearsed);
    }
    // The guest is given the text of the scenario, and no file of this computer.
    if let Err(error) = read(&scenario.text, Source::text_only(&scenario.name, &scenario.name)) {
        return Err(BoardError::input("a scenario for a board", error).into());
    }
    let settings = settings(scenario)?;
    let cache = Cache::of(host.as_ref())?;
    for _ in 0..BOOTS {
        let missing = repeats.saturating_sub(rehearsed.playings.len() as u32);
        if missing == 0 {
            break;
        }
        rehearsed.boots += 1;
        // Numbered through all results, so that a folder's name says which it is.
        let boot = rehearsed.boots;
        let share = dir.join(format!("boot-{boot}"));
        // The emulator runs in a folder of its own.
        let share = fs_err::create_dir_all(&share)
            .and_then(|()| fs_err::canonicalize(&share))
            .map_err(|error| BoardError::input("run directory", error))?;
        let ready = ready(host, &cache, scenario, &settings, kernel, missing, &share)?;
        tell(&format!("boot {boot}: {missing} playings"));
        let Ready { options, qemu, plugin } = &ready;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let booted = guest::run(host.as_ref(), qemu, plugin, options, &mut out, &mut err)?;
        for note in &booted.notes {
            tell(note);
        }
        let known = rehearsed.release.as_ref().zip(booted.release.as_ref());
        if let Some((before, now)) = known.filter(|(before, now)| before != now) {
            let message = format!("expected Linux {before} as in the playings before, found {now}");
            return Err(BoardError::input("kernel", message)
                .with_hint("play under the kernel of the earlier playings, or without these")
                .into());
        }
        rehearsed.release = booted.release.clone().or(rehearsed.release);
        match booted.ending {
            Ending::Status(0) | Ending::TimedOut => {}
            Ending::Interrupted => rehearsed.interrupted = true,
            Ending::Status(code) => {
                let told = String::from_utf8_lossy(&err);
                return Err(MachineError::guest(&scenario.platform.name, code, &told));
            }
        }
        booted.save(&share)?;
        collect(&mut rehearsed, &share, missing, &booted)?;
        if rehearsed.interrupted {
            break;
        }
    }
    Ok(rehearsed)
}

/// The playings of an earlier comparison of a scenario, from its result.
///
/// # Errors
/// No such result, one of another scenario, or a run of it that does not read.
pub fn rehearsed(result: &Path, scenario: &Scenario) -> Result<Rehearsed, MachineError> {
    let told = |message: String| BoardError::input(result.display(), message);
    let value = earlier(result)?;
    let text = |key: &str| value[key].as_str().unwrap_or("none").to_owned();
    let (of, on) = (text("scenario"), text("platform"));
    if (of.as_str(), on.as_str()) != (scenario.name.as_str(), scenario.platform.name.as_str()) {
        let expected = format!("a comparison of {} on {}", scenario.name, scenario.platform.name);
        return Err(told(format!("expected {expected}, found one of {of} on {on}")).into());
    }
    let slow = serde_json::from_value(value["left_out"].clone());
    let mut rehearsed = Rehearsed {
        release: value["board_kernel"].as_str().map(str::to_owned),
        boots: value["boots"].as_u64().unwrap_or(0) as usize,
        slow: slow.map_err(|error| no_result(result, &error))?,
        ..Rehearsed::default()
    };
    for playing in value["playings"].as_array().into_iter().flatten() {
        let dir = playing["run"].as_str().map(PathBuf::from);
        let dir = dir.ok_or_else(|| told("expected a run, found none".to_owned()))?;
        let dir = beside(result, dir);
        let lost_share = playing["lost_share"].as_f64().unwrap_or(0.0);
        rehearsed.playings.push(Playing { run: Run::open(&dir)?, dir, lost_share });
    }
    Ok(rehearsed)
}

/// A playing's directory: `boot-N/K` beside the result, as the one that is written there may be of another working
/// directory, and the whole may have been moved; or that one, of a comparison before it.
fn beside(result: &Path, written: PathBuf) -> PathBuf {
    let mut names = written.components().rev();
    let (playing, boot) = (names.next(), names.next());
    let here = boot.zip(playing).map(|(boot, playing)| result.with_file_name(boot).join(playing));
    here.filter(|here| here.is_dir()).unwrap_or(written)
}

/// What an earlier comparison of the same scenario measured on its board, from its result.
///
/// # Errors
/// No such result; one of another scenario.
pub fn measured(result: &Path, scenario: &Scenario) -> Result<Given, MachineError> {
    let rehearsed = rehearsed(result, scenario)?;
    let runs = rehearsed.playings.iter().map(|playing| &playing.run);
    let given = given(scenario, &scenario.setup(0), runs);
    Ok(given.map_err(|missing| BoardError::input(result.display(), missing))?)
}

/// The result of an earlier comparison.
fn earlier(result: &Path) -> Result<Value, MachineError> {
    let text = fs_err::read_to_string(result).map_err(|error| {
        BoardError::input("earlier comparison", error)
            .with_hint("name the directory that an earlier comparison left")
    })?;
    Ok(serde_json::from_str(&text).map_err(|error| no_result(result, &error))?)
}

/// A file that is not what a comparison leaves.
fn no_result(result: &Path, error: &serde_json::Error) -> BoardError {
    let message = format!("expected the result of a comparison, found other JSON or none: {error}");
    BoardError::input(result.display(), message)
}

/// What is needed for a boot.
fn ready(
    host: &Arc<dyn Host>,
    cache: &Cache,
    scenario: &Scenario,
    settings: &str,
    kernel: Option<&str>,
    repeats: u32,
    share: &Path,
) -> Result<Ready, MachineError> {
    let arch: Arch = arch_for(&scenario.platform);
    let repeats_text = (repeats + WARM_UP).to_string();
    let trace = trace(scenario);
    let command: Vec<String> = [
        "sh",
        "-c",
        SCRIPT,
        "sh",
        &scenario.text,
        settings,
        &trace,
        "--repeats",
        &repeats_text,
        "--out",
        "/run/share",
    ]
    .map(str::to_owned)
    .to_vec();
    // A scenario under debian-7.3 wants that kernel on the board, too, where it is there.
    let same = || cache.kernel_for(arch, scenario.kernel.name.strip_prefix("debian-")?);
    let each = scenario.duration + Nanos::from_secs(60);
    let request = Request {
        arch: Some(arch),
        platform: Some(scenario.platform.clone()),
        kernel: kernel.map(str::to_owned).or_else(same),
        share: Some(share.to_path_buf()),
        rate: RATE,
        step: STEP,
        timeout: Nanos(each.0.saturating_mul(u64::from(repeats + WARM_UP))) + Nanos::from_secs(120),
        command,
        ..Request::default()
    };
    Ok(request.ready_for_flyball(host.as_ref(), cache)?)
}

/// What is recorded: each event takes its time from the CPU, so of classes only those that the scenario has.
fn trace(scenario: &Scenario) -> String {
    let tasks = scenario.setup(0).setup.tasks;
    let only_fair = tasks.iter().all(|task| matches!(task.class, Class::Fair { .. }));
    let classes = if only_fair { "" } else { ",classes" };
    format!("--trace=sched,frequency,util,capacity{classes}")
}

/// Governors, limits and tunables of the scenario, as shell.
fn settings(scenario: &Scenario) -> Result<String, MachineError> {
    /// The governors of Linux that can be asked for by name.
    const KERNELS: [&str; 6] =
        ["schedutil", "ondemand", "conservative", "performance", "powersave", "userspace"];
    let mut text = SETTER.to_owned();
    for (domain, governor) in scenario.platform.domains.iter().zip(&scenario.governors) {
        let Some(cpu) = domain.cpus.first() else { continue };
        let policy = format!("/sys/devices/system/cpu/cpufreq/policy{}", cpu.0);
        let name = &governor.name;
        if !KERNELS.contains(&name.as_str()) {
            let message = format!("expected a governor of Linux, found {name}");
            return Err(BoardError::input("governor", message)
                .with_hint(format!("one of {}", KERNELS.join(", ")))
                .into());
        }
        let mut set = |file: &str, value: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "set_one {file} {value}");
        };
        set(&format!("{policy}/scaling_governor"), name);
        if let Some((min, max)) = governor.limits {
            set(&format!("{policy}/scaling_max_freq"), &max.0.to_string());
            set(&format!("{policy}/scaling_min_freq"), &min.0.to_string());
        }
        for (key, value) in &governor.tunables {
            // One folder per policy, or one for all where the driver wants that.
            let file = format!(
                "$(ls -d {policy}/{name}/{key} /sys/devices/system/cpu/cpufreq/{name}/{key} \
                 2>/dev/null | head -1)"
            );
            set(&file, &value.to_string());
        }
    }
    // What the change of governor stirred up has to settle.
    text.push_str("sleep 1\n");
    Ok(text)
}

/// The runs of a boot.
fn collect(
    rehearsed: &mut Rehearsed,
    share: &Path,
    repeats: u32,
    booted: &guest::Outcome,
) -> Result<(), MachineError> {
    for number in 1 + WARM_UP..=repeats + WARM_UP {
        let dir = share.join(number.to_string());
        // A boot that ended early has fewer.
        if !dir.join(flyball_run::manifest::FILE).is_file() {
            continue;
        }
        let run = Run::open(&dir)?;
        let lost_share = lost_share(&run, &booted.accounts);
        match lost_share {
            Some(lost_share) if lost_share <= LOST_SHARE => {
                rehearsed.playings.push(Playing { dir, lost_share, run });
            }
            // What was not seen is not taken for good.
            other => rehearsed.slow.push(Slow { dir, lost_share: other.unwrap_or(1.0) }),
        }
    }
    Ok(())
}

/// The largest share of the time that a CPU lost from the scenario's begin to its end.
fn lost_share(run: &Run, accounts: &[(i64, Account)]) -> Option<f64> {
    let marks = &run.tables.markers;
    let mark = |name: &str| {
        let row = (0..marks.len()).find(|&row| marks.name.get(row) == Some(name))?;
        i64::try_from(marks.t_ns.get(row)?).ok()
    };
    let (begin, end) = (mark(BEGIN)?, mark(END)?);
    let before = accounts.iter().rev().find(|(at, _)| *at <= begin)?;
    let after = accounts.iter().find(|(at, _)| *at >= end)?;
    let lost = after.1.since(&before.1).cpus.iter().map(|cpu| cpu.late).max()?;
    Some(lost.0 as f64 / after.0.abs_diff(before.0).max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn playings_are_found_beside_a_result_that_was_moved() {
        let dir = tempfile::tempdir().unwrap();
        let moved = dir.path().join("boot-1/2");
        fs_err::create_dir_all(&moved).unwrap();
        let result = dir.path().join("comparison.json");
        assert_eq!(beside(&result, "elsewhere/bursts/boot-1/2".into()), moved);
        let gone = PathBuf::from("elsewhere/bursts/boot-1/3");
        assert_eq!(beside(&result, gone.clone()), gone);
    }
}
