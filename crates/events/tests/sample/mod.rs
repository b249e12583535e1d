//! A ramp on two CPUs, small enough to work out every answer by hand. Times in ms:
//!
//! ```text
//! cpu0 little  |idle1 0-11|ramp 11-31|noise 31-33|ramp 33-51|idle2 51-100|
//!   frequency   600 from 0, 1000 from 21, 1800 from 41 MHz
//! cpu1 big     |idle2 0-51|ramp 51-100, still running at the end|
//!   frequency   600 from 0, 3000 from 61 MHz
//! ramp's util_avg: 0 at 0, 100 at 15, 200 at 25, 330 at 35, 460 at 55, 1000 at 80
//! ```
#![allow(dead_code, reason = "each test takes what it needs")]

use flyball_run::{
    CapacitySample, FrequencySample, GovernorStep, IdleStay, Item, Marker, Migration, Run, Slice,
    UtilizationSample, Wakeup,
};

/// Number of the task that ramps up.
pub const RAMP: u32 = 1;
/// Number of the task that gets in its way.
pub const NOISE: u32 = 2;

/// Milliseconds in nanoseconds.
pub const fn ms(ms: u64) -> u64 {
    ms * 1_000_000
}

/// The ramp; every time multiplied by `slower`.
pub fn ramp(slower: u64) -> Run {
    let at = |t: u64| ms(t * slower);
    let mut run = Run::default();
    run.manifest.kind = "rampup".to_owned();
    who_ran(&mut run, at);
    clocks(&mut run, at);
    signals(&mut run, at);
    for (tid, item, released, ended) in
        [(1, 0, 10, Some(51)), (1, 1, 20, Some(80)), (1, 2, 90, None)]
    {
        run.tables.items.push(Item {
            tid,
            task: "ramp".into(),
            item,
            released_ns: at(released),
            ended_ns: ended.map(at),
            deadline_ns: Some(at(60)),
            ..Item::default()
        });
    }
    run
}

fn who_ran(run: &mut Run, at: impl Fn(u64) -> u64) {
    for (cpu, tid, from, to, why, cut) in [
        (0, 1, 11, 31, Some("preempted"), None),
        (0, 2, 31, 33, Some("slept"), None),
        (0, 1, 33, 51, Some("migrated"), None),
        (1, 1, 51, 100, None, Some("end")),
    ] {
        run.tables.slices.push(Slice {
            cpu,
            tid,
            task: if tid == RAMP { "ramp" } else { "noise" }.into(),
            from_ns: at(from),
            to_ns: at(to),
            why: why.map(str::to_owned),
            cut: cut.map(str::to_owned),
            ..Slice::default()
        });
    }
    for (tid, task, woken, ran) in [(1, "ramp", 10, 11), (2, "noise", 31, 31)] {
        run.tables.wakeups.push(Wakeup {
            tid,
            task: task.into(),
            woken_ns: at(woken),
            ran_ns: Some(at(ran)),
            latency_ns: Some(at(ran) - at(woken)),
            ..Wakeup::default()
        });
    }
    run.tables.migrations.push(Migration {
        t_ns: at(51),
        tid: RAMP,
        task: "ramp".into(),
        to_cpu: 1,
        why: Some("misfit".into()),
        ..Migration::default()
    });
    for (cpu, state, from, to) in [(0, 1, 0, 11), (1, 2, 0, 51), (0, 2, 51, 100)] {
        let name = Some(format!("C{state}"));
        let (from_ns, to_ns) = (at(from), at(to));
        run.tables.idle.push(IdleStay { cpu, state, name, from_ns, to_ns, ..IdleStay::default() });
    }
}

fn clocks(run: &mut Run, at: impl Fn(u64) -> u64) {
    for (t, domain, khz) in [
        (0, "little", 600_000),
        (0, "big", 600_000),
        (21, "little", 1_000_000),
        (41, "little", 1_800_000),
        (61, "big", 3_000_000),
    ] {
        run.tables.frequency.push(FrequencySample {
            t_ns: at(t),
            domain: domain.into(),
            delivered_khz: Some(khz),
            source: "model".into(),
            ..FrequencySample::default()
        });
    }
    for (t, khz) in [(20, 1_000_000), (41, 1_800_000)] {
        run.tables.governor.push(GovernorStep {
            t_ns: at(t),
            domain: "little".into(),
            event: "util".into(),
            decision_khz: Some(khz - 7),
            resolved_khz: Some(khz),
            why: Some("utilisation with headroom".into()),
            ..GovernorStep::default()
        });
    }
    for (cpu, capacity, core_type) in [(0, 400, "little"), (1, 1024, "big")] {
        run.tables.capacity.push(CapacitySample {
            cpu,
            capacity,
            core_type: Some(core_type.into()),
            domain: Some(core_type.into()),
            ..CapacitySample::default()
        });
    }
}

fn signals(run: &mut Run, at: impl Fn(u64) -> u64) {
    for (t, util) in [(0, 0), (15, 100), (25, 200), (35, 330), (55, 460), (80, 1000)] {
        run.tables.utilization.push(UtilizationSample {
            t_ns: at(t),
            kind: "task".into(),
            cpu: Some(u32::from(t > 50)),
            tid: Some(RAMP),
            task: Some("ramp".into()),
            util_avg: Some(util),
            util_est: Some(util / 2),
            ..UtilizationSample::default()
        });
    }
    run.tables.markers.push(Marker {
        t_ns: at(10),
        tid: Some(RAMP),
        name: "ramp starts".into(),
        ..Marker::default()
    });
}
