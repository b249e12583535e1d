//! CORTEX run folders: `run-NNN-CONDITION/kernel-data/KERNEL/telemetry.ndjson` and, beside
//! `kernel-data`, a `frequency-log.csv`.
//!
//! Windows are timed on CLOCK_MONOTONIC, the log on CLOCK_REALTIME, and no offset is recorded:
//! the manifest says so and nothing here joins the two.

mod log;
mod manifest;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fs_err as fs;

use self::manifest::Described;
use crate::cortex_line::{self, Parsed};
use crate::reading::{new_run, record_file};
use flyball_run::blocks::parse_files;
use flyball_run::column::Labels;
use flyball_run::run::{Run, Warning};
use flyball_run::storage::Columns;
use flyball_run::table::Table;
use flyball_run::tables::{Frequencies, FrequencySample, Windows};
use flyball_run::tally::Tally;
use flyball_run::{Error, Result};

/// Folders below the given one that are searched.
const DEPTH_MAX: u32 = 6;

/// One telemetry file and the run it belongs to.
pub(super) struct Telemetry {
    pub path: PathBuf,
    /// Position of its run in the order of the folders.
    pub run: usize,
}

/// One run folder: one condition.
struct RunFolder {
    dir: PathBuf,
    condition: String,
}

/// The telemetry files below `path`, in order.
///
/// # Errors
/// A folder that cannot be listed.
pub(super) fn telemetry_files(path: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if path.is_file() {
        files.push(path.to_owned());
    } else {
        find(path, DEPTH_MAX, &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn find(dir: &Path, depth: u32, files: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |error: std::io::Error| Error::io(dir, "to list the folder", &error);
    for entry in fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        // Links are not followed: a ring of them would never end.
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() && depth > 0 {
            find(&path, depth - 1, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "ndjson")
        {
            files.push(path);
        }
    }
    Ok(())
}

pub(super) fn import(path: &Path, columns: Columns<'_>) -> Result<Run> {
    let files = telemetry_files(path)?;
    let (folders, telemetry) = group(&files);
    let mut run = new_run("cortex");
    let read = read_windows(&telemetry, &folders, columns)?;
    report_files(&mut run, path, &telemetry, &read)?;
    let mut described = Described::default();
    for (file, facts, system) in read.described {
        let name = telemetry.get(file).map(|file| short_name(path, &file.path));
        described.add(&facts, system, &name.unwrap_or_default());
    }
    run.tables.windows = read.windows;
    for (at, folder) in folders.iter().enumerate() {
        let governor = log::read(&mut run, path, folder)?;
        let governor = governor.or_else(|| read.governors.get(&at).cloned());
        run.manifest.conditions.push(manifest::condition(&folder.condition, governor));
    }
    // A log is the better record: it is of every clock domain.
    let claims_of_windows = run.tables.frequency.is_empty() && !read.claimed.is_empty();
    if claims_of_windows {
        run.tables.frequency = read.claimed;
    }
    devices(&mut run, path);
    run.manifest.order = read.order;
    described.finish(&mut run);
    manifest::clocks(&mut run, claims_of_windows);
    if read.backwards > 0 {
        run.warnings.push(Warning {
            object: crate::reading::file_name(path),
            message: format!(
                "releases go back in time {} times inside a trial: the file holds more than one recording of it",
                read.backwards
            ),
            hint: Some("rows that repeat are counted as often as they stand there".to_owned()),
        });
    }
    Ok(run)
}

/// Warns of windows whose execution is not the device's where that of others is, and of counters that
/// never counted.
fn devices(run: &mut Run, path: &Path) {
    let windows = &run.tables.windows;
    if windows.transport_ns.is_all_null() {
        return;
    }
    let works = |row: &usize| windows.exit_status.get(*row).is_none();
    let bare = |row: &usize| windows.transport_ns.get(*row).is_none();
    let without = (0..windows.len()).filter(works).filter(bare).count();
    let mut warn = |message: String, hint: &str| {
        let hint = Some(hint.to_owned());
        run.warnings.push(Warning { object: crate::reading::file_name(path), message, hint });
    };
    if without > 0 {
        warn(
            format!(
                "{without} windows have no times of the device: their execution holds the transport"
            ),
            "import the recordings with and without these times apart",
        );
    }
}

/// The run folders of the files, in order of the folders.
fn group(files: &[PathBuf]) -> (Vec<RunFolder>, Vec<Telemetry>) {
    let mut folders: Vec<RunFolder> = Vec::new();
    let mut telemetry = Vec::new();
    for path in files {
        let dir = run_dir(path);
        let run = folders.iter().position(|folder| folder.dir == dir).unwrap_or_else(|| {
            let condition = distinct(condition_name(&dir), &folders);
            folders.push(RunFolder { dir, condition });
            folders.len() - 1
        });
        telemetry.push(Telemetry { path: path.clone(), run });
    }
    (folders, telemetry)
}

/// The nearest folder above that is called `run-...`, or that holds `kernel-data`.
fn run_dir(file: &Path) -> PathBuf {
    let named = |dir: &&Path| {
        dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with("run-"))
    };
    let holds = |dir: &&Path| dir.file_name().is_some_and(|name| name == "kernel-data");
    let above = || file.ancestors().skip(1);
    let found = above().find(named).or_else(|| above().find(holds).and_then(Path::parent));
    found.or_else(|| file.parent()).unwrap_or(file).to_owned()
}

/// `run-003-schedutil` is the condition `schedutil`.
fn condition_name(dir: &Path) -> String {
    let name = crate::reading::file_name(dir);
    let stripped = name.strip_prefix("run-").and_then(|rest| {
        let (number, condition) = rest.split_once('-')?;
        (number.bytes().all(|byte| byte.is_ascii_digit()) && !condition.is_empty())
            .then_some(condition)
    });
    let condition = stripped.unwrap_or(&name);
    if condition.is_empty() { "unnamed".to_owned() } else { condition.to_owned() }
}

/// Two folders of one name are two conditions: pooling is for the reader to decide.
fn distinct(name: String, folders: &[RunFolder]) -> String {
    let taken = |name: &str| folders.iter().any(|folder| folder.condition == name);
    if !taken(&name) {
        return name;
    }
    let mut number = 2_u32;
    while taken(&format!("{name}#{number}")) {
        number += 1;
    }
    format!("{name}#{number}")
}

/// Everything that the telemetry files hold.
#[derive(Default)]
struct Read {
    windows: Windows,
    tallies: Vec<Tally>,
    described: Vec<(usize, Vec<cortex_line::Facts>, Option<cortex_line::SystemInfo>)>,
    order: Vec<flyball_run::manifest::TrialRecord>,
    backwards: u64,
    /// What the system claimed beside the windows: of CPU 0, whichever ran them.
    claimed: Frequencies,
    /// Per run folder, the governor that its first file names.
    governors: HashMap<usize, String>,
}

fn read_windows(
    telemetry: &[Telemetry],
    folders: &[RunFolder],
    columns: Columns<'_>,
) -> Result<Read> {
    let mut read = Read { tallies: vec![Tally::default(); telemetry.len()], ..Read::default() };
    let mut trials = Trials::default();
    let files: Vec<PathBuf> = telemetry.iter().map(|file| file.path.clone()).collect();
    let bytes: u64 =
        files.iter().filter_map(|path| fs::metadata(path).ok()).map(|meta| meta.len()).sum();
    parse_files(
        &files,
        |block| (cortex_line::parse(block), block.bytes.len() as u64),
        |file, (parsed, block_bytes)| {
            let Some(source) = telemetry.get(file) else { return Ok(()) };
            let Parsed { mut windows, workload, facts, system, claimed, tally } = parsed;
            let first = read.windows.seq.len() as u64;
            if first == 0 && tally.rows > 0 {
                // Room that is never used costs nothing; growing by doubling would.
                let rows = bytes.saturating_mul(tally.rows) / block_bytes.max(1);
                read.windows.reserve((rows + rows / 16).try_into().unwrap_or(0));
            }
            windows.seq = (first..first + tally.rows).collect();
            windows.trial = trials.number(source.run, &workload, &windows);
            let condition = folders.get(source.run).map_or("unnamed", |folder| &folder.condition);
            windows.condition = Labels::repeated(condition, workload.len());
            let governor = system.as_ref().and_then(|system| system.governor.clone());
            if let Some(governor) = governor.filter(|governor| !governor.is_empty()) {
                read.governors.entry(source.run).or_insert(governor);
            }
            for (t_ns, khz) in claimed {
                read.claimed.push(FrequencySample {
                    t_ns,
                    domain: "cpu0".to_owned(),
                    claimed_khz: Some(khz),
                    source: "cpu_freq_mhz".to_owned(),
                    condition: Some(condition.to_owned()),
                    governor: read.governors.get(&source.run).cloned(),
                    ..FrequencySample::default()
                });
            }
            windows.workload = workload;
            columns.prune(&mut windows);
            read.windows.append(windows);
            if !facts.is_empty() || system.is_some() {
                read.described.push((file, facts, system));
            }
            if let Some(whole) = read.tallies.get_mut(file) {
                whole.absorb(tally);
            }
            Ok(())
        },
    )?;
    let conditions: Vec<&str> = folders.iter().map(|folder| folder.condition.as_str()).collect();
    read.backwards = trials.backwards;
    read.order = trials.finish(&conditions, &mut read.windows.trial);
    Ok(read)
}

/// Numbers the trials: a trial is one workload in one repeat of one run.
#[derive(Default)]
struct Trials {
    cells: HashMap<(usize, String, u32), u32>,
    /// Per trial: run, workload, repeat, first release and last release seen.
    found: Vec<(usize, String, u32, u64, u64)>,
    backwards: u64,
}

impl Trials {
    /// Provisional numbers, in order of appearance.
    fn number(&mut self, run: usize, workload: &Labels, windows: &Windows) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(workload.len());
        let mut last: Option<(u32, u32, u32)> = None;
        let cells = workload.codes().iter().zip(&windows.repeat).zip(&windows.release_ns);
        for ((code, &repeat), &release) in cells {
            let number = match last {
                Some((c, r, number)) if (c, r) == (code, repeat) => number,
                _ => self.cell(run, workload.name(code).unwrap_or_default(), repeat, release),
            };
            last = Some((code, repeat, number));
            if let Some((.., first, previous)) = self.found.get_mut(number as usize) {
                self.backwards += u64::from(release < *previous);
                *first = release.min(*first);
                *previous = release;
            }
            numbers.push(number);
        }
        numbers
    }

    fn cell(&mut self, run: usize, workload: &str, repeat: u32, release: u64) -> u32 {
        let fresh = self.found.len() as u32;
        let key = (run, workload.to_owned(), repeat);
        *self.cells.entry(key).or_insert_with(|| {
            self.found.push((run, workload.to_owned(), repeat, release, release));
            fresh
        })
    }

    /// Final numbers, in order of execution; renumbers `column`.
    fn finish(
        self,
        conditions: &[&str],
        column: &mut [u32],
    ) -> Vec<flyball_run::manifest::TrialRecord> {
        let mut by_time: Vec<usize> = (0..self.found.len()).collect();
        by_time.sort_by_key(|&trial| self.found.get(trial).map(|found| (found.0, found.3)));
        let mut renumbered = vec![0; by_time.len()];
        let mut order = Vec::with_capacity(by_time.len());
        for (&provisional, trial) in by_time.iter().zip(0_u32..) {
            if let (Some(slot), Some((run, workload, repeat, ..))) =
                (renumbered.get_mut(provisional), self.found.get(provisional))
            {
                *slot = trial;
                order.push(flyball_run::manifest::TrialRecord {
                    trial,
                    workload: workload.clone(),
                    condition: conditions.get(*run).copied().unwrap_or_default().to_owned(),
                    repeat: *repeat,
                    block: 0,
                    cpus: Vec::new(),
                    tid: None,
                    ..flyball_run::manifest::TrialRecord::default()
                });
            }
        }
        column.iter_mut().for_each(|trial| {
            *trial = renumbered.get(*trial as usize).copied().unwrap_or(*trial);
        });
        order
    }
}

/// A file's path below the imported folder: what a run may tell of where it came from.
fn short_name(root: &Path, file: &Path) -> String {
    match file.strip_prefix(root) {
        Ok(name) if !name.as_os_str().is_empty() => name.display().to_string(),
        _ => crate::reading::file_name(file),
    }
}

/// Records every file; refuses the whole where nothing is good, or one that is mostly bad.
fn report_files(run: &mut Run, root: &Path, telemetry: &[Telemetry], read: &Read) -> Result<()> {
    let single = telemetry.len() == 1;
    for (file, tally) in telemetry.iter().zip(&read.tallies) {
        let object = file.path.display().to_string();
        if single || tally.left_out() > 0 {
            tally.check(
                &object,
                "window (one JSON object with plugin, window_index and the *_ts_ns times)",
            )?;
        }
        let name = short_name(root, &file.path);
        if tally.rows == 0 {
            run.warnings.push(Warning {
                object: name.clone(),
                message: "holds no window".to_owned(),
                hint: Some(
                    "the recording of this kernel did not begin; its cell is missing".to_owned(),
                ),
            });
        }
        let bytes = fs::metadata(&file.path).map_or(0, |meta| meta.len());
        record_file(run, name, bytes, tally);
    }
    if read.tallies.iter().all(|tally| tally.rows == 0) {
        let hint = "name the folder that holds run-*/kernel-data/*/telemetry.ndjson";
        return Err(Error::bad_input(root.display(), "at least one window", "none", hint));
    }
    Ok(())
}
