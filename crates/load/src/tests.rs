//! Profiles placed, and run on the real and on a faulty machine.

use super::*;
use flyball_host::{FaultyHost, RealHost};
use flyball_units::Diagnostic;
use proptest::prelude::*;

fn profile(text: &str) -> Profile {
    text.parse().unwrap()
}

fn group() -> impl Strategy<Value = Group> {
    let cpus = prop_oneof![
        Just(CpuChoice::All),
        Just(CpuChoice::Half),
        Just(CpuChoice::Others),
        (1u32..=8192).prop_map(CpuChoice::Count),
        proptest::collection::vec(0u32..200, 1..20).prop_map(|cpus| {
            CpuChoice::List(cpus.into_iter().map(flyball_units::CpuId).collect())
        }),
    ];
    let period = proptest::option::of((1_000u64..=1_000_000).prop_map(Nanos::from_micros));
    let buffer = proptest::option::of((4u64..=1 << 30).prop_map(|kib| kib * 1024));
    (cpus, 1u8..=100, any::<bool>(), period, 0usize..3, buffer, -20i8..=19, any::<bool>()).prop_map(
        |(cpus, percent, pinned, period, kind, buffer, nice, stress)| {
            let kind = Kind::ALL[kind];
            let stress = stress && kind != Kind::Memory;
            Group {
                pinned,
                period,
                kind,
                buffer: buffer.filter(|_| kind == Kind::Memory),
                nice: if stress { 0 } else { nice },
                generator: if stress { GeneratorKind::StressNg } else { GeneratorKind::Flyball },
                ..Group::new(cpus, percent)
            }
        },
    )
}

proptest! {
    #[test]
    fn whatever_fits_stays_within_the_usable_cpus(groups in proptest::collection::vec(group(), 0..3)) {
        let site = Site { usable: "0-15".parse().unwrap(), measured: "3".parse().unwrap() };
        if let Ok(placement) = Placement::of(&Profile { groups }, &site) {
            let total: f64 = site.usable.iter().map(|cpu| placement.wanted_on(cpu)).sum();
            let asked: f64 = placement.slots.iter().map(|slot| f64::from(slot.percent)).sum();
            prop_assert!((total - asked).abs() < 1e-6 && asked <= 1600.0);
        }
    }
}

// On this machine. Nothing here asserts how much load ran: the machine may be busy.

fn real() -> (Arc<dyn Host>, Site) {
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let site = Site::of(host.as_ref()).unwrap();
    (host, site)
}

fn faulty(faults: &str) -> Arc<dyn Host> {
    let faults = flyball_host::Fault::parse_list(faults).unwrap();
    Arc::new(FaultyHost::new(Arc::new(RealHost::new()), faults))
}

#[test]
fn a_load_runs_and_ends() {
    let (host, site) = real();
    let mut load = Load::start(&host, &profile("1x20%"), &site, 1).unwrap();
    let thread = load.thread_ids()[0];
    host.sleep_until(host.now() + Nanos::from_millis(60)).unwrap();
    let rows = load.sample().unwrap().to_vec();
    assert_eq!(rows.len(), site.usable.len());
    let wanted: f64 = rows.iter().map(|row| row.wanted).sum();
    assert!((wanted - 20.0).abs() < 1e-9);
    let proof = load.stop(Tolerance::default()).unwrap();
    assert!(matches!(proof.why[..], [Shortfall::TooShort(_)]), "{:?}", proof.why);
    assert!(proof.threads[0].achieved > 0.0);
    assert!(host.cpu_time_of(thread).is_err(), "the load thread has ended");
}

#[test]
fn every_kind_and_full_load_start() {
    let (host, site) = real();
    let profile = profile("1x5%,float + 1x5%,memory,buffer=1MiB + 1x5%,period=1s");
    let load = Load::start(&host, &profile, &site, 1).unwrap();
    assert_eq!(load.thread_ids().len(), 3);
    drop(load);
    let full = Load::start(
        &host,
        &Profile { groups: vec![Group::new(CpuChoice::Count(1), 100)] },
        &site,
        1,
    );
    drop(full.unwrap());
}

#[test]
fn a_panic_of_the_owner_ends_the_threads() {
    let (host, site) = real();
    let thread = std::sync::Mutex::new(0);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let load = Load::start(&host, &profile("1x10%"), &site, 1).unwrap();
        *thread.lock().unwrap() = load.thread_ids()[0];
        std::panic::resume_unwind(Box::new("the owner gives up"));
    }));
    assert!(result.is_err());
    assert!(host.cpu_time_of(*thread.lock().unwrap_or_else(|held| held.into_inner())).is_err());
}

#[test]
fn refusals_of_the_machine_are_errors_that_name_the_thread() {
    let (_, site) = real();
    for (faults, text) in [
        ("affinity_set=EINVAL", "load thread 0 on CPUs"),
        ("scheduling_set=EPERM", "load thread 0 on CPUs"),
        ("thread_cpu_time=EINVAL", "load thread 0 on CPUs"),
    ] {
        let found = Load::start(&faulty(faults), &profile("1x10%"), &site, 1).unwrap_err();
        assert!(found.to_string().starts_with(text), "{faults}: {found}");
    }
    // Without finer timers, waiting times or /proc/stat the load still runs.
    let degraded = faulty("timer_slack_set=EPERM,schedstat=ENOENT,cpu_times=ENOENT");
    let mut load = Load::start(&degraded, &profile("1x10%"), &site, 1).unwrap();
    assert!(load.sample().unwrap().iter().all(|row| row.busy.is_none()));
}

#[test]
fn a_thread_that_ends_by_itself_is_noticed() {
    let (_, site) = real();
    // The first 32 chunks calibrate; then the loop starts.
    let host = faulty("current_cpu#3+=EINVAL");
    let mut load = Load::start(&host, &profile("1x50%"), &site, 1).unwrap();
    let found = loop {
        host.sleep_until(host.now() + Nanos::from_millis(5)).unwrap();
        if let Err(error) = load.sample() {
            break error.to_string();
        }
    };
    assert!(found.contains("ended by itself: current_cpu failed"), "{found}");
}

#[test]
fn a_missing_stress_ng_is_unsupported_and_says_what_to_install() {
    let (_, site) = real();
    let found =
        Load::start(&faulty("spawn=ENOENT"), &profile("1x10%,stress-ng"), &site, 1).unwrap_err();
    assert_eq!(found.kind(), flyball_units::ErrorKind::Unsupported);
    assert!(found.hint().unwrap().contains("apt install stress-ng"), "{found}");
}

#[test]
fn stress_ng_runs_under_the_same_proof_where_it_is_installed() {
    let (host, site) = real();
    let mut load = match Load::start(&host, &profile("1x30%,stress-ng"), &site, 1) {
        Ok(load) => load,
        Err(error @ LoadError::Unavailable { .. }) => {
            println!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    host.sleep_until(host.now() + Nanos::from_millis(200)).unwrap();
    assert!(load.sample().unwrap()[0].source.contains("stress-ng"));
    let proof = load.stop(Tolerance::default()).unwrap();
    assert_eq!(proof.threads.len(), 1);
}

#[test]
fn too_much_memory_is_refused_before_anything_starts() {
    let (host, site) = real();
    let found = Load::start(&host, &profile("1x10%,memory,buffer=4096GiB"), &site, 1).unwrap_err();
    assert!(matches!(found, LoadError::Memory { threads: 1, .. }), "{found}");
}
