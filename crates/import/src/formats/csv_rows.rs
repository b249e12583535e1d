//! CSV with a header and a column map.

use std::path::Path;

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use flyball_units::nearest;
use fs_err as fs;

use crate::csv_map::{ColumnMap, Entry, Field};
use crate::reading::{file_name, new_run, record_file};
use crate::sampled::{Sample, Sampler};
use flyball_run::run::Run;
use flyball_run::tables::Window;
use flyball_run::tally::{CUT, Tally};
use flyball_run::{Error, Result};

/// A day: no duration is longer.
const DURATION_NS_MAX: i128 = 86_400_000_000_000;

pub(super) fn import(path: &Path, map: &ColumnMap) -> Result<Run> {
    let mut reader = open(path)?;
    let header: Vec<String> = match reader.headers() {
        Ok(header) => {
            header.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect()
        }
        Err(error) => {
            return Err(bad_header(path, "a header of column names", error.to_string(), ""));
        }
    };
    let map = if map.entries.is_empty() { ColumnMap::of_same_names(&header) } else { map.clone() };
    let columns = resolve(path, &header, &map)?;
    let mut run = new_run("csv");
    if let Some(source) = &mut run.manifest.source {
        source.map = map.as_table();
    }
    let bytes = fs::metadata(path).map_or(0, |meta| meta.len());
    let cut_at = (!ends_with_line_end(path)?).then_some(bytes);
    let tally = read_rows(&mut run, reader, &columns, cut_at, &file_name(path));
    tally.check(&path.display().to_string(), "row with a duration")?;
    record_file(&mut run, file_name(path), bytes, &tally);
    Ok(run)
}

/// Opens the file; the delimiter is the one of `,`, `;` and tab that the header holds most.
fn open(path: &Path) -> Result<Reader<fs::File>> {
    use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
    const HEADER_BYTES_MAX: u64 = 64 * 1024;
    let failed = |error: std::io::Error| Error::io(path, "to read it", &error);
    let mut file = fs::File::open(path).map_err(failed)?;
    let mut first = Vec::new();
    BufReader::new((&mut file).take(HEADER_BYTES_MAX))
        .read_until(b'\n', &mut first)
        .map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let count = |delimiter: u8| first.iter().filter(|&&byte| byte == delimiter).count();
    let delimiter =
        [b'\t', b';', b','].into_iter().max_by_key(|&delimiter| count(delimiter)).unwrap_or(b',');
    Ok(ReaderBuilder::new()
        .delimiter(delimiter)
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(file))
}

/// Whether the last byte of a file ends a line.
fn ends_with_line_end(path: &Path) -> Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    let failed = |error: std::io::Error| Error::io(path, "to read it", &error);
    let mut file = fs::File::open(path).map_err(failed)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last).map_err(failed)?;
    }
    Ok(matches!(last, [b'\n' | b'\r']))
}

fn bad_header(path: &Path, expected: &str, found: String, hint: &str) -> Error {
    Error::bad_input(format!("{}:1", path.display()), expected, found, hint)
}

/// The position of every mapped column.
fn resolve<'a>(
    path: &Path,
    header: &[String],
    map: &'a ColumnMap,
) -> Result<Vec<(usize, &'a Entry)>> {
    let mut columns = Vec::new();
    for entry in &map.entries {
        let Some(position) = header.iter().position(|name| *name == entry.theirs) else {
            let hint = match nearest(&entry.theirs, header.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`? {}={near}", entry.ours),
                None => "the column's name stands on the right of `=`".to_owned(),
            };
            let found = format!("the columns {}", header.join(", "));
            return Err(bad_header(path, &format!("a column `{}`", entry.theirs), found, &hint));
        };
        columns.push((position, entry));
    }
    let has = |field: Field| columns.iter().any(|(_, entry)| entry.field == field);
    let direct = has(Field::Exec) || has(Field::Lateness) || has(Field::Response);
    let between = has(Field::Dispatch) && has(Field::End);
    if !direct && !between {
        let found = format!("the columns {}", header.join(", "));
        let hint = "name the column with the durations and its unit: latency_us=COLUMN";
        return Err(bad_header(path, "a column of durations", found, hint));
    }
    Ok(columns)
}

fn read_rows(
    run: &mut Run,
    mut reader: Reader<fs::File>,
    columns: &[(usize, &Entry)],
    cut_at: Option<u64>,
    name: &str,
) -> Tally {
    let mut tally = Tally::default();
    let mut sampler = Sampler::default();
    let mut record = StringRecord::new();
    loop {
        let line = reader.position().line();
        let outcome = reader.read_record(&mut record);
        // Quoted cells can hold line ends: the number is the one of the row's first line.
        tally.lines = record.position().map_or(line, csv::Position::line);
        match outcome {
            Ok(false) => break,
            Ok(true) if cut_at.is_some_and(|end| reader.position().byte() >= end) => {
                tally.bad(true, CUT);
            }
            Ok(true) => match Row::parse(&record, columns).and_then(|row| row.sample_checked()) {
                Ok(row) => {
                    sampler.add(run, row.as_sample());
                    tally.rows += 1;
                }
                Err(why) => tally.bad(false, why),
            },
            Err(error) => {
                tally.bad(false, plain(&error));
                if matches!(error.kind(), csv::ErrorKind::Io(_)) {
                    break;
                }
            }
        }
    }
    sampler.finish(run, name);
    tally
}

fn plain(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("expected {expected_len} columns, found {len}")
        }
        csv::ErrorKind::Utf8 { err, .. } => format!("column {}: expected UTF-8", err.field() + 1),
        _ => error.to_string(),
    }
}

/// A row's values, in our units.
#[derive(Default)]
struct Row {
    workload: Option<String>,
    condition: Option<String>,
    repeat: Option<u32>,
    index: Option<u64>,
    exec_ns: Option<i128>,
    lateness_ns: Option<i128>,
    response_ns: Option<i128>,
    release_ns: Option<i128>,
    dispatch_ns: Option<i128>,
    end_ns: Option<i128>,
    deadline_ns: Option<i128>,
    missed: Option<bool>,
    rest: Window,
}

/// A row whose durations are consistent.
struct Checked {
    row: Row,
    lateness_ns: i64,
    exec_ns: u64,
}

impl Row {
    fn parse(record: &StringRecord, columns: &[(usize, &Entry)]) -> Result<Row, String> {
        let mut row = Row::default();
        for &(position, entry) in columns {
            let cell = record.get(position).unwrap_or_default();
            if !cell.is_empty() {
                row.set(entry, cell).map_err(|expected| {
                    format!(
                        "column {} ({}): expected {expected}, found {cell:?}",
                        position + 1,
                        entry.theirs
                    )
                })?;
            }
        }
        Ok(row)
    }

    /// Sets one field, or says what was expected.
    fn set(&mut self, entry: &Entry, cell: &str) -> Result<(), &'static str> {
        let huge = cell.parse::<f64>().is_ok_and(f64::is_finite);
        let wanted = if huge { "a time below 1e24 ns" } else { "a number" };
        let number = || scaled(cell, entry.scale).ok_or(wanted);
        match entry.field {
            Field::Exec => self.exec_ns = Some(number()?),
            Field::Lateness => self.lateness_ns = Some(number()?),
            Field::Response => self.response_ns = Some(number()?),
            Field::Release => self.release_ns = Some(number()?),
            Field::Dispatch => self.dispatch_ns = Some(number()?),
            Field::End => self.end_ns = Some(number()?),
            Field::Deadline => self.deadline_ns = Some(number()?),
            Field::Delivered => {
                self.rest.delivered_khz =
                    Some(number()?.try_into().map_err(|_| "a positive frequency")?);
            }
            Field::Cpu => self.rest.cpu_before = Some(cell.parse().map_err(|_| "a CPU's number")?),
            Field::Condition => self.condition = Some(cell.to_owned()),
            Field::Workload => self.workload = Some(cell.to_owned()),
            Field::Repeat => self.repeat = Some(cell.parse().map_err(|_| "a whole number")?),
            Field::Index => self.index = Some(cell.parse().map_err(|_| "a whole number")?),
            Field::Warmup => self.rest.warmup = flag(cell)?,
            Field::Missed => self.missed = Some(flag(cell)?),
            Field::ExitStatus => {
                self.rest.exit_status = Some(cell.parse().map_err(|_| "a whole number")?)
            }
        }
        Ok(())
    }

    /// Works out lateness and execution from whatever the row holds.
    fn sample_checked(self) -> Result<Checked, String> {
        let minus = |a: Option<i128>, b: Option<i128>| a.zip(b).map(|(a, b)| a - b);
        let lateness = self.lateness_ns.or(minus(self.dispatch_ns, self.release_ns));
        let measured = self.exec_ns.or(minus(self.end_ns, self.dispatch_ns));
        let exec = measured.or(self.response_ns.map(|response| response - lateness.unwrap_or(0)));
        let exec = match (exec, lateness) {
            (Some(exec), _) => exec,
            (None, Some(_)) => 0,
            (None, None) => return Err("no duration".to_owned()),
        };
        let lateness = lateness.unwrap_or(0);
        if exec < 0 {
            return Err(format!("clock going backwards: a duration of {exec} ns"));
        }
        if exec > DURATION_NS_MAX || lateness.abs() > DURATION_NS_MAX {
            return Err(format!(
                "out of range: {exec} ns of execution, {lateness} ns of lateness; expected below a day"
            ));
        }
        for (name, time) in [
            ("release", self.release_ns),
            ("dispatch", self.dispatch_ns),
            ("deadline", self.deadline_ns),
        ] {
            if time.is_some_and(|time| u64::try_from(time).is_err()) {
                return Err(format!("{name}: expected a time from 0 to 2^64 ns"));
            }
        }
        Ok(Checked { row: self, lateness_ns: lateness as i64, exec_ns: exec as u64 })
    }
}

impl Checked {
    fn as_sample(&self) -> Sample<'_> {
        let row = &self.row;
        let time = |time: Option<i128>| time.and_then(|time| u64::try_from(time).ok());
        Sample {
            workload: row.workload.as_deref().unwrap_or("all"),
            condition: row.condition.as_deref().unwrap_or("all"),
            repeat: row.repeat.unwrap_or(1),
            index: row.index,
            release_ns: time(row.release_ns),
            dispatch_ns: time(row.dispatch_ns),
            deadline_ns: time(row.deadline_ns),
            missed: row.missed,
            lateness_ns: self.lateness_ns,
            exec_ns: self.exec_ns,
            rest: row.rest.clone(),
        }
    }
}

/// A number times `scale`: exact for whole numbers, rounded otherwise.
fn scaled(cell: &str, scale: u64) -> Option<i128> {
    if let Ok(whole) = cell.parse::<i64>() {
        return Some(i128::from(whole) * i128::from(scale));
    }
    let value = cell.parse::<f64>().ok().filter(|value| value.is_finite())? * scale as f64;
    // No clock and no duration is larger than this, and the sum of two still fits.
    (value.abs() < 1e24).then_some(value.round() as i128)
}

fn flag(cell: &str) -> Result<bool, &'static str> {
    match cell.to_lowercase().as_str() {
        "1" | "true" | "yes" => Ok(true),
        "0" | "false" | "no" => Ok(false),
        _ => Err("0 or 1"),
    }
}
