//! One line of CORTEX telemetry: a window, or a remark about the system.

use std::borrow::Cow;

use serde::Deserialize;

use super::line_shape::{Fields, LineShapes};
use flyball_run::blocks::Block;
use flyball_run::column::{Bits, Labels, Nullable, Store};
use flyball_run::table::Table;
use flyball_run::tables::{Window, Windows};
use flyball_run::tally::Tally;

/// No window of a real-time kernel lasts a day.
const DURATION_NS_MAX: u64 = 86_400_000_000_000;

/// A shorter execution holds too few steps of the device's clock (42 ns on an Apple M1), and too much
/// of the counters' own work, for a frequency.
const FREQUENCY_NS_MIN: u64 = 5_000;

/// Frequencies that no core has: a counter that was not read, or that counted something else.
const FREQUENCY_KHZ: std::ops::RangeInclusive<u64> = 10_000..=10_000_000;

/// A measured window as CORTEX writes it. What the kernel took on the device that ran it, and its
/// counters there, are in recordings of 2026 and later; each of these may be missing.
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
    /// On the device's own clock, which need not be the harness's.
    #[serde(default)]
    device_tstart_ns: Option<u64>,
    #[serde(default)]
    device_tend_ns: Option<u64>,
    #[serde(default)]
    window_failed: Option<u64>,
    #[serde(default)]
    error_code: Option<i32>,
    #[serde(default)]
    cpu_freq_mhz: Option<f64>,
    #[serde(default)]
    pmu_cycle_count: Option<u64>,
    #[serde(default)]
    pmu_instruction_count: Option<u64>,
    #[serde(default)]
    pmu_backend_stall_cycles: Option<u64>,
    #[serde(default)]
    osnoise_total_ns: Option<u64>,
    #[serde(default, borrow)]
    adapter_name: Option<Cow<'a, str>>,
    #[serde(default)]
    dtype: Option<u32>,
}

/// The numbers of a line, as [`Line`] has them.
const NUMBERS: [&str; 22] = [
    "window_index",
    "release_ts_ns",
    "deadline_ts_ns",
    "start_ts_ns",
    "end_ts_ns",
    "deadline_missed",
    "warmup",
    "repeat",
    "W",
    "H",
    "C",
    "Fs",
    "device_tstart_ns",
    "device_tend_ns",
    "window_failed",
    "error_code",
    "cpu_freq_mhz",
    "pmu_cycle_count",
    "pmu_instruction_count",
    "pmu_backend_stall_cycles",
    "osnoise_total_ns",
    "dtype",
];

/// Its texts.
const TEXTS: [&str; 2] = ["plugin", "adapter_name"];

impl<'a> Line<'a> {
    /// None where a field is missing that every window has, or a number is too large for it.
    fn of(fields: &Fields<'a, 22, 2>) -> Option<Line<'a>> {
        fn small<T: TryFrom<u64>>(number: Option<u64>) -> Option<Option<T>> {
            number.map(T::try_from).transpose().ok()
        }
        let [
            window_index,
            release_ts_ns,
            deadline_ts_ns,
            start_ts_ns,
            end_ts_ns,
            deadline_missed,
            warmup,
            repeat,
            window,
            hop,
            channels,
            rate_hz,
            device_tstart_ns,
            device_tend_ns,
            window_failed,
            error_code,
            cpu_freq_mhz,
            pmu_cycle_count,
            pmu_instruction_count,
            pmu_backend_stall_cycles,
            osnoise_total_ns,
            dtype,
        ] = fields.numbers;
        let [plugin, adapter_name] = fields.texts;
        Some(Line {
            plugin: Cow::Borrowed(plugin?),
            window_index: window_index?,
            release_ts_ns: release_ts_ns?,
            deadline_ts_ns: deadline_ts_ns?,
            start_ts_ns: start_ts_ns?,
            end_ts_ns: end_ts_ns?,
            deadline_missed,
            warmup,
            repeat: small(repeat)?,
            window: small(window)?,
            hop: small(hop)?,
            channels: small(channels)?,
            rate_hz: small(rate_hz)?,
            device_tstart_ns,
            device_tend_ns,
            window_failed,
            error_code: small(error_code)?,
            cpu_freq_mhz: cpu_freq_mhz.map(|mhz| mhz as f64),
            pmu_cycle_count,
            pmu_instruction_count,
            pmu_backend_stall_cycles,
            osnoise_total_ns,
            adapter_name: adapter_name.map(Cow::Borrowed),
            dtype: small(dtype)?,
        })
    }
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
    pub governor: Option<String>,
    pub device_hostname: Option<String>,
    pub device_cpu: Option<String>,
    pub device_os: Option<String>,
}

/// A workload's parameters, from its first window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Facts {
    pub workload: String,
    pub window: Option<u32>,
    pub hop: Option<u32>,
    pub channels: Option<u32>,
    pub rate_hz: Option<u32>,
    pub dtype: Option<u32>,
    pub adapter: Option<String>,
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
    /// The frequency that the system claimed, with the release of its window.
    pub claimed: Vec<(u64, u64)>,
    pub tally: Tally,
}

pub(super) fn parse(block: &Block) -> Parsed {
    let mut parsed = Parsed::default();
    let mut shapes = LineShapes::new(&NUMBERS, &TEXTS);
    match block.text() {
        // Checked once for the block rather than for each string in it.
        Some(lines) => lines.for_each(|(line, whole)| {
            let plain = shapes.read(line).and_then(|fields| Line::of(&fields));
            let read = plain.map_or_else(|| serde_json::from_str(line), Ok);
            parsed.line(read, line.as_bytes(), whole);
        }),
        None => block.lines().for_each(|(line, whole)| {
            parsed.line(serde_json::from_slice(line), line, whole);
        }),
    }
    parsed.windows.fill();
    parsed
}

impl Parsed {
    fn line(&mut self, read: serde_json::Result<Line<'_>>, text: &[u8], whole: bool) {
        self.tally.lines += 1;
        let outcome = match read {
            Ok(line) => self.window(&line),
            Err(_) if text.iter().all(u8::is_ascii_whitespace) => Ok(()),
            Err(error) => self.other(text).ok_or_else(|| error.to_string()),
        };
        if let Err(why) = outcome {
            self.tally.bad(!whole, why);
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

    /// Adds a row, of the columns that CORTEX has.
    fn push(&mut self, row: Window) {
        let windows = &mut self.windows;
        let at = windows.end_ns.len();
        windows.repeat.push(row.repeat);
        windows.index.push(row.index);
        windows.warmup.push(row.warmup);
        windows.release_ns.push(row.release_ns);
        windows.dispatch_ns.push(row.dispatch_ns);
        windows.end_ns.push(row.end_ns);
        windows.lateness_ns.push(row.lateness_ns);
        windows.exec_ns.push(row.exec_ns);
        windows.response_ns.push(row.response_ns);
        windows.deadline_ns.push(row.deadline_ns);
        windows.missed.push(row.missed);
        fn put<T: Bits>(column: &mut Nullable<T>, at: usize, value: Option<T>) {
            if value.is_some() {
                column.fill(at);
                column.push(value);
            }
        }
        put(&mut windows.transport_ns, at, row.transport_ns);
        put(&mut windows.cycles, at, row.cycles);
        put(&mut windows.instructions, at, row.instructions);
        put(&mut windows.stalled_cycles, at, row.stalled_cycles);
        put(&mut windows.noise_ns, at, row.noise_ns);
        put(&mut windows.delivered_khz, at, row.delivered_khz);
        put(&mut windows.exit_status, at, row.exit_status);
    }

    fn window(&mut self, line: &Line<'_>) -> Result<(), String> {
        let row = row(line)?;
        let claimed = line.cpu_freq_mhz.map(|mhz| (mhz * 1e3).round() as u64);
        self.claimed.extend(claimed.filter(|khz| *khz > 0).map(|khz| (row.release_ns, khz)));
        self.push(row);
        self.workload.push(&line.plugin);
        self.tally.rows += 1;
        if self.workload.names().len() > self.facts.len() {
            self.facts.push(Facts {
                workload: line.plugin.clone().into_owned(),
                window: line.window,
                hop: line.hop,
                channels: line.channels,
                rate_hz: line.rate_hz,
                dtype: line.dtype,
                adapter: line.adapter_name.as_ref().map(|name| name.clone().into_owned()),
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
    let harness_ns = line.end_ts_ns.checked_sub(line.start_ts_ns).ok_or_else(backwards)?;
    let device_ns = on_device(line, harness_ns)?;
    let exec_ns = device_ns.unwrap_or(harness_ns);
    let failed = line.window_failed.is_some_and(|flag| flag != 0);
    let counted = |count: Option<u64>| count.filter(|count| *count > 0);
    let cycles = counted(line.pmu_cycle_count);
    let lateness_ns = line.start_ts_ns.wrapping_sub(line.release_ts_ns) as i64;
    if harness_ns > DURATION_NS_MAX || lateness_ns.unsigned_abs() > DURATION_NS_MAX {
        return Err(format!(
            "out of range: {harness_ns} ns of execution, {lateness_ns} ns of lateness; expected below a day"
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
        response_ns: lateness_ns + harness_ns as i64,
        deadline_ns: line.deadline_ts_ns,
        missed: line.deadline_missed.map_or(line.end_ts_ns > line.deadline_ts_ns, |flag| flag != 0),
        transport_ns: device_ns.map(|device_ns| harness_ns - device_ns),
        cycles,
        instructions: counted(line.pmu_instruction_count),
        stalled_cycles: counted(line.pmu_backend_stall_cycles),
        noise_ns: line.osnoise_total_ns,
        delivered_khz: cycles.zip(device_ns).and_then(|(cycles, ns)| delivered_khz(cycles, ns)),
        exit_status: failed.then(|| line.error_code.filter(|code| *code != 0).unwrap_or(1)),
        ..Window::default()
    })
}

/// What the kernel took on the device; none where the device did not say, or the window failed. Only a
/// difference of the device's own times counts: its clock may be another one than the harness's.
fn on_device(line: &Line<'_>, harness_ns: u64) -> Result<Option<u64>, String> {
    let (Some(start), Some(end)) = (line.device_tstart_ns, line.device_tend_ns) else {
        return Ok(None);
    };
    if (start, end) == (0, 0) || line.window_failed.is_some_and(|flag| flag != 0) {
        return Ok(None);
    }
    match end.checked_sub(start) {
        None => Err(format!("clock of the device going backwards: end {end} before start {start}")),
        Some(ns) if ns > harness_ns => Err(format!(
            "{ns} ns on the device are more than the {harness_ns} ns from start to end"
        )),
        Some(ns) => Ok(Some(ns)),
    }
}

fn delivered_khz(cycles: u64, ns: u64) -> Option<u64> {
    let khz = cycles.checked_mul(1_000_000)? / ns.max(1);
    (ns >= FREQUENCY_NS_MIN && FREQUENCY_KHZ.contains(&khz)).then_some(khz)
}
