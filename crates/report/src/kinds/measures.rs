//! Figures of ramp-ups and switches one by one: what rules are applied to, and what CSV holds.

use crate::kinds::rampup::tables::{idle, number};
use crate::kinds::switches::tables::{mhz, place};
use crate::model::{Estimate, Report};
use crate::table::{Cell, Column, Table};

/// One figure, in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Run, machine or board.
    pub run: String,
    /// Condition, variant or set-up.
    pub condition: String,
    /// What it is of: `to 95 % after 5 ms`, `detect 1500 to 2500 MHz`.
    pub figure: String,
    /// `median`, `p90`, `p99`, `mean`.
    pub statistic: &'static str,
    /// Its value with its interval; none where it was never reached.
    pub us: Option<Estimate>,
}

/// Every figure of ramp-ups and switches, what the others are compared with first.
#[must_use]
pub fn all(report: &Report) -> Vec<Measure> {
    let mut found = rampups(report);
    found.extend(switches(report));
    found
}

fn rampups(report: &Report) -> Vec<Measure> {
    let mut found = Vec::new();
    for run in &report.rampups {
        for cell in &run.cells {
            let shares = cell.times.iter().map(|time| (format!("{} %", time.level), time));
            let levels = cell.utilization.iter();
            let levels = levels.map(|time| (format!("utilisation {}", time.level), time));
            for (level, time) in shares.chain(levels) {
                let quantiles = [("median", time.quantiles.median), ("p90", time.quantiles.p90)];
                for (statistic, value) in quantiles {
                    // To a picosecond: the digits behind are those of the conversion.
                    let us = |ms: f64| (ms * 1e9).round() / 1e6;
                    let us = value.map(|at| Estimate {
                        value: us(at.estimate.value),
                        low: at.estimate.low.map(us),
                        high: at.estimate.high.map(us),
                    });
                    found.push(Measure {
                        run: run.name.clone(),
                        condition: cell.condition.clone(),
                        figure: format!("to {level} after {}", idle(cell)),
                        statistic,
                        us,
                    });
                }
            }
        }
    }
    found
}

fn switches(report: &Report) -> Vec<Measure> {
    let mut found = Vec::new();
    for run in &report.switches {
        let mut add = |condition: String, figure: String, statistic, value, low, high| {
            let us = Some(Estimate { value, low, high });
            found.push(Measure { run: run.name.clone(), condition, figure, statistic, us });
        };
        for switch in &run.switches {
            let time =
                if switch.method == "detect" { &switch.transition_us } else { &switch.write_us };
            let Some(time) = time else { continue };
            let (from, to) = (mhz(switch.from_khz), mhz(switch.to_khz));
            let figure = format!("{} {from} to {to} MHz", switch.method);
            for (statistic, at) in [("median", time.median), ("p99", time.p99)] {
                let place = place(&switch.setup, &switch.domain);
                add(place, figure.clone(), statistic, at.value, at.low, at.high);
            }
        }
        for pair in run.windowed.iter().filter(|pair| pair.refused.is_none()) {
            let (from, to) = (mhz(pair.from_khz), mhz(pair.to_khz));
            let figure = format!("pair {from} and {to} MHz, {} us", number(pair.window_us));
            for (statistic, at) in [("median", pair.median_us), ("mean", pair.mean_us)] {
                let place = place(&pair.setup, &pair.domain);
                add(place, figure.clone(), statistic, at.value, at.low, at.high);
            }
        }
    }
    found
}

/// One line per figure.
pub(crate) fn table(report: &Report) -> Table {
    let words = ["run", "condition", "figure", "statistic"].map(Column::words);
    let value = Column::number("value us").interval("95 %");
    let rows = all(report).into_iter().map(|measure| {
        let mut row = [measure.run, measure.condition, measure.figure].map(Cell::text).to_vec();
        row.push(Cell::text(measure.statistic));
        row.push(measure.us.as_ref().map_or_else(|| Cell::text("-"), Cell::micros));
        row
    });
    Table::new("measures", "", words.into_iter().chain([value]).collect()).rows(rows)
}
