//! The first look: every frequency, over short stretches of the record.

use super::phase;

/// Switches of one kind that a search needs.
pub const LEAST_EVENTS: usize = 12;

/// Switches in a stretch at most: a longer one needs more frequencies to be tried.
const MOST_EVENTS: usize = 64;
/// Stretches at most.
const MOST_STRETCHES: usize = 16;
/// Events times frequencies that may be looked at: about a second's work.
const BUDGET: f64 = 3e8;
/// Frequencies per width of a peak.
const PER_PEAK: f64 = 4.0;

/// A peak that reaches this share of the highest one's power may be the grid itself.
const AS_HIGH: f64 = 0.7;
/// A grid below the lowest frequency shows up as one of its multiples, to this one.
const HARMONICS: u32 = 12;

/// The frequency that stands out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Per nanosecond.
    pub frequency: f64,
    /// Chance that random times have such a peak at any of the frequencies tried, as exponent of ten.
    pub log10_false_alarm: f64,
    /// Length of the longest stretch, in nanoseconds.
    pub stretch_ns: f64,
}

/// The lowest frequency with a peak about as high as any; none of too few times.
pub fn highest(times: &[&[f64]], lowest: f64, largest: f64) -> Option<Peak> {
    let stretches = stretches(times, largest - lowest)?;
    let stretch_ns = stretches.iter().map(|stretch| span(stretch)).fold(0.0, f64::max);
    let step = 1.0 / (PER_PEAK * stretch_ns.max(1.0));
    let count = (((largest - lowest) / step).ceil() as usize).max(2);
    let powers = powers(&stretches, lowest, step, count);
    let highest = powers.iter().copied().fold(0.0, f64::max);
    let at = |position: usize| powers.get(position).copied().unwrap_or_default();
    let is_peak = |position: &usize| {
        let here = at(*position);
        here >= AS_HIGH * highest
            && here >= at(position.wrapping_sub(1))
            && here >= at(position + 1)
    };
    let position = (0..count).find(is_peak)?;
    let mut frequency = sharpen(&stretches, lowest + step * position as f64, step);
    // Below the bounds only the multiples were seen.
    for part in (2..=HARMONICS).rev() {
        let slower = sharpen(&stretches, frequency / f64::from(part), step / f64::from(part));
        if slower < lowest && power(&stretches, slower) >= AS_HIGH * power(&stretches, frequency) {
            frequency = slower;
            break;
        }
    }
    let tried = count as f64;
    let log10_false_alarm = tried.log10() + log10_tail(stretches.len(), highest);
    Some(Peak { frequency, log10_false_alarm: log10_false_alarm.min(0.0), stretch_ns })
}

/// Stretches of as many consecutive times as the budget allows, spread over all series.
fn stretches<'a>(times: &[&'a [f64]], bandwidth: f64) -> Option<Vec<&'a [f64]>> {
    let usable: Vec<&'a [f64]> =
        times.iter().filter(|times| times.len() >= LEAST_EVENTS).copied().collect();
    // Times so far apart that even the fewest need more frequencies than can be tried.
    let longest_ns = BUDGET / (bandwidth * PER_PEAK * LEAST_EVENTS as f64);
    let mut events = MOST_EVENTS;
    loop {
        let all: Vec<&'a [f64]> = usable
            .iter()
            .flat_map(|times| times.chunks(events.min(times.len())))
            .filter(|chunk| chunk.len() >= LEAST_EVENTS)
            .filter(|chunk| events > LEAST_EVENTS || span(chunk) <= longest_ns)
            .collect();
        let longest = all.iter().map(|stretch| span(stretch)).fold(0.0, f64::max);
        let frequencies = bandwidth * PER_PEAK * longest;
        let affordable = (BUDGET / (frequencies.max(1.0) * events as f64)) as usize;
        let least = MOST_STRETCHES.min(all.len());
        if affordable >= least || events <= LEAST_EVENTS {
            let wanted = least.min(affordable.max(1));
            let spread = (0..wanted).filter_map(|k| all.get(k * all.len() / wanted.max(1)));
            let chosen: Vec<&[f64]> = spread.copied().collect();
            return (!chosen.is_empty()).then_some(chosen);
        }
        events = (events * 3 / 4).max(LEAST_EVENTS);
    }
}

fn span(times: &[f64]) -> f64 {
    times.last().zip(times.first()).map_or(0.0, |(last, first)| last - first)
}

/// Sum over the stretches of n R^2 at `count` frequencies. Each time's phase turns by the same angle
/// from one frequency to the next, so nothing is looked up in the circle again.
fn powers(stretches: &[&[f64]], lowest: f64, step: f64, count: usize) -> Vec<f64> {
    let mut powers = vec![0.0; count];
    for stretch in stretches {
        let origin = stretch.first().copied().unwrap_or_default();
        let turn = |frequency: f64| {
            let angle = |time: &f64| {
                let turns = (time - origin) * frequency;
                (std::f64::consts::TAU * turns.fract()).sin_cos()
            };
            stretch.iter().map(angle).unzip::<f64, f64, Vec<f64>, Vec<f64>>()
        };
        let (mut im, mut re) = turn(lowest);
        let (step_im, step_re) = turn(step);
        let n = stretch.len() as f64;
        for power in &mut powers {
            let (mut cos, mut sin) = (0.0, 0.0);
            for (((re, im), step_re), step_im) in
                re.iter_mut().zip(&mut im).zip(&step_re).zip(&step_im)
            {
                cos += *re;
                sin += *im;
                let next = *re * step_re - *im * step_im;
                *im = *re * step_im + *im * step_re;
                *re = next;
            }
            *power += (cos * cos + sin * sin) / n;
        }
    }
    powers
}

fn power(stretches: &[&[f64]], frequency: f64) -> f64 {
    stretches.iter().map(|times| times.len() as f64 * phase(times, frequency).0.powi(2)).sum()
}

/// The highest point within a step of a peak.
fn sharpen(stretches: &[&[f64]], around: f64, step: f64) -> f64 {
    let tried = (-8..=8).map(|k| around + step * f64::from(k) / 8.0);
    let scored = tried.map(|frequency| (power(stretches, frequency), frequency));
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(around, |(_, frequency)| frequency)
}

/// Exponent of ten of the chance that the sum of `n` independent exponential variables of mean 1
/// exceeds `sum`: exp(-sum) (1 + sum + ... + sum^(n-1) / (n-1)!).
fn log10_tail(n: usize, sum: f64) -> f64 {
    if sum <= 0.0 {
        return 0.0;
    }
    // The series in logarithms, scaled by its largest term.
    let (mut term, mut terms) = (0.0, vec![0.0]);
    for k in 1..n {
        term += sum.ln() - (k as f64).ln();
        terms.push(term);
    }
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rest: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
    ((largest + rest.ln() - sum) / std::f64::consts::LN_10).min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_gammas() {
        // scipy.stats.gamma.sf(x, n): (10, 1) 4.54e-5, (10, 3) 0.002769, (3, 5) 0.815263.
        for (n, sum, expected) in
            [(1, 10.0, 4.539993e-5), (3, 10.0, 0.002769396), (5, 3.0, 0.815263)]
        {
            let found = 10f64.powf(log10_tail(n, sum));
            assert!((found / expected - 1.0).abs() < 1e-5, "{n} {sum}: {found}");
        }
        assert_eq!(log10_tail(4, 0.0), 0.0);
    }
}
