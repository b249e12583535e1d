//! Findings as text.

mod grids;
mod table;

use crate::kinds::switches::analysis::{Findings, Switch};
use crate::kinds::switches::windowed::Windowed;
use crate::text;
use flyball_stats::{Distribution, Estimate};
use grids::grids;
use table::Table;

/// The findings, `width` columns wide; every line ends in a line end.
pub fn render(findings: &Findings, width: usize) -> String {
    let mut lines = vec![title(findings)];
    detected(findings, &mut lines);
    written(findings, &mut lines);
    pairs(findings, &mut lines);
    baselines(findings, &mut lines);
    grids(findings, &mut lines);
    outside(findings, &mut lines);
    list("Refused", &findings.refused, width, &mut lines);
    list("Notes", &findings.notes, width, &mut lines);
    if findings.switches.is_empty() && findings.windowed.is_empty() {
        lines.push("No switch was measured.".to_owned());
    }
    lines.join("\n") + "\n"
}

fn title(findings: &Findings) -> String {
    let machine = findings.machine.as_deref().map_or(String::new(), |name| format!("  {name}"));
    let declared: Vec<String> = findings
        .declared
        .iter()
        .map(|of| format!("{} {:.0} us", of.domain, of.latency_us))
        .collect();
    let declared = match declared.is_empty() {
        true => String::new(),
        false => format!(
            "\ndeclared by the driver (cpuinfo_transition_latency): {}",
            declared.join(", ")
        ),
    };
    text::plain(&findings.name) + &text::plain(&machine) + &declared
}

/// `365`, `21.4`, `1.03`: three digits or all of them.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => text::number(value, 0),
        v if v >= 9.995 => text::number(value, 1),
        _ => text::number(value, 2),
    }
}

/// `870 [866, 875]`.
pub(crate) fn with_interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", short(estimate.value), short(low), short(high))
        }
        _ => short(estimate.value),
    }
}

/// `600`, `1332.8`.
pub(crate) fn mhz(khz: u64) -> String {
    let mhz = khz as f64 / 1e3;
    if khz.is_multiple_of(1000) { format!("{mhz:.0}") } else { format!("{mhz:.1}") }
}

/// What a set-up or a domain is called before a row; nothing where there is but one.
pub(crate) fn place(setup: &Option<String>, domain: &Option<String>) -> String {
    let parts: Vec<&str> = [setup, domain].into_iter().flatten().map(String::as_str).collect();
    text::plain(&parts.join(" "))
}

fn outside(findings: &Findings, lines: &mut Vec<String>) {
    if findings.outside.is_empty() {
        return;
    }
    lines.extend([
        String::new(),
        "Seen from outside: from the start of the write to the P-state, and from there until the new \
         speed was found, us"
            .to_owned(),
    ]);
    let mut table = Table::new(&[
        "where",
        "method",
        "to MHz",
        "seen",
        "P-state",
        "found after",
        "step",
        "loop",
    ]);
    for one in &findings.outside {
        let median = |of: &Option<Distribution>| {
            of.as_ref().map_or_else(dash, |of| with_interval(&of.median))
        };
        table.row(vec![
            place(&None, &one.domain),
            one.method.clone(),
            mhz(one.to_khz),
            format!("{} of {}", one.seen, one.trials),
            median(&one.arrives_us),
            median(&one.found_after_us),
            one.step_us.map_or_else(dash, short),
            one.loop_us.map_or_else(dash, short),
        ]);
    }
    lines.extend(table.lines());
}

fn detected(findings: &Findings, lines: &mut Vec<String>) {
    let all: Vec<&Switch> =
        findings.switches.iter().filter(|switch| switch.method == "detect").collect();
    if all.is_empty() {
        return;
    }
    lines.extend([
        String::new(),
        "Transitions (detect): from the start of the write until work runs at the new speed, us"
            .to_owned(),
    ]);
    let mut table = Table::new(&[
        "where",
        "MHz",
        "valid",
        "p1",
        "median [95 %]",
        "p99",
        "corrected",
        "write",
        "stall",
        "loop",
        "fixed part",
        "+ wait",
    ]);
    for switch in all {
        let at = |pick: fn(&Distribution) -> Estimate| {
            switch.transition_us.as_ref().map_or_else(dash, |of| short(pick(of).value))
        };
        let split = switch.split.as_ref().filter(|split| split.fits);
        table.row(vec![
            place(&switch.setup, &switch.domain),
            format!("{} -> {}", mhz(switch.from_khz), mhz(switch.to_khz)),
            format!("{:.1} %", 100.0 * switch.valid_share()),
            at(|of| of.p01),
            switch.transition_us.as_ref().map_or_else(dash, |of| with_interval(&of.median)),
            at(|of| of.p99),
            switch.corrected_us.map_or_else(dash, |of| short(of.value)),
            switch.write_us.as_ref().map_or_else(dash, |of| short(of.median.value)),
            switch.stall_us.as_ref().map_or_else(dash, |of| short(of.median.value)),
            switch.loop_us.map_or_else(dash, short),
            split.map_or_else(dash, |split| with_interval(&split.fixed_us)),
            split.map_or_else(dash, |split| format!("0 to {:.2}", split.wait_us)),
        ]);
    }
    lines.extend(table.lines());
    for switch in findings.switches.iter().filter(|switch| switch.method == "detect") {
        for (why, count) in &switch.rejected {
            lines.push(format!(
                "  {} -> {} MHz: {count} of {} rejected: {}",
                mhz(switch.from_khz),
                mhz(switch.to_khz),
                switch.trials,
                text::plain(why)
            ));
        }
        if let Some(split) = switch.split.as_ref().filter(|split| !split.fits) {
            lines.push(format!(
                "  {} -> {} MHz: not split into wait and fixed part: the latencies are not uniform over \
                 the grid's period (misfit {:.2})",
                mhz(switch.from_khz),
                mhz(switch.to_khz),
                split.misfit
            ));
        }
    }
}

fn dash() -> String {
    "-".to_owned()
}

/// The writes, as a matrix per set-up and domain.
fn written(findings: &Findings, lines: &mut Vec<String>) {
    let all: Vec<&Switch> =
        findings.switches.iter().filter(|switch| switch.method == "direct").collect();
    let mut places: Vec<String> =
        all.iter().map(|switch| place(&switch.setup, &switch.domain)).collect();
    places.dedup();
    for at in places {
        let here: Vec<&&Switch> =
            all.iter().filter(|switch| place(&switch.setup, &switch.domain) == at).collect();
        let mut levels: Vec<u64> = here.iter().flat_map(|s| [s.from_khz, s.to_khz]).collect();
        levels.sort_unstable();
        levels.dedup();
        lines.extend([
            String::new(),
            format!("Writes (direct), median us, from row to column{}{at}; in (): no switch, the way to the driver alone",
                if at.is_empty() { "" } else { ", " }),
        ]);
        let names: Vec<String> = levels.iter().map(|khz| mhz(*khz)).collect();
        let header: Vec<&str> =
            std::iter::once("MHz").chain(names.iter().map(String::as_str)).collect();
        let mut table = Table::new(&header);
        for (from, name) in levels.iter().zip(&names) {
            let mut row = vec![name.clone()];
            for to in &levels {
                let found = here.iter().find(|s| s.from_khz == *from && s.to_khz == *to);
                let value = found.and_then(|switch| switch.write_us.as_ref());
                let shown = value.map_or_else(dash, |of| short(of.median.value));
                row.push(if from == to && value.is_some() { format!("({shown})") } else { shown });
            }
            table.row(row);
        }
        lines.extend(table.lines());
    }
}

fn pairs(findings: &Findings, lines: &mut Vec<String>) {
    if findings.windowed.is_empty() {
        return;
    }
    lines.extend([String::new(), "Pairs (windowed): time without work per switch, us".to_owned()]);
    let mut table = Table::new(&[
        "where",
        "MHz",
        "window",
        "runs",
        "median [95 %]",
        "mean [95 %]",
        "corrected",
        "",
    ]);
    for pair in &findings.windowed {
        let Windowed { setup, domain, from_khz, to_khz, .. } = pair;
        table.row(vec![
            place(setup, domain),
            format!("{} <-> {}", mhz(*from_khz), mhz(*to_khz)),
            format!("{:.0}", pair.window_us),
            pair.runs.to_string(),
            with_interval(&pair.median_us),
            with_interval(&pair.mean_us),
            pair.corrected_us.map_or_else(dash, |of| short(of.value)),
            pair.refused.as_ref().map_or_else(String::new, |_| "REFUSED".to_owned()),
        ]);
    }
    lines.extend(table.lines());
    for pair in &findings.windowed {
        if let Some(why) = &pair.refused {
            lines.push(format!(
                "  {} <-> {} MHz, {:.0} us: refused: {why}",
                mhz(pair.from_khz),
                mhz(pair.to_khz),
                pair.window_us
            ));
        }
    }
}

fn baselines(findings: &Findings, lines: &mut Vec<String>) {
    if findings.baselines.is_empty() {
        return;
    }
    lines.extend([String::new(), "Levels alone: scores".to_owned()]);
    let mut table = Table::new(&[
        "where",
        "MHz",
        "runs",
        "median",
        "spread",
        "mean",
        "outliers",
        "mean shifted",
    ]);
    for level in &findings.baselines {
        table.row(vec![
            place(&level.setup, &None),
            mhz(level.khz),
            level.n.to_string(),
            text::number(level.median, 1),
            text::number(level.spread, 1),
            text::number(level.mean, 1),
            format!("{} ({:.0} %)", level.outliers.len(), 100.0 * level.contamination),
            format!("{:+.2} %", 100.0 * level.mean_shift),
        ]);
    }
    lines.extend(table.lines());
}

fn list(heading: &str, items: &[String], width: usize, lines: &mut Vec<String>) {
    if items.is_empty() {
        return;
    }
    lines.extend([String::new(), heading.to_owned()]);
    for item in items {
        let wrapped = text::wrap(&text::plain(item), width.saturating_sub(4).max(20));
        for (number, line) in wrapped.iter().enumerate() {
            lines.push(format!("{}{line}", if number == 0 { "  - " } else { "    " }));
        }
    }
}
