//! What cycles and a device's own times tell of data in which no CPU is recorded: which kind of core the
//! windows ran on, and how much of what the caller saw was transport. Shown; it never decides a verdict.
//!
//! A kind of core takes its own number of cycles per instruction for a kernel, at any frequency. So a
//! cell ran on one kind where these are close to each other, or where they have one mode at a steady
//! frequency. Cold caches vary them, too: they do not count where the frequency alone tells.

use flyball_run::Windows;
use flyball_stats::{self as stats, ModeOptions};

use super::cell::CellData;
use super::rows::CellRows;
use super::source::Context;
use super::words;
use crate::model::{Finding, InferredCore, Transport};

/// Windows are of one kind where the upper twentieth of a figure is at most this many times the lower.
const ALIKE: f64 = 1.25;
/// Windows that are shorter say more of the counters than of the core, microseconds.
const SHORT_US: f64 = 5.0;
/// Delivered above claimed by more than this is another core's clock.
const ABOVE_CLAIM: f64 = 1.10;
/// What a single kind of core is called.
const ONE: &str = "one kind";
/// The kind of core that is faster than the one whose frequency was claimed.
const FASTER: &str = "P";

/// The kind of core that a cell's windows ran on; none where a CPU was recorded or no cycles were.
pub(super) fn infer(context: &Context<'_>, rows: &CellRows) -> Option<InferredCore> {
    let windows = &context.run.tables.windows;
    if !windows.cpu_before.is_all_null() || windows.cycles.is_all_null() {
        return None;
    }
    let counted: Option<Vec<[f64; 3]>> = rows.rows().map(|row| counted(windows, row)).collect();
    let counted = counted.filter(|counted| !counted.is_empty())?;
    let sorted = |of: fn(&[f64; 3]) -> f64| {
        let mut values: Vec<f64> = counted.iter().map(of).collect();
        stats::sort(&mut values);
        values
    };
    if stats::quantile(&sorted(|values| values[2]), 0.5) < SHORT_US {
        return None;
    }
    let alike =
        |values: &[f64]| stats::quantile(values, 0.95) / stats::quantile(values, 0.05) <= ALIKE;
    let (mhz, work) = (sorted(|values| values[0]), sorted(|values| values[1]));
    let (low_mhz, high_mhz) = (stats::quantile(&mhz, 0.01), stats::quantile(&mhz, 0.99));
    let claimed_mhz = claimed_mhz(context, &rows.condition);
    // Below its own claim a core may be any; an x86 core may boost above it.
    let faster = is_arm(context) && claimed_mhz.is_some_and(|claim| low_mhz > claim * ABOVE_CLAIM);
    let one_mode =
        || stats::find_modes(&work, &ModeOptions::default()).is_ok_and(|modes| !modes.is_mixture());
    let one = alike(&work) || (alike(&mhz) && (faster || one_mode()));
    one.then(|| InferredCore {
        kind: if faster { FASTER } else { ONE }.to_owned(),
        low_mhz,
        high_mhz,
        claimed_mhz,
    })
}

/// Frequency in megahertz, cycles per instruction (per window, where none are recorded), and length in
/// microseconds of one window.
fn counted(windows: &Windows, row: usize) -> Option<[f64; 3]> {
    let cycles = windows.cycles.get(row)? as f64;
    let us = *windows.exec_ns.get(row)? as f64 / 1e3;
    let instructions = match windows.instructions.is_all_null() {
        true => 1.0,
        false => windows.instructions.get(row)? as f64,
    };
    (us > 0.0 && instructions > 0.0).then_some([cycles / us, cycles / instructions, us])
}

/// The highest frequency that was claimed under a condition.
fn claimed_mhz(context: &Context<'_>, condition: &str) -> Option<f64> {
    let table = &context.run.tables.frequency;
    let own =
        (0..table.len()).filter(|row| table.condition.get(*row).is_none_or(|of| of == condition));
    own.filter_map(|row| table.claimed_khz.get(row)).max().map(|khz| khz as f64 / 1e3)
}

/// Whether the machine is an Arm one, whose cores do not run above what they claim.
fn is_arm(context: &Context<'_>) -> bool {
    let machine = context.run.manifest.machine.as_ref();
    let told = machine.map(|machine| [&machine.cpu_model, &machine.kernel]);
    told.into_iter().flatten().flatten().any(|text| {
        let text = text.to_lowercase();
        ["aarch64", "arm64", "asahi", "apple"].iter().any(|word| text.contains(word))
    })
}

/// How much of what the caller saw was transport; none where nothing was sent.
pub(super) fn transport(windows: &Windows, rows: &CellRows) -> Option<Transport> {
    if windows.transport_ns.is_all_null() {
        return None;
    }
    let both = |row: usize| Some((windows.transport_ns.get(row)?, *windows.exec_ns.get(row)?));
    let known: Vec<(u64, u64)> = rows.rows().filter_map(both).collect();
    let median = |of: fn(&(u64, u64)) -> u64| {
        let mut values: Vec<f64> = known.iter().map(|times| of(times) as f64 / 1e3).collect();
        stats::median_in_place(&mut values)
    };
    (!known.is_empty()).then(|| Transport {
        total_us: median(|(transport, exec)| transport + exec),
        execution_us: median(|(_, exec)| *exec),
        transport_us: median(|(transport, _)| *transport),
    })
}

/// `2.99 to 3.24 GHz by their cycles, faster than the claimed 2.06 GHz: P cores, inferred`.
pub(super) fn placement(cells: &[&CellData]) -> Option<String> {
    let inferred: Vec<&InferredCore> =
        cells.iter().filter_map(|cell| cell.model.placement.inferred.as_ref()).collect();
    let low = inferred.iter().map(|core| core.low_mhz).reduce(f64::min)?;
    let high = inferred.iter().map(|core| core.high_mhz).reduce(f64::max)?;
    let faster = inferred.iter().filter(|core| core.kind == FASTER).count();
    let claim = inferred.iter().filter_map(|core| core.claimed_mhz).reduce(f64::max);
    let ghz = |mhz: f64| format!("{:.2}", mhz / 1e3);
    let claim = match claim {
        Some(claim) => format!(" ({} GHz claimed, of cpu0)", ghz(claim)),
        None => String::new(),
    };
    let which = match faster {
        all if all == inferred.len() => "P cores, faster than the one whose frequency is claimed",
        0 => "each on one kind of core, which one is not known",
        _ => "some on P cores, faster than the one whose frequency is claimed",
    };
    let left = match cells.len() - inferred.len() {
        0 => String::new(),
        left => format!("; {left} of {} cells are too short or too mixed to tell", cells.len()),
    };
    Some(format!(
        "inferred by cycles over execution time: {} to {} GHz delivered{claim}, {which}{left}",
        ghz(low),
        ghz(high)
    ))
}

/// One finding per run: what of the time that the caller saw was execution on the device.
pub(super) fn finding(cells: &[&CellData], prefix: &str) -> Option<Finding> {
    let of = |cell: &&CellData| {
        let transport = cell.model.transport.as_ref()?;
        let (execution, total) = (transport.execution_us, transport.total_us);
        let text = format!(
            "{} {} of {} us",
            cell.model.workload,
            words::latency(execution),
            words::latency(total)
        );
        Some((execution / total, text))
    };
    let mut each: Vec<(f64, String)> = cells.iter().filter_map(of).collect();
    // Most transport first.
    each.sort_by(|a, b| a.0.total_cmp(&b.0));
    let each: Vec<String> = each.into_iter().map(|(_, text)| text).collect();
    (!each.is_empty()).then(|| Finding {
        object: "transport".to_owned(),
        text: format!(
            "{prefix}on the device {}; the rest is transport and in no figure of execution",
            each.join(", ")
        ),
        hint: None,
    })
}
