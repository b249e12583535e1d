//! A machine of 2 little and 2 big CPUs that 200 tasks keep busy: as many events as wanted, the
//! same every time, with two things in it that are easily lost.

use flyball_report::analysis::RunData;
use flyball_run::manifest::ClockRecord;
use flyball_run::{
    CapacitySample, FrequencySample, IdleStay, Run, Slice, UtilizationSample, Window,
};

/// Begin of the recording, ns: no page may count from zero by luck.
const BEGIN: u64 = 5_000_000_000_123;
/// Where the frequency of policy0 is 9.999 GHz for 100 ns, ns from the begin.
pub const SPIKE: u64 = 70_000_123;
/// Where the task `needle` runs on cpu3 for 1 ns, ns from the begin; nothing else runs around it.
pub const NEEDLE: u64 = 90_000_077;

/// Marsaglia's xorshift, 64 bits.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A run of `events` rows: nine twentieths slices, a quarter idle stays, the rest frequency,
/// utilisation and windows.
pub fn run(events: usize) -> RunData {
    let mut run = Run::default();
    run.manifest.kind = "capture".to_owned();
    for table in ["windows", "slices", "idle", "frequency", "utilization"] {
        run.manifest.clocks.push(ClockRecord {
            table: table.to_owned(),
            clock: "monotonic".to_owned(),
            ..ClockRecord::default()
        });
    }
    let mut random = Random(88_172_645_463_325_252);
    let slices = events / 20 * 9;
    let idle = events / 4;
    let windows = events / 100;
    let utilization = events / 5;
    cpus(&mut run, &mut random, slices, idle);
    values(&mut run, &mut random, events - slices - idle - windows - utilization, utilization);
    for i in 0..windows as u64 {
        let dispatch_ns = BEGIN + i * 300_000 + random.below(20_000);
        let exec_ns = 50_000 + random.below(100_000);
        run.tables.windows.push(Window {
            seq: i,
            workload: "car".into(),
            condition: if i < windows as u64 / 2 { "idle" } else { "heavy" }.into(),
            dispatch_ns,
            end_ns: dispatch_ns + exec_ns,
            lateness_ns: (i % 7) as i64 - 3,
            missed: exec_ns > 149_900,
            ..Window::default()
        });
    }
    RunData::new("synthetic", "synthetic", run)
}

fn cpus(run: &mut Run, random: &mut Random, slices: usize, idle: usize) {
    let names: Vec<String> = (0..200).map(|task| format!("task-{task}")).collect();
    for cpu in 0..4u32 {
        let (own_slices, own_idle) = (slices / 4, idle / 4);
        let mut t = BEGIN + 1;
        let mut idles = 0;
        let mut needle = cpu != 3;
        for i in 0..own_slices {
            if !needle && t > BEGIN + NEEDLE - 100_000 {
                needle = true;
                t = BEGIN + NEEDLE + 100_000;
                push_needle(run);
            }
            let tid = 1 + random.below(200).min(random.below(200)) as u32;
            let length = 500 + random.below(8_000);
            // One of its slices is the needle.
            let taken = cpu == 3 && needle && i + 1 == own_slices;
            if !taken {
                run.tables.slices.push(Slice {
                    cpu,
                    tid,
                    task: names[tid as usize - 1].clone(),
                    from_ns: t,
                    to_ns: t + length,
                    ..Slice::default()
                });
            }
            t += length;
            if idles < own_idle && i % 9 < 5 {
                idles += 1;
                let length = 200 + random.below(9_000);
                let state = (length > 3_000) as u32 + (length > 7_000) as u32;
                run.tables.idle.push(IdleStay {
                    cpu,
                    state,
                    name: Some(format!("C{state}")),
                    from_ns: t,
                    to_ns: t + length,
                    ..IdleStay::default()
                });
                t += length;
            }
        }
    }
    // Rounding left some over.
    while run.tables.slices.len() < slices || run.tables.idle.len() < idle {
        let at =
            BEGIN + 40_000_000_000 + run.tables.slices.len() as u64 + run.tables.idle.len() as u64;
        if run.tables.slices.len() < slices {
            run.tables.slices.push(Slice {
                cpu: 0,
                tid: 1,
                task: "task-0".into(),
                from_ns: at,
                to_ns: at + 1,
                ..Slice::default()
            });
        } else {
            run.tables.idle.push(IdleStay { from_ns: at, to_ns: at + 1, ..IdleStay::default() });
        }
    }
}

fn push_needle(run: &mut Run) {
    run.tables.slices.push(Slice {
        cpu: 3,
        tid: 999,
        task: "needle".into(),
        from_ns: BEGIN + NEEDLE,
        to_ns: BEGIN + NEEDLE + 1,
        ..Slice::default()
    });
}

fn values(run: &mut Run, random: &mut Random, frequency: usize, utilization: usize) {
    for (domain, kind, cpus) in [(0, "little", [0, 1]), (1, "big", [2, 3])] {
        for cpu in cpus {
            run.tables.capacity.push(CapacitySample {
                t_ns: BEGIN,
                cpu,
                capacity: 400 + 624 * domain,
                core_type: Some(kind.into()),
                domain: Some(format!("policy{}", domain * 2)),
                ..CapacitySample::default()
            });
        }
    }
    let mut t = BEGIN;
    let mut add = |t_ns, domain: u64, khz| {
        run.tables.frequency.push(FrequencySample {
            t_ns,
            domain: format!("policy{}", domain * 2),
            claimed_khz: Some(khz),
            source: "cpu_frequency".into(),
            ..FrequencySample::default()
        });
    };
    let mut spiked = false;
    let mut left = frequency;
    while left > 0 {
        if !spiked && t > BEGIN + SPIKE && left > 2 {
            spiked = true;
            add(t, 0, 9_999_000);
            add(t + 100, 0, 600_000);
            left -= 2;
        }
        add(t + 200, random.below(2), 600_000 + 100_000 * random.below(20));
        left -= 1;
        t += 10_000 + random.below(10_000);
    }
    let mut t = BEGIN;
    for i in 0..utilization as u64 {
        let task = (i % 8 > 3).then(|| 1 + (i % 3) as u32);
        run.tables.utilization.push(UtilizationSample {
            t_ns: t,
            kind: if task.is_some() { "task" } else { "cpu" }.into(),
            cpu: Some((i % 4) as u32),
            tid: task,
            task: task.map(|tid| format!("task-{}", tid - 1)),
            util_avg: Some(random.below(1024) as u32),
            ..UtilizationSample::default()
        });
        t += 5_000 + random.below(5_000);
    }
}
