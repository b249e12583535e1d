//! CoreMark scores at fixed frequencies and while a schedule alternates two of them: `dataset.csv`,
//! one line per fixed level or pair of levels, one score per run:
//!
//! ```text
//! alternating01,7262.16,7382.79,...      levels 0 and 1 in turn
//! 1ms_a72_fixed0,1774.09,1772.52,...     level 0 alone; what stands before the last `_` is a name
//! ```
//! The levels' frequencies are in `freqs.csv` beside it (`600 MHz,896 MHz`).

use crate::reading::{file_name, new_run, read_text, record_file};
use flyball_run::run::{Run, Warning};
use flyball_run::tables::SwitchTrial;
use flyball_run::tally::{CUT, Tally};
use flyball_run::{Error, Result};
use flyball_units::{KiloHertz, Mismatch};
use fs_err as fs;
use std::path::{Path, PathBuf};

const SCORES: &str = "dataset.csv";
const LEVELS: &str = "freqs.csv";

/// The schedule's window where no row tells: that of the published description, 1 ms.
const USUAL_WINDOW_NS: u64 = 1_000_000;

/// What a line was measured at, by position of the level.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    Fixed(usize),
    Alternating(usize, usize),
}

impl Row {
    fn of(name: &str) -> Option<Row> {
        let kind = name.rsplit('_').next()?;
        let digits = |text: &str| -> Option<Vec<usize>> {
            text.chars().map(|c| c.to_digit(10).map(|digit| digit as usize)).collect()
        };
        if let Some(rest) = kind.strip_prefix("fixed") {
            return match digits(rest)?[..] {
                [level] => Some(Row::Fixed(level)),
                _ => None,
            };
        }
        match digits(kind.strip_prefix("alternating")?)?[..] {
            [a, b] if a != b => Some(Row::Alternating(a, b)),
            _ => None,
        }
    }

    fn levels(self) -> (usize, usize) {
        match self {
            Row::Fixed(level) => (level, level),
            Row::Alternating(a, b) => (a, b),
        }
    }
}

/// Whether a line is one of such a file.
pub(super) fn is_row(line: &str) -> bool {
    line.split_once(',').is_some_and(|(name, rest)| {
        Row::of(name.trim()).is_some()
            && rest.split(',').next().is_some_and(|score| score.trim().parse::<f64>().is_ok())
    })
}

/// The data sets of a folder: its own, or those of the folders in it, in the order of their names.
///
/// # Errors
/// A folder that cannot be listed.
pub(super) fn datasets(folder: &Path) -> Result<Vec<PathBuf>> {
    let own = folder.join(SCORES);
    if own.is_file() {
        return Ok(vec![own]);
    }
    let failed = |error: std::io::Error| Error::io(folder, "to list the folder", &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path().join(SCORES);
        if file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file, a folder with one, or a folder of such folders, which become set-ups.
///
/// # Errors
/// As [`crate::import`].
pub(super) fn import(path: &Path) -> Result<Run> {
    let files = if path.is_dir() { datasets(path)? } else { vec![path.to_owned()] };
    let mut run = new_run("coremark");
    for file in &files {
        let setup = (files.len() > 1).then(|| file.parent().map(file_name)).flatten();
        rows(&mut run, file, setup.as_deref())?;
    }
    Ok(run)
}

/// The frequencies beside a data set.
fn frequencies(file: &Path) -> Result<Vec<KiloHertz>> {
    let path = file.with_file_name(LEVELS);
    let text = read_text(&path)?;
    let fields = text.split([',', '\n']).map(str::trim).filter(|field| !field.is_empty());
    fields
        .map(|field| {
            field.parse().map_err(|slip: Mismatch| {
                Error::bad_input(
                    path.display(),
                    slip.expected,
                    slip.found,
                    "one frequency per level, in the order of the levels' numbers",
                )
            })
        })
        .collect()
}

fn rows(run: &mut Run, file: &Path, setup: Option<&str>) -> Result<()> {
    let text = read_text(file)?;
    let levels = frequencies(file)?;
    let mut tally = Tally::default();
    let mut window_told = true;
    let lines = text.lines().count() as u64;
    for line in text.lines() {
        tally.lines += 1;
        if line.trim().is_empty() {
            continue;
        }
        if tally.lines == lines && !text.ends_with('\n') {
            tally.bad(true, CUT);
            continue;
        }
        let mut fields = line.split(',').map(str::trim);
        let name = fields.next().unwrap_or_default();
        let Some(row) = Row::of(name) else {
            tally.bad(false, format!("expected fixedN or alternatingNM, found {name:?}"));
            continue;
        };
        let (a, b) = row.levels();
        let (Some(from), Some(to)) = (levels.get(a), levels.get(b)) else {
            tally.bad(false, format!("{name}: {LEVELS} has {} levels", levels.len()));
            continue;
        };
        let scores: Option<Vec<f64>> = fields.map(score).collect();
        let Some(scores) = scores.filter(|scores| !scores.is_empty()) else {
            tally.bad(false, format!("{name}: expected scores above 0"));
            continue;
        };
        tally.rows += 1;
        let alternating = matches!(row, Row::Alternating(..));
        let window = window(name);
        window_told &= window.is_some() || !alternating;
        for score in scores {
            run.tables.trials.push(SwitchTrial {
                seq: run.tables.trials.len() as u64,
                method: if alternating { "windowed" } else { "fixed" }.to_owned(),
                setup: setup.map(str::to_owned),
                from_khz: from.0,
                to_khz: to.0,
                attempt: 1,
                window_ns: alternating.then(|| window.unwrap_or(USUAL_WINDOW_NS)),
                score: Some(score),
                ..SwitchTrial::default()
            });
        }
    }
    tally.check(&file.display().to_string(), "line of scores")?;
    record_file(
        run,
        setup.map_or(file_name(file), |name| format!("{name}/{SCORES}")),
        text.len() as u64,
        &tally,
    );
    if !window_told {
        run.warnings.push(Warning {
            object: setup.unwrap_or(SCORES).to_owned(),
            message: "the rows do not tell the length of the windows: taken to be 1 ms, as the \
                      published description says"
                .to_owned(),
            hint: None,
        });
    }
    Ok(())
}

fn score(field: &str) -> Option<f64> {
    field.parse().ok().filter(|score: &f64| score.is_finite() && *score > 0.0)
}

/// The window in a row's name: `1ms_a72_...`.
fn window(name: &str) -> Option<u64> {
    let first = name.split('_').next()?;
    let (number, unit) = match first.strip_suffix("ms") {
        Some(number) => (number, 1e6),
        None => (first.strip_suffix("us")?, 1e3),
    };
    let ns = number.parse::<f64>().ok()? * unit;
    (1.0..=1e12).contains(&ns).then_some(ns.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(scores: &str, levels: &str) -> Result<Run> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(SCORES), scores).unwrap();
        fs::write(dir.path().join(LEVELS), levels).unwrap();
        import(dir.path())
    }

    #[test]
    fn a_line_becomes_one_row_per_run() {
        let run = imported("2ms_x_alternating10,3.5,4\n2ms_x_fixed0,2\n", "600 MHz,1.2 GHz\n");
        let run = run.unwrap();
        let trials = &run.tables.trials;
        assert_eq!(trials.len(), 3);
        let first = trials.row(0).unwrap();
        assert_eq!((first.from_khz, first.to_khz), (1_200_000, 600_000));
        assert_eq!((first.window_ns, first.score), (Some(2_000_000), Some(3.5)));
        assert_eq!(trials.row(2).unwrap().method, "fixed");
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    }

    #[test]
    fn a_window_that_is_not_told_is_said() {
        let run = imported("alternating01,3.5\nfixed0,2\n", "600MHz,900MHz").unwrap();
        assert_eq!(run.tables.trials.row(0).unwrap().window_ns, Some(USUAL_WINDOW_NS));
        assert_eq!(run.warnings.len(), 1);
    }

    #[test]
    fn slips_are_named() {
        assert!(is_row("1ms_a72_fixed3,1.5,2") && is_row("alternating31,5"));
        assert!(!is_row("fixed,1") && !is_row("latency,1") && !is_row("alternating11,4"));
        assert!(imported("alternating09,3.5\n", "600MHz,900MHz").is_err());
        assert!(imported("fixed0,-1\n", "600MHz").is_err());
        assert!(imported("fixed0,1\n", "600").is_err());
    }
}
