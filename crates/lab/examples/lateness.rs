//! Release lateness of the measured loop, for comparison with cyclictest.
//!
//! `cargo run --release -p flyball-lab --example lateness -- [--seconds 10] [--period-us 1000]
//! [--cpu 0] [--scheduling fifo:80] [--probe off|after|before-and-after] [--lead-us N]
//! [--work noop|chain] [--companion CPU] [--raw FILE]`
//!
//! No workload and no probe by default, `/dev/cpu_dma_latency` not held: what cyclictest does with
//! `--default-system`. `--companion` adds a thread that does what cyclictest's main thread does: it
//! wakes on that CPU every 10 ms. Prints one line of JSON; all times in nanoseconds.
#![allow(clippy::disallowed_methods, reason = "an example speaks to the shell that started it")]
#![allow(clippy::print_stdout, reason = "its result goes to stdout")]

use flyball_host::{Host, HostError, RealHost, Scheduling, arch};
use flyball_lab::protocol::windows::telemetry::Recorder;
use flyball_lab::protocol::windows::trial::{
    NoWork, ProbeMode, StopFlag, TrialError, TrialLabels, TrialOutcome, TrialPlan, WindowRecord,
    Work, WorkInfo, run,
};
use flyball_probe::{CalibrationTarget, Chain, calibrate};
use flyball_units::{CpuId, CpuSet, Nanos};
use serde_json::json;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(std::env::args().skip(1))?;
    let host = RealHost::new();
    host.catch_interrupts()?;
    let chain = options.chain(&host)?;
    let (outcome, records) = measure(&host, &options, chain)?;
    let lateness = records.iter().map(|r| r.dispatch.signed_since(r.release)).collect();
    let execution = records.iter().map(|r| r.end.signed_since(r.dispatch)).collect();
    println!(
        "{}",
        json!({
            "ended": format!("{:?}", outcome.ended),
            "windows": outcome.counts.recorded,
            "skipped": outcome.counts.skipped,
            "dropped": outcome.counts.dropped,
            "cpus": outcome.applied.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>(),
            "scheduling": outcome.applied.scheduling.map(|s| s.to_string()),
            "degraded": outcome.applied.degraded.iter().map(|d| &d.reason).collect::<Vec<_>>(),
            "preempted": records.iter().filter(|r| r.preemptions.unwrap_or(0) > 0).count(),
            "faulted": records.iter().filter(|r| r.minor_faults.unwrap_or(0) > 0).count(),
            "lateness_ns": percentiles(lateness),
            "exec_ns": percentiles(execution),
        })
    );
    if let Some(file) = &options.raw {
        std::fs::write(file, csv(&records))?;
    }
    Ok(())
}

/// What the command line asks for.
struct Options {
    plan: TrialPlan,
    chain_work: bool,
    companion: Option<CpuId>,
    raw: Option<String>,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
        let (mut seconds, mut period_us, mut lead) = (10, 1_000, None);
        let mut plan = TrialPlan::new(TrialLabels::default(), Nanos(1), 0);
        plan.cpus = Some(CpuSet::from(CpuId(0)));
        plan.scheduling = Scheduling::Fifo { priority: 80 };
        plan.lock_memory = true;
        plan.warmup_windows = 100;
        let (mut probe, mut chain_work, mut raw) = ("off".to_owned(), false, None);
        let mut companion = None;
        let mut arguments = arguments;
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            match name.as_str() {
                "--seconds" => seconds = value.parse()?,
                "--period-us" => period_us = value.parse()?,
                "--cpu" => plan.cpus = Some(CpuSet::from(CpuId(value.parse()?))),
                "--scheduling" => plan.scheduling = value.parse()?,
                "--probe" => probe = value,
                "--lead-us" => lead = Some(Nanos::from_micros(value.parse()?)),
                "--work" => chain_work = value == "chain",
                "--companion" => companion = Some(CpuId(value.parse()?)),
                "--raw" => raw = Some(value),
                other => return Err(format!("{other}: no such option").into()),
            }
        }
        plan.period = Nanos::from_micros(period_us);
        plan.deadline = plan.period;
        plan.windows = Nanos::from_secs(seconds).0 / plan.period.0.max(1);
        plan.probe = match probe.as_str() {
            "off" => ProbeMode::Off,
            "after" => ProbeMode::After,
            "before-and-after" => ProbeMode::BeforeAfter { lead },
            other => return Err(format!("--probe {other}: no such mode").into()),
        };
        Ok(Options { plan, chain_work, companion, raw })
    }

    /// The probe, calibrated, where one is asked for.
    fn chain(&self, host: &dyn Host) -> Result<Option<Chain>, TrialError> {
        let cpu = self.plan.cpus.as_ref().and_then(CpuSet::first);
        let Some(cpu) = cpu.filter(|_| self.plan.probe != ProbeMode::Off) else {
            return Ok(None);
        };
        let assumed_cycles = arch::MULTIPLY_CYCLES;
        let target = CalibrationTarget { cpu, core_type: None, assumed_cycles, least: None };
        Ok(calibrate(host, &[target])?.first().map(|calibration| calibration.chain))
    }
}

fn measure(
    host: &RealHost,
    options: &Options,
    chain: Option<Chain>,
) -> Result<(TrialOutcome, Vec<WindowRecord>), TrialError> {
    let (mut recorder, mut take) = Recorder::unconnected(options.plan.releases() as usize);
    let stop = StopFlag::default();
    let mut work: Box<dyn Work> = match options.chain_work {
        true => Box::new(ChainWork),
        false => Box::new(NoWork),
    };
    let over = &AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        if let Some(cpu) = options.companion {
            scope.spawn(move || keep_company(host, cpu, over));
        }
        let outcome = run(host, &options.plan, work.as_mut(), chain, &mut recorder, &stop);
        over.store(true, Ordering::Relaxed);
        outcome
    })?;
    let records = std::iter::from_fn(&mut take).filter(|record| !record.warmup).collect();
    Ok((outcome, records))
}

/// Wakes on another CPU every 10 ms: a CPU that nobody wakes lets the machine below it sleep deeper.
fn keep_company(host: &RealHost, cpu: CpuId, over: &AtomicBool) -> Result<(), HostError> {
    host.affinity_set(&CpuSet::from(cpu))?;
    while !over.load(Ordering::Relaxed) {
        host.sleep_until(host.now() + Nanos::from_millis(10))?;
    }
    Ok(())
}

/// A window whose time says at what speed it ran: some 30 us of multiplications.
struct ChainWork;

impl Work for ChainWork {
    fn prepare(&mut self) {}

    fn run(&mut self) -> Result<WorkInfo, Box<TrialError>> {
        std::hint::black_box(arch::multiply_chain(32_000));
        Ok(WorkInfo::default())
    }
}

/// Nearest-rank percentiles.
fn percentiles(mut values: Vec<i64>) -> serde_json::Value {
    values.sort_unstable();
    let rank = |share: f64| {
        let rank = (share * values.len() as f64).ceil().max(1.0) as usize - 1;
        values.get(rank.min(values.len().saturating_sub(1))).copied()
    };
    json!({
        "min": rank(0.0), "p50": rank(0.5), "p90": rank(0.9), "p99": rank(0.99),
        "p99.9": rank(0.999), "max": rank(1.0),
    })
}

fn csv(records: &[WindowRecord]) -> String {
    let mut text = String::from("index,release_ns,dispatch_ns,end_ns\n");
    for r in records {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{},{},{}", r.index, r.release.0, r.dispatch.0, r.end.0);
    }
    text
}
