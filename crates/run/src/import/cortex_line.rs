//! One line of CORTEX telemetry: a window, or a remark about the system.

use std::borrow::Cow;

use serde::Deserialize;

use crate::blocks::Block;
use crate::column::Labels;
use crate::tables::{Window, Windows};
use crate::tally::Tally;

/// No window of a real-time kernel lasts a day.
const DURATION_NS_MAX: u64 = 86_400_000_000_000;

/// A measured window as CORTEX writes it.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    plugin: Cow<'a, str>,
    window_index: u64,
    release_ts_ns: u64,
    deadline_ts_ns: u64,
    start_ts_ns: u64,
    end_ts_ns: u64,
    #[serde(default)]
    deadline_missed: Option<u64>,
    #[serde(default)]
    warmup: Option<u64>,
    #[serde(default)]
    repeat: Option<u32>,
    #[serde(default, rename = "W")]
    window: Option<u32>,
    #[serde(default, rename = "H")]
    hop: Option<u32>,
    #[serde(default, rename = "C")]
    channels: Option<u32>,
    #[serde(default, rename = "Fs")]
    rate_hz: Option<u32>,
}

/// What CORTEX knows of the system; every field may be missing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct SystemInfo {
    pub os: Option<String>,
    pub cpu: Option<String>,
    pub hostname: Option<String>,
    pub cpu_count: Option<u32>,
    pub total_ram_mb: Option<u64>,
    pub thermal_celsius: Option<f64>,
}

/// A workload's parameters, from its first window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Facts {
    pub workload: String,
    pub window: Option<u32>,
    pub hop: Option<u32>,
    pub channels: Option<u32>,
    pub rate_hz: Option<u32>,
    pub deadline_ns: u64,
}

/// The rows of a block. `workload` and `condition` of `windows` are still to be set: labels cost
/// less when they are coded once per block.
#[derive(Default)]
pub(super) struct Parsed {
    pub windows: Windows,
    pub workload: Labels,
    pub facts: Vec<Facts>,
    pub system: Option<SystemInfo>,
    pub tally: Tally,
}

pub(super) fn parse(block: &Block) -> Parsed {
    let mut parsed = Parsed::default();
    for (text, whole) in block.lines() {
        parsed.tally.lines += 1;
        if let Err(why) = parsed.line(text) {
            parsed.tally.bad(!whole, why);
        }
    }
    parsed
}

impl Parsed {
    fn line(&mut self, text: &[u8]) -> Result<(), String> {
        match serde_json::from_slice::<Line<'_>>(text) {
            Ok(line) => self.window(&line),
            Err(_) if text.iter().all(u8::is_ascii_whitespace) => Ok(()),
            Err(error) => self.other(text).ok_or_else(|| error.to_string()),
        }
    }

    /// A line that is not a window but belongs: the system's description.
    fn other(&mut self, text: &[u8]) -> Option<()> {
        #[derive(Deserialize)]
        struct Tagged<'a> {
            #[serde(borrow, rename = "_type")]
            tag: Cow<'a, str>,
        }
        let tagged: Tagged<'_> = serde_json::from_slice(text).ok()?;
        if tagged.tag == "system_info" && self.system.is_none() {
            self.system = Some(serde_json::from_slice(text).ok()?);
        }
        Some(())
    }

    fn window(&mut self, line: &Line<'_>) -> Result<(), String> {
        let row = row(line)?;
        self.windows.push(row);
        self.workload.push(&line.plugin);
        self.tally.rows += 1;
        if self.workload.names().len() > self.facts.len() {
            self.facts.push(Facts {
                workload: line.plugin.clone().into_owned(),
                window: line.window,
                hop: line.hop,
                channels: line.channels,
                rate_hz: line.rate_hz,
                deadline_ns: line.deadline_ts_ns.saturating_sub(line.release_ts_ns),
            });
        }
        Ok(())
    }
}

/// The row of a line, or why there is none.
fn row(line: &Line<'_>) -> Result<Window, String> {
    let backwards = || {
        format!("clock going backwards: end {} before start {}", line.end_ts_ns, line.start_ts_ns)
    };
    let exec_ns = line.end_ts_ns.checked_sub(line.start_ts_ns).ok_or_else(backwards)?;
    let lateness_ns = line.start_ts_ns.wrapping_sub(line.release_ts_ns) as i64;
    if exec_ns > DURATION_NS_MAX || lateness_ns.unsigned_abs() > DURATION_NS_MAX {
        return Err(format!(
            "out of range: {exec_ns} ns of execution, {lateness_ns} ns of lateness; expected below a day"
        ));
    }
    if line.deadline_ts_ns < line.release_ts_ns {
        return Err(format!(
            "deadline {} before release {}",
            line.deadline_ts_ns, line.release_ts_ns
        ));
    }
    Ok(Window {
        repeat: line.repeat.unwrap_or(1),
        index: line.window_index,
        warmup: line.warmup.is_some_and(|flag| flag != 0),
        release_ns: line.release_ts_ns,
        dispatch_ns: line.start_ts_ns,
        end_ns: line.end_ts_ns,
        lateness_ns,
        exec_ns,
        response_ns: lateness_ns + exec_ns as i64,
        deadline_ns: line.deadline_ts_ns,
        missed: line.deadline_missed.map_or(line.end_ts_ns > line.deadline_ts_ns, |flag| flag != 0),
        ..Window::default()
    })
}
