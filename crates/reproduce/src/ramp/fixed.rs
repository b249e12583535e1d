//! Ramp-ups at one frequency: no governor and no migration, so load tracking alone decides.
//!
//! The task starts to spin somewhere in a period of 1024 units and somewhere between two ticks of
//! 1 ms; both are unknown, so both are swept.

use super::{Core, Ramp, Ramps, Stretch};
use crate::load_tracking::platform;
use crate::quantity::Undecided;
use flyball_pelt::{ClockPelt, CpuSpeed, EntityState, PeltMultiplier, SchedAvg, frequency_scale};

/// Steps of the first tick, in ns.
const TICK_STEP_NS: u64 = 12_500;
/// Steps of the position in the period, in units.
const CONTRIB_STEP: u32 = 32;
/// HZ=1000.
const TICK_NS: u64 = 1_000_000;
/// Ticks of one ramp-up; the slowest reaches 1000 after 1.4 s.
const TICKS: u64 = 2_000;

/// One CPU at one frequency.
#[derive(Clone, Copy)]
struct Speed {
    cpu: CpuSpeed,
    core: Core,
    mhz: u64,
}

/// The big core at its highest, or the little one at its lowest frequency.
pub(super) fn ramps(core: Core) -> Result<Ramps, Undecided> {
    let m1 = platform("m1")?;
    let capacity_of = |cpu: &&flyball_platform::Cpu| cpu.capacity;
    let cpu = match core {
        Core::Big => m1.cpus.iter().max_by_key(capacity_of),
        Core::Little => m1.cpus.iter().min_by_key(capacity_of),
    };
    let found = cpu.and_then(|cpu| Some((cpu, &m1.domains.get(cpu.domain)?.opps)));
    let Some((cpu, opps)) = found else {
        return Err(Undecided::Reason("the platform has no CPU".to_owned()));
    };
    let khz = if core == Core::Big { opps.max() } else { opps.min() };
    let speed = Speed {
        cpu: CpuSpeed {
            capacity: cpu.capacity.0,
            frequency_scale: frequency_scale(khz.0, opps.max().0),
        },
        core,
        mhz: khz.0 / 1000,
    };
    let starts = (1..=TICK_NS / TICK_STEP_NS)
        .flat_map(|step| (0..1024 / CONTRIB_STEP).map(move |part| (step, part)));
    let all =
        starts.map(|(step, part)| ramp(speed, step * TICK_STEP_NS, part * CONTRIB_STEP)).collect();
    Ok(Ramps::new(all, "the first tick and the position in the period of load tracking"))
}

fn ramp(speed: Speed, first_tick: u64, contrib: u32) -> Ramp {
    let mut clock = ClockPelt::starting_at(0, PeltMultiplier::X1);
    let mut task = SchedAvg::starting_at(clock.now()).with_period_contrib(contrib);
    let mut ramp = Ramp { util: vec![(0.0, 0)], ..Ramp::default() };
    let mut now = 0;
    for tick in 0..TICKS {
        let delta = if tick == 0 { first_tick } else { TICK_NS };
        now += delta;
        clock.advance(delta, speed.cpu);
        let before = task.util_avg();
        task.update_entity(clock.now(), 1024, EntityState::Running);
        if task.util_avg() != before {
            ramp.util.push((now as f64 / 1e6, task.util_avg()));
        }
    }
    ramp.end_ms = now as f64 / 1e6;
    ramp.running =
        vec![Stretch { core: speed.core, mhz: speed.mhz, from_ms: 0.0, to_ms: ramp.end_ms }];
    ramp
}
