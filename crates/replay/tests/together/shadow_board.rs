//! Schedutil in the shadow of two real kernels.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at the first surprise and says why it skips"
)]

use std::path::Path;

use flyball_events::Recording;
use flyball_events::ftrace::Reader;
use flyball_events::import::{Options, import};
use flyball_governors::{Domain, create};
use flyball_platform::{Kernel, Platform};
use flyball_replay::shadow::{Ask, Report, Shadow, Source, shadow as shadow_of};
use flyball_run::Run;
use flyball_units::{CpuId, KiloHertz, Nanos, OppTable};

fn domain(cpus: &[u32], capacity: u32, mhz: &[u64], latency_us: u64, invariant: bool) -> Domain {
    let khz: Vec<u64> = mhz.iter().map(|mhz| mhz * 1000).collect();
    let opps = OppTable::from_khz(&khz).unwrap();
    Domain::new(cpus.iter().map(|cpu| CpuId(*cpu)).collect(), opps)
        .capacity(capacity)
        .current(KiloHertz(600_000))
        .hz(250)
        .transition_latency(Some(Nanos::from_micros(latency_us)))
        .frequency_invariant(invariant)
}

fn shadow(file: &str, domains: Vec<Domain>) -> Option<Report> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/board-rampup");
    let Ok(trace) = fs_err::File::open(format!("{root}/{file}")) else {
        println!("skipped: {root}/{file} is not here");
        return None;
    };
    let governed = domains.into_iter().map(|domain| (domain, create("schedutil").unwrap()));
    let mut shadow = Shadow::new(governed.collect());
    Reader::new(trace)
        .for_each(|item| -> std::io::Result<()> {
            shadow.item(item);
            Ok(())
        })
        .unwrap();
    Some(shadow.finish(Nanos::from_micros(500)))
}

#[test]
fn schedutil_does_what_the_aarch64_kernel_did() {
    let little = domain(&[0, 1], 409, &[600, 1000, 1400, 1800], 100, true);
    let big = domain(&[2, 3], 1024, &[600, 1200, 1800, 2400, 3000], 100, true);
    let Some(report) = shadow("rampup-arm64.trace", vec![little, big]) else { return };
    println!("{}", serde_json::to_string_pretty(&report).unwrap());
    assert_eq!(report.changes, 23);
    assert!(report.share.unwrap() >= 0.95, "{report:?}");
    // One change came before the trace had shown CPU 0: nobody could decide.
    assert_eq!((report.predicted, report.missed.len(), report.alone.len()), (22, 1, 0));
    assert!(report.missed[0].why.contains("not yet shown"), "{report:?}");
    assert!(report.farthest_ns < 300_000, "{report:?}");
    assert!(report.missed.iter().chain(&report.alone).all(|miss| !miss.why.is_empty()));
}

#[test]
fn the_tables_of_the_aarch64_kernel_give_what_its_text_gives() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/board-rampup/rampup-arm64.trace"
    );
    if !Path::new(file).exists() {
        println!("skipped: {file} is not here");
        return;
    }
    let ask = Ask {
        choice: "schedutil".parse().unwrap(),
        platform: Some(Platform::named("board-aarch64").unwrap()),
        kernel: Some(Kernel::named("debian-7.2").unwrap()),
        tolerance: Nanos::from_micros(500),
        clamps: Vec::new(),
    };
    let from_text = shadow_of(Source::Text(Path::new(file)), &ask).unwrap();
    let run: Run = import(file, &Options::default()).unwrap();
    assert!(Recording::trials(&run).is_empty());
    let from_tables = shadow_of(Source::Run(&run), &ask).unwrap();
    let told = |report: &Report| (report.changes, report.predicted, report.alone.len());
    assert_eq!(told(&from_text.trials[0].report), (23, 22, 0));
    assert_eq!(told(&from_tables.trials[0].report), (23, 22, 0));
}

#[test]
fn schedutil_beside_the_x86_kernel() {
    let all =
        domain(&[0, 1, 2, 3], 1024, &[600, 800, 1200, 1600, 2000, 2400, 2800, 3200], 10, false);
    let Some(report) = shadow("rampup-x86.trace", vec![all]) else { return };
    println!("{}", serde_json::to_string_pretty(&report).unwrap());
    assert_eq!(report.changes, 21);
    assert!(report.share.unwrap() >= 0.8, "{report:?}");
    assert!(report.missed.iter().chain(&report.alone).all(|miss| !miss.why.is_empty()));
}
