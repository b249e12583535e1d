//! A hardware grid in the times at which switches took effect, found without being told.
//!
//! Some hardware acts only at multiples of a period of its own (Zen 2: 1 ms). Then the times of
//! effect, wherever the writes fell, share one phase:
//!
//! ```text
//! R(f) = | mean of exp(2 pi i f t) |      1 at f = 1 / period and its multiples, 1 / sqrt(n) elsewhere
//! ```
//! All frequencies between two bounds are looked at, over short stretches of the record (`search`);
//! of the peaks the lowest counts, because every multiple of a grid's frequency has one. Then the
//! stretches become longer and the frequency sharper, until the whole record is one (`refine`).
//! Series of different switches have phases of their own.
//!
//! Source of the test: Lord Rayleigh's; see Mardia and Jupp, "Directional Statistics" (2000),
//! section 6.3: n R^2 is exponential with mean 1 where the phases are random.

mod refine;
mod search;

use flyball_stats::Estimate;
use serde::{Deserialize, Serialize};

/// Shortest period that is looked for, unless the measurement is coarser.
pub const SHORTEST_NS: f64 = 20_000.0;
/// Longest.
pub const LONGEST_NS: f64 = 20_000_000.0;

/// The chance of a peak as high in times without a grid, over all frequencies looked at, must be
/// below ten to the power of this.
const FALSE_ALARM: f64 = -6.0;

/// Below this share of phase in common a grid explains too little of the times.
const LEAST_COHERENCE: f64 = 0.3;

/// Above this share of the effects' coherence the writes' own times are on the grid.
const WRITES_TOO: f64 = 0.5;

/// The times of the switches of one kind, in nanoseconds of one clock, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// When the new frequency was seen.
    pub effects: Vec<f64>,
    /// When the writes began, one for each.
    pub writes: Vec<f64>,
}

/// A grid.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grid {
    /// Its period in microseconds.
    pub period_us: Estimate,
    /// Share of phase in common, from 0 to 1.
    pub coherence: f64,
    /// The times' scatter about the grid in microseconds, one standard deviation.
    pub jitter_us: f64,
    /// Chance, as the exponent of ten, that times without a grid show such a peak anywhere.
    pub log10_false_alarm: f64,
    /// The same share for the times of the writes.
    pub writes_coherence: f64,
    /// Switches that it was found in.
    pub switches: usize,
    /// Time over which the phase held, in seconds.
    pub coherent_s: f64,
}

/// Why there is no grid.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum NoGrid {
    /// Too few times to look for one.
    #[error(
        "too few switches to look for a grid, or too far apart: {switches} of one kind, at least {least} \
             close together are needed"
    )]
    TooFew {
        /// The longest series.
        switches: usize,
        /// What is needed.
        least: usize,
    },
    /// The loops are too long.
    #[error(
        "not looked for: only periods above {shortest_us:.0} us would be seen, and {longest_us:.0} us is \
         the longest that is looked for"
    )]
    Coarse {
        /// What the loops can resolve, in microseconds.
        shortest_us: f64,
        /// The upper bound.
        longest_us: f64,
    },
    /// No frequency stands out.
    #[error(
        "no grid between {shortest_us:.0} and {longest_us:.0} us in {switches} switches: the highest peak has \
         coherence {coherence:.2}, as chance alone gives with probability {probability:.2}"
    )]
    None {
        /// Switches looked at.
        switches: usize,
        /// Bounds of the search in microseconds.
        shortest_us: f64,
        /// Upper one.
        longest_us: f64,
        /// Of the highest peak.
        coherence: f64,
        /// Its chance.
        probability: f64,
    },
    /// The writes themselves came on a grid, so that theirs cannot be told from the hardware's.
    #[error(
        "the writes themselves came every {period_us:.2} us (coherence {coherence:.2}): a grid of the \
         hardware cannot be told from it"
    )]
    Writes {
        /// Their period.
        period_us: f64,
        /// Their coherence.
        coherence: f64,
    },
}

/// Looks for a grid between two periods in nanoseconds.
///
/// # Errors
/// Why there is none.
pub fn find(series: &[Series], shortest_ns: f64, longest_ns: f64) -> Result<Grid, NoGrid> {
    let times: Vec<&[f64]> = series.iter().map(|series| series.effects.as_slice()).collect();
    let switches = times.iter().map(|times| times.len()).sum();
    let shortest_ns = shortest_ns.max(SHORTEST_NS);
    if shortest_ns >= longest_ns {
        return Err(NoGrid::Coarse {
            shortest_us: shortest_ns / 1e3,
            longest_us: longest_ns / 1e3,
        });
    }
    let peak = search::highest(&times, 1.0 / longest_ns, 1.0 / shortest_ns).ok_or_else(|| {
        let longest = times.iter().map(|times| times.len()).max().unwrap_or_default();
        NoGrid::TooFew { switches: longest, least: search::LEAST_EVENTS }
    })?;
    let sharp = refine::refine(&times, peak.frequency, peak.stretch_ns);
    if peak.log10_false_alarm > FALSE_ALARM || sharp.coherence < LEAST_COHERENCE {
        return Err(NoGrid::None {
            switches,
            shortest_us: shortest_ns / 1e3,
            longest_us: longest_ns / 1e3,
            coherence: sharp.coherence,
            probability: 10f64.powf(peak.log10_false_alarm.min(0.0)),
        });
    }
    let writes: Vec<&[f64]> = series.iter().map(|series| series.writes.as_slice()).collect();
    let of_writes = refine::coherence(&writes, sharp.frequency, sharp.coherent_ns);
    let period_us = 1e-3 / sharp.frequency;
    if of_writes > WRITES_TOO * sharp.coherence {
        return Err(NoGrid::Writes { period_us, coherence: of_writes });
    }
    // The wrapped normal distribution: R = exp(-s^2 / 2) with s in radians.
    let radians = (-2.0 * sharp.coherence.clamp(1e-12, 1.0).ln()).sqrt();
    let half = sharp.half_width.map(|half| period_us * half / sharp.frequency);
    Ok(Grid {
        period_us: Estimate::around(period_us, half),
        coherence: sharp.coherence,
        jitter_us: period_us * radians / std::f64::consts::TAU,
        log10_false_alarm: peak.log10_false_alarm,
        writes_coherence: of_writes,
        switches,
        coherent_s: sharp.coherent_ns / 1e9,
    })
}

/// Share of phase that the times have in common at a frequency, with the phase itself in radians.
fn phase(times: &[f64], frequency: f64) -> (f64, f64) {
    let origin = times.first().copied().unwrap_or_default();
    let (mut cos, mut sin) = (0.0, 0.0);
    for time in times {
        // The whole turns are cut off first: they are what a double has no room for.
        let turns = (time - origin) * frequency;
        let (s, c) = (std::f64::consts::TAU * turns.fract()).sin_cos();
        cos += c;
        sin += s;
    }
    let n = times.len().max(1) as f64;
    (cos.hypot(sin) / n, sin.atan2(cos) + std::f64::consts::TAU * (origin * frequency).fract())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_stats::random::Random;

    /// Writes at random, effects at the next multiple of `period` (0: at once), `fixed` later.
    fn switches(period: f64, fixed: f64, jitter: f64, n: usize, seed: u64) -> Series {
        let mut random = Random::new(seed);
        let mut series = Series::default();
        let mut now = 5e12;
        for _ in 0..n {
            now += 4e6 + (1e7 + 2.0 * period) * random.uniform();
            let acts = if period > 0.0 { (now / period).ceil() * period } else { now };
            series.writes.push(now);
            series.effects.push(acts + fixed + jitter * (random.uniform() - 0.5));
            now = acts;
        }
        series
    }

    #[test]
    fn a_grid_of_any_period_is_found_and_its_interval_holds() {
        for (period, seed) in
            [(1_000_010.0, 1), (500_003.0, 2), (97_531.0, 3), (7_123_456.0, 4), (31_250.0, 5)]
        {
            let series = [
                switches(period, 365e3, 1_500.0, 300, seed),
                switches(period, 395e3, 1_500.0, 300, seed + 100),
            ];
            let grid = find(&series, 0.0, LONGEST_NS).unwrap();
            let found = grid.period_us.value * 1e3;
            assert!((found / period - 1.0).abs() < 2e-5, "{period}: {grid:?}");
            assert!(grid.coherence > 0.9 && grid.writes_coherence < 0.2, "{grid:?}");
            assert!(grid.log10_false_alarm < -20.0, "{grid:?}");
        }
    }

    #[test]
    fn a_period_beyond_the_bounds_is_found_through_its_harmonics() {
        let grid = find(&[switches(50_000_000.0, 1e5, 100.0, 300, 6)], 0.0, LONGEST_NS).unwrap();
        assert!((grid.period_us.value - 50_000.0).abs() < 1.0, "{grid:?}");
    }

    #[test]
    fn intervals_hold_the_period_as_often_as_they_say() {
        let held = (0..60)
            .filter(|&seed| {
                let series = [switches(1_000_010.0, 365e3, 4_000.0, 200, 1000 + seed)];
                find(&series, 200_000.0, 5e6).unwrap().period_us.covers(1000.010)
            })
            .count();
        assert!(held >= 51, "{held} of 60");
    }

    #[test]
    fn no_grid_where_there_is_none_or_where_the_writes_make_it() {
        let error = find(&[switches(0.0, 365e3, 900.0, 300, 7)], 0.0, LONGEST_NS).unwrap_err();
        assert!(matches!(error, NoGrid::None { .. }), "{error}");
        let coarse = find(&[switches(1e6, 0.0, 0.0, 50, 8)], 3e7, LONGEST_NS).unwrap_err();
        assert!(matches!(coarse, NoGrid::Coarse { .. }), "{coarse}");
        let few = find(&[switches(1e6, 0.0, 0.0, 5, 8)], 0.0, LONGEST_NS).unwrap_err();
        assert_eq!(few, NoGrid::TooFew { switches: 5, least: search::LEAST_EVENTS });
        let mut series = switches(1e6, 365e3, 0.0, 300, 9);
        series.writes = series.effects.iter().map(|time| time - 300e3).collect();
        let error = find(&[series], 0.0, LONGEST_NS).unwrap_err();
        assert!(matches!(error, NoGrid::Writes { .. }), "{error}");
    }
}
