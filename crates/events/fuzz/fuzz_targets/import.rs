//! The import: whatever the lines say, rows come of them, every question has an answer or a
//! reason, and a governor in the shadow hears them.
#![no_main]

use std::io;

use flyball_governors::{Domain, create};
use flyball_run::Run;
use flyball_events::Recording;
use flyball_events::ftrace::Reader;
use flyball_events::import::Builder;
use flyball_events::questions::*;
use flyball_events::recording::Subject;
use flyball_replay::shadow::{Seen, Shadow};
use flyball_units::{CpuId, Nanos, OppTable};
use libfuzzer_sys::fuzz_target;

fn domain() -> Domain {
    let opps = OppTable::from_khz(&[600_000, 1_000_000, 1_400_000, 1_800_000]).unwrap();
    Domain::new(vec![CpuId(0), CpuId(1)], opps)
        .capacity(409)
        .hz(250)
        .transition_latency(Some(Nanos::from_micros(100)))
}

fuzz_target!(|data: &[u8]| {
    let mut builder = Builder::new();
    let mut shadow = Shadow::new(vec![(domain(), create("schedutil").unwrap())]);
    let outcome = Reader::new(data).for_each(|item| -> io::Result<()> {
        builder.item(item);
        shadow.item(item);
        Ok(())
    });
    assert!(outcome.is_ok());
    let report = shadow.finish(Nanos::from_micros(500));
    assert_eq!(report.changes, report.predicted + report.missed.len());
    let built = builder.finish();
    let slices = &built.tables.slices;
    assert!(slices.from_ns.iter().zip(slices.to_ns.iter()).all(|(from, to)| from <= to));
    let run = Run { tables: built.tables, manifest: built.manifest, ..Run::default() };
    let recording = Recording::of(&run);
    let length = recording.span().length_ns();
    let _ = Seen::of(&recording);
    for domain in recording.domains() {
        if let Ok(answer) = FrequencyResidency::of(&recording, &domain) {
            let known: u64 = answer.values.iter().map(|share| share.residency_ns).sum();
            assert_eq!(known + answer.unknown_ns + answer.lost_ns, length);
        }
    }
    let tasks: Vec<u32> = recording.tasks().map(|task| task.tid).take(8).collect();
    for tid in tasks {
        let _ = Rise::of(&recording, tid, &Target::USUAL);
        let _ = Stages::of(&recording, tid);
        let _ = RunningFrequency::of(&recording, tid);
        let _ = UtilizationResidency::while_running(&recording, tid);
        if let Ok(s) = States::of(&recording, tid) {
            let sum = s.running_ns + s.runnable_ns + s.sleeping_ns + s.exited_ns + s.unknown_ns;
            assert_eq!(sum, length, "{s:?}");
        }
    }
    for cpu in 0..4 {
        let _ = UtilizationResidency::of(&recording, Subject::Cpu(cpu));
    }
    let _ = (CpuTime::all(&recording), WakeupLatency::all(&recording));
    let _ = (IdleResidency::all(&recording), Transitions::all(&recording));
    let _ = UtilizationOverTime::all(&recording);
});
