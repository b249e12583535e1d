//! Raw output of FTaLaT and its descendants: one file per switch.
//!
//! ```text
//! # Bench 2500000 1096.05                      destination in kHz, ticks of a loop there
//! # Bench 1500000 1827.50                      source
//! # targetLowbound : 1094 ; targetHighbound : 1099
//! # targetQ1 : 1100 ; targetQ3 : 1100
//! # startLowbound : 1823 ; startHighbound : 1832
//! time-long <tab> abs. time <tab> time-short
//! 946650 <tab> 1733719864850 <tab> 941750      whole, time of its end, without the write
//! ```
//! All in ticks of the counter; a row that begins with 0 was rejected by the tool, and a time of 0 was
//! not taken. The files do not say how fast the counter runs.

use crate::reading::{file_name, new_run, read_text, record_file};
use flyball_run::manifest::ClockRecord;
use flyball_run::run::{Run, Warning};
use flyball_run::tables::SwitchTrial;
use flyball_run::tally::{CUT, Tally};
use flyball_run::{Error, Result};
use fs_err as fs;
use std::io::Read;
use std::path::{Path, PathBuf};

const HEADER: &str = "# Bench ";

/// Bytes that tell such a file.
const HEAD_BYTES: u64 = 64;

/// Why a row does not count; the source gives no reason.
const REJECTED: &str = "rejected by the tool";

/// Whether a text begins as such a file does.
pub(super) fn is_header(head: &str) -> bool {
    let number = head.strip_prefix(HEADER).and_then(|rest| rest.split_whitespace().next());
    number.is_some_and(|khz| khz.parse::<u64>().is_ok())
}

/// The files of a folder that begin as such files do, in the order of their names.
///
/// # Errors
/// A folder or a file that cannot be read.
pub(super) fn raw_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| Error::io(folder, "to list the folder", &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "txt") && path.is_file() {
            let mut head = Vec::new();
            let file = fs::File::open(&path);
            let read = file.and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
            read.map_err(|error| Error::io(&path, "to read it", &error))?;
            if is_header(&String::from_utf8_lossy(&head)) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file, or all such files of a folder.
///
/// # Errors
/// As [`crate::import`].
pub(super) fn import(path: &Path, counter_hz: Option<f64>) -> Result<Run> {
    let files = if path.is_dir() { raw_files(path)? } else { vec![path.to_owned()] };
    let mut run = new_run("ftalat");
    let mut texts = Vec::new();
    for file in &files {
        let text = read_text(file)?;
        let levels = levels(&text, file)?;
        texts.push((file, text, levels));
    }
    let highest = texts.iter().map(|(.., levels)| levels.highest()).max().unwrap_or_default();
    let hz = counter_hz.unwrap_or(highest as f64 * 1e3);
    if !(1e3..=1e12).contains(&hz) {
        return Err(Error::bad_input(
            "counter rate",
            "1 kHz to 1 THz",
            format!("{hz} Hz"),
            "give the rate of the counter, such as 2.5GHz",
        ));
    }
    for (file, text, levels) in &texts {
        rows(&mut run, file, text, levels, hz)?;
    }
    if counter_hz.is_none() {
        run.warnings.push(Warning {
            object: file_name(path),
            message: format!(
                "the files do not say how fast their counter runs: taken to be the highest \
                 frequency in them, {} MHz (a TSC runs at the nominal frequency)",
                highest / 1000
            ),
            hint: Some("name the rate of the counter if it is another".to_owned()),
        });
    }
    run.manifest.clocks = vec![ClockRecord {
        table: "trials".to_owned(),
        clock: "unknown".to_owned(),
        ..ClockRecord::default()
    }];
    Ok(run)
}

/// The two levels of a file, in kilohertz.
struct Levels {
    from: u64,
    to: u64,
    /// Ticks of a loop at the destination.
    loop_ticks: f64,
}

impl Levels {
    fn highest(&self) -> u64 {
        self.from.max(self.to)
    }
}

fn levels(text: &str, file: &Path) -> Result<Levels> {
    let mut benches = text.lines().take(16).filter_map(|line| {
        let mut fields = line.strip_prefix(HEADER)?.split_whitespace();
        Some((fields.next()?.parse::<u64>().ok()?, fields.next()?.parse::<f64>().ok()?))
    });
    match (benches.next(), benches.next()) {
        (Some((to, loop_ticks)), Some((from, _))) if from != to && from > 0 && to > 0 => {
            Ok(Levels { from, to, loop_ticks })
        }
        _ => Err(Error::bad_input(
            file.display(),
            "two different lines `# Bench KHZ TICKS`, the destination first",
            "none",
            "is this the raw output of FTaLaT?",
        )),
    }
}

fn rows(run: &mut Run, file: &Path, text: &str, levels: &Levels, hz: f64) -> Result<()> {
    let ns = |ticks: f64| (ticks * 1e9 / hz).round() as u64;
    let mut tally = Tally::default();
    let lines = text.lines().count() as u64;
    for line in text.lines() {
        tally.lines += 1;
        let names = tally.rows == 0 && line.starts_with(|c: char| c.is_alphabetic());
        if line.starts_with('#') || line.trim().is_empty() || names {
            continue;
        }
        if tally.lines == lines && !text.ends_with('\n') {
            tally.bad(true, CUT);
            continue;
        }
        let ticks: Vec<Option<f64>> = line
            .split_whitespace()
            .map(|field| field.parse().ok().filter(|ticks: &f64| (0.0..1e18).contains(ticks)))
            .collect();
        let [Some(whole), Some(end), Some(after_write)] = ticks[..] else {
            tally.bad(false, format!("expected three counts of ticks, found {line:?}"));
            continue;
        };
        if whole > 0.0 && !(after_write <= whole && (whole <= end || end == 0.0)) {
            tally.bad(false, format!("expected whole >= without the write, found {line:?}"));
            continue;
        }
        tally.rows += 1;
        let mut trial = SwitchTrial {
            seq: run.tables.trials.len() as u64,
            method: "detect".to_owned(),
            from_khz: levels.from,
            to_khz: levels.to,
            attempt: 1,
            loop_ns: Some(ns(levels.loop_ticks)),
            ..SwitchTrial::default()
        };
        if whole > 0.0 {
            trial.t_ns = (end > 0.0).then(|| ns(end - whole));
            trial.write_ns = Some(ns(whole - after_write));
            trial.transition_ns = Some(ns(whole));
        } else {
            trial.rejected = Some(REJECTED.to_owned());
        }
        run.tables.trials.push(trial);
    }
    tally.check(&file.display().to_string(), "measurement of a switch")?;
    record_file(run, file_name(file), text.len() as u64, &tally);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Bench 2500000 1096.05\n# Bench 1500000 1827.50\n\
        # targetLowbound : 1094 ; targetHighbound : 1099\ntime-long\tabs. time\ttime-short\n\
        0\t1733689864175\t0\n\
        946650\t1733719864850\t941750\n1135175\t1733739863350\t1130325\n";

    fn imported(text: &str, hz: Option<f64>) -> Result<Run> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("raw.txt");
        fs::write(&file, text).unwrap();
        import(&file, hz)
    }

    #[test]
    fn ticks_become_nanoseconds_and_a_zero_is_rejected() {
        let run = imported(TEXT, None).unwrap();
        let trials = &run.tables.trials;
        assert_eq!(trials.len(), 3);
        let good = trials.row(1).unwrap();
        assert_eq!((good.from_khz, good.to_khz), (1_500_000, 2_500_000));
        assert_eq!((good.transition_ns, good.write_ns), (Some(378_660), Some(1_960)));
        assert_eq!(good.t_ns, Some(693_487_567_280));
        assert_eq!(trials.row(0).unwrap().rejected.as_deref(), Some(REJECTED));
        assert!(run.warnings[0].message.contains("2500 MHz"), "{:?}", run.warnings);
        let told = imported(TEXT, Some(5e9)).unwrap();
        assert_eq!(told.tables.trials.row(1).unwrap().transition_ns, Some(189_330));
        assert!(told.warnings.is_empty());
        let untimed = imported(&TEXT.replace("1733719864850", "0"), None).unwrap();
        let row = untimed.tables.trials.row(1).unwrap();
        assert_eq!((row.t_ns, row.transition_ns), (None, Some(378_660)));
    }

    /// The last count may lack its last digits.
    #[test]
    fn a_cut_last_line_is_not_believed() {
        for cut in 1..5 {
            let run = imported(&TEXT[..TEXT.len() - cut], None).unwrap();
            assert_eq!(run.tables.trials.len(), 2, "{cut} bytes");
            let said = run.warnings.iter().any(|it| it.message.contains("may be cut"));
            assert!(said, "{cut} bytes: {:?}", run.warnings);
        }
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        assert!(is_header(TEXT) && !is_header("# Bench of mine\n1,2"));
        assert!(imported("# Bench 2500000 1096.05\n1 2 3\n", None).is_err());
        assert!(imported(&TEXT.replace("946650", "9466x0"), None).is_ok(), "one torn line");
        assert!(imported(&TEXT.replace("\t17", "\tx17"), None).is_err());
        assert!(imported(TEXT, Some(f64::NAN)).is_err());
    }
}
