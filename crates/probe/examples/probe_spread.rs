//! How far probe samples lie apart inside one step of frequency, on this machine.
//!
//! `cargo run --release -p flyball-probe --example probe_spread -- [SECONDS] [CPU] [FILE]`
//!
//! Takes samples back to back on one CPU, splits them in time into plateaus (steps of frequency),
//! and prints the spread inside each: 5th to 95th percentile and interquartile range, relative to
//! the median. Every sample goes to FILE (CSV), the disturbed ones marked.
#![allow(clippy::disallowed_methods, reason = "an example speaks to the shell that started it")]
#![allow(clippy::print_stdout, reason = "its result goes to stdout")]

use flyball_host::{Host, RealHost, arch};
use flyball_probe::{
    Calibration, CalibrationTarget, Plateau, ProbeSample, calibrate, plateaus, recalibrate,
};
use flyball_units::{CpuId, CpuSet, Nanos};
use std::error::Error;
use std::fmt::Write as _;

/// Plateaus shorter than this say little about a spread.
const LEAST_SAMPLES: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds: u64 = arguments.first().map_or(Ok(10), |text| text.parse())?;
    let cpu: u32 = arguments.get(1).map_or(Ok(0), |text| text.parse())?;
    let file = arguments.get(2).map_or("probe-spread.csv", String::as_str);

    let host = RealHost::new();
    let target = CalibrationTarget {
        cpu: CpuId(cpu),
        core_type: None,
        assumed_cycles: arch::MULTIPLY_CYCLES,
        least: None,
    };
    let mut calibrations = calibrate(&host, &[target])?;
    host.affinity_set(&CpuSet::from(CpuId(cpu)))?;
    let samples = collect(&host, &calibrations[0], Nanos::from_secs(seconds));
    recalibrate(&host, &mut calibrations)?;
    describe(&calibrations[0]);
    report(&samples, &calibrations[0]);
    std::fs::write(file, csv(&samples, &calibrations[0]))?;
    println!("samples      {file}");
    Ok(())
}

/// Samples back to back for `duration`, with their times.
fn collect(
    host: &dyn Host,
    calibration: &Calibration,
    duration: Nanos,
) -> Vec<(Nanos, ProbeSample)> {
    let end = host.now() + duration;
    let mut samples = Vec::with_capacity(1 << 20);
    loop {
        let now = host.now();
        if now >= end {
            return samples;
        }
        samples.push((now, calibration.chain.sample(host)));
    }
}

fn describe(calibration: &Calibration) {
    println!(
        "chain        {} multiplications, {:?} {} cycles each; reading costs {:.1} of them",
        calibration.chain.multiplies,
        calibration.basis,
        calibration
            .cycles_per_multiply
            .map_or("unknown".to_owned(), |cycles| format!("{cycles:.3}")),
        calibration.read_cost,
    );
    println!("counter      {:.6} MHz", calibration.counter_hz / 1e6);
    println!(
        "calibration  best {} ticks, spread {:.2} permille, drift at the end {:+.3} permille",
        calibration.ticks_min,
        calibration.spread_permille.unwrap_or(f64::NAN),
        calibration.drift_permille.unwrap_or(f64::NAN),
    );
}

fn report(samples: &[(Nanos, ProbeSample)], calibration: &Calibration) {
    let good: Vec<u32> =
        samples.iter().filter(|(_, s)| !s.disturbed).map(|(_, s)| s.ticks).collect();
    let disturbed = samples.len() - good.len();
    println!(
        "samples      {} taken, {disturbed} disturbed ({:.2} %)",
        samples.len(),
        100.0 * disturbed as f64 / samples.len().max(1) as f64
    );
    let khz = |ticks: f64| calibration.khz(ticks as u32).unwrap_or_default() as f64 / 1e6;
    let range = good.iter().copied().min().zip(good.iter().copied().max());
    if let Some((least, most)) = range {
        println!("delivered    {:.3} to {:.3} GHz", khz(f64::from(most)), khz(f64::from(least)));
    }
    let mut found = plateaus(&good);
    let all = found.len();
    found.retain(|plateau| plateau.count >= LEAST_SAMPLES);
    let covered: usize = found.iter().map(|plateau| plateau.count).sum();
    println!(
        "plateaus     {all}, {} of them with at least {LEAST_SAMPLES} samples: {:.1} % of all",
        found.len(),
        100.0 * covered as f64 / good.len().max(1) as f64
    );
    spreads(&good, &found);
    found.sort_by_key(|plateau| std::cmp::Reverse(plateau.count));
    println!("\nlongest          samples       GHz   p5..p95     IQR");
    for plateau in found.iter().take(12) {
        println!(
            "  from {:>8}  {:>8}  {:>8.4}  {:>6.3} %  {:>5.3} %",
            plateau.first,
            plateau.count,
            khz(plateau.median),
            100.0 * plateau.spread(),
            100.0 * interquartile(&good, plateau),
        );
    }
}

/// The distribution of the spread over plateaus, weighted by their samples.
fn spreads(good: &[u32], found: &[Plateau]) {
    let weighted = |measure: &dyn Fn(&Plateau) -> f64, share: f64| {
        let mut values: Vec<(f64, usize)> = found.iter().map(|p| (measure(p), p.count)).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: usize = values.iter().map(|(_, count)| count).sum();
        let mut seen = 0;
        values
            .iter()
            .find(|(_, count)| {
                seen += count;
                seen as f64 >= share * total as f64
            })
            .map_or(f64::NAN, |(value, _)| 100.0 * value)
    };
    let wide = Plateau::spread;
    let narrow = |plateau: &Plateau| interquartile(good, plateau);
    println!(
        "spread       p5..p95: median {:.3} %, 95 % of samples within {:.3} %; IQR: median {:.3} %, {:.3} %",
        weighted(&wide, 0.5),
        weighted(&wide, 0.95),
        weighted(&narrow, 0.5),
        weighted(&narrow, 0.95),
    );
}

fn interquartile(good: &[u32], plateau: &Plateau) -> f64 {
    let mut ticks = good[plateau.first..plateau.first + plateau.count].to_vec();
    ticks.sort_unstable();
    let quarter = ticks.len() / 4;
    f64::from(ticks[ticks.len() - 1 - quarter] - ticks[quarter]) / plateau.median
}

fn csv(samples: &[(Nanos, ProbeSample)], calibration: &Calibration) -> String {
    let mut text = String::from("t_ns,ticks,khz,disturbed\n");
    for (time, sample) in samples {
        let khz = calibration.khz(sample.ticks).map_or(String::new(), |khz| khz.to_string());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{},{khz},{}", time.0, sample.ticks, sample.disturbed);
    }
    text
}
