//! `frequency-log.csv`: what sysfs claimed, about once a second, on CLOCK_REALTIME.

use std::path::Path;

use fs_err as fs;

use super::RunFolder;
use crate::reading::record_file;
use flyball_run::run::{Run, Warning};
use flyball_run::tables::FrequencySample;
use flyball_run::tally::Tally;
use flyball_run::{Error, Result};

const FILE: &str = "frequency-log.csv";
const SUFFIX: &str = "_freq_khz";

/// Adds the folder's log, if it has one; returns the governor that the log names throughout.
pub(super) fn read(run: &mut Run, root: &Path, folder: &RunFolder) -> Result<Option<String>> {
    let path = folder.dir.join(FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let file = fs::File::open(&path).map_err(|error| Error::io(&path, "to read it", &error))?;
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(file);
    let header = reader.byte_headers().cloned().unwrap_or_default();
    let layout = Layout::of(&header, &path)?;
    let mut tally = Tally { lines: 1, ..Tally::default() };
    let mut governors: Vec<String> = Vec::new();
    let mut record = csv::ByteRecord::new();
    let (mut last_ns, mut backwards) = (0, 0_u64);
    loop {
        let more = reader.read_byte_record(&mut record);
        tally.lines = tally.lines.max(reader.position().line().saturating_sub(1));
        match more {
            Ok(false) => break,
            Ok(true) => match layout.row(&record) {
                Ok(row) => {
                    backwards += u64::from(row.t_ns < last_ns);
                    last_ns = row.t_ns;
                    row.add(run, &layout, &folder.condition, &mut governors);
                    tally.rows += 1;
                }
                Err(why) => tally.bad(false, why),
            },
            Err(error) => {
                tally.bad(false, error.to_string());
                if matches!(error.kind(), csv::ErrorKind::Io(_)) {
                    break;
                }
            }
        }
    }
    finish(run, root, &path, &tally, backwards)?;
    Ok(one_governor(run, governors, folder))
}

fn finish(run: &mut Run, root: &Path, path: &Path, tally: &Tally, backwards: u64) -> Result<()> {
    if tally.left_out() > 0 {
        tally.check(&path.display().to_string(), "sample of the frequency log")?;
    }
    let name = super::short_name(root, path);
    if backwards > 0 {
        run.warnings.push(Warning {
            object: name.clone(),
            message: format!("the clock goes backwards {backwards} times"),
            hint: Some("the wall clock was set during the run".to_owned()),
        });
    }
    let bytes = fs::metadata(path).map_or(0, |meta| meta.len());
    record_file(run, name, bytes, tally);
    Ok(())
}

fn one_governor(run: &mut Run, mut governors: Vec<String>, folder: &RunFolder) -> Option<String> {
    if governors.len() > 1 {
        run.warnings.push(Warning {
            object: format!("{}/{FILE}", crate::reading::file_name(&folder.dir)),
            message: format!("more than one governor: {}", governors.join(", ")),
            hint: Some(
                "the condition is not one: split the run where the governor changes".to_owned(),
            ),
        });
        return None;
    }
    governors.pop()
}

/// Where the columns are.
struct Layout {
    time: usize,
    governor: Option<usize>,
    /// Clock domain and its column.
    domains: Vec<(String, usize)>,
}

struct Sample {
    t_ns: u64,
    governor: Option<String>,
    claimed_khz: Vec<Option<u64>>,
}

impl Layout {
    fn of(header: &csv::ByteRecord, path: &Path) -> Result<Layout> {
        let names: Vec<String> =
            header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let at = |wanted: &str| names.iter().position(|name| name == wanted);
        let domains: Vec<_> = names
            .iter()
            .enumerate()
            .filter_map(|(column, name)| Some((name.strip_suffix(SUFFIX)?.to_owned(), column)))
            .collect();
        match at("timestamp_ns") {
            Some(time) if !domains.is_empty() => {
                Ok(Layout { time, governor: at("governor"), domains })
            }
            _ => Err(Error::bad_input(
                format!("{}:1", path.display()),
                "the columns timestamp_ns and policyN_freq_khz",
                names.join(","),
                "remove or repair the log; the windows import without it",
            )),
        }
    }

    fn row(&self, record: &csv::ByteRecord) -> Result<Sample, String> {
        let text = |column: usize| record.get(column).map(|cell| String::from_utf8_lossy(cell));
        let number = |column: usize| match text(column) {
            None => Err(format!("no column {}", column + 1)),
            Some(cell) if cell.is_empty() => Ok(None),
            Some(cell) => cell.parse::<u64>().map(Some).map_err(|_| {
                format!("column {}: expected a whole number, found {cell:?}", column + 1)
            }),
        };
        let t_ns = number(self.time)?.ok_or("no timestamp")?;
        let claimed_khz = self
            .domains
            .iter()
            // Zero is how the log writes a file that could not be read.
            .map(|(_, column)| number(*column).map(|khz| khz.filter(|&khz| khz > 0)))
            .collect::<Result<_, _>>()?;
        let governor = self.governor.and_then(text).map(std::borrow::Cow::into_owned);
        Ok(Sample { t_ns, governor: governor.filter(|name| !name.is_empty()), claimed_khz })
    }
}

impl Sample {
    fn add(self, run: &mut Run, layout: &Layout, condition: &str, governors: &mut Vec<String>) {
        if let Some(governor) = &self.governor
            && !governors.contains(governor)
        {
            governors.push(governor.clone());
        }
        for ((domain, _), claimed_khz) in layout.domains.iter().zip(self.claimed_khz) {
            run.tables.frequency.push(FrequencySample {
                t_ns: self.t_ns,
                domain: domain.clone(),
                claimed_khz,
                delivered_khz: None,
                source: FILE.to_owned(),
                condition: Some(condition.to_owned()),
                trial: None,
                governor: self.governor.clone(),
            });
        }
    }
}
