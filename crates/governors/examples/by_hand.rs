//! Drives two governors by hand through one load: a CPU that is busy for a tenth of the time, then
//! always for a second, then for a tenth again. schedutil is told utilisation, powerd is polled.
//!
//! ```text
//! cargo run -p flyball-governors --example by_hand
//! ```

#![allow(clippy::print_stdout, reason = "its result")]

use flyball_governors::pelt::{
    ClockPelt, CpuSpeed, EntityState, PeltMultiplier, SchedAvg, frequency_scale,
};
use flyball_governors::units::{CpuId, KiloHertz, Nanos, OppTable};
use flyball_governors::{
    CpuSignals, CpuTimes, Decision, Domain, Event, Governor, Request, UtilFlags, create,
};
use std::error::Error;

const CPU: CpuId = CpuId(0);
const TICK: Nanos = Nanos::from_millis(1);

/// A governor, and what its hardware does.
struct Driver {
    governor: Box<dyn Governor>,
    domain: Domain,
    frequency: KiloHertz,
    wake_at: Option<Nanos>,
}

impl Driver {
    fn new(name: &str, domain: &Domain) -> Result<Driver, Box<dyn Error>> {
        let mut driver = Driver {
            governor: create(name)?,
            domain: domain.clone(),
            frequency: domain.current,
            wake_at: None,
        };
        let decision = driver.governor.start(domain, Nanos::ZERO);
        driver.obey(decision, Nanos::ZERO);
        Ok(driver)
    }

    /// Tells the governor of an event and does what it asks.
    fn tell(&mut self, event: &Event<'_>, now: Nanos) {
        let decision = self.governor.on(event, now);
        self.obey(decision, now);
    }

    fn obey(&mut self, decision: Decision, now: Nanos) {
        if decision.wake_at.is_some() {
            self.wake_at = decision.wake_at;
        }
        let Some(Request::Frequency { target, relation }) = decision.request else { return };
        let Domain { opps, min, max, .. } = &self.domain;
        self.frequency = opps.resolve(target, *min, *max, relation);
        // A real driver would say so when the hardware has followed.
        self.tell(&Event::Applied { frequency: self.frequency }, now);
    }
}

/// Whether the CPU is busy in a tick of this number.
fn is_busy(tick: u64) -> bool {
    (500..1500).contains(&tick) || tick.is_multiple_of(10)
}

fn main() -> Result<(), Box<dyn Error>> {
    let opps = OppTable::from_khz(&[600_000, 1_000_000, 1_400_000, 1_800_000, 2_064_000])?;
    let domain = Domain::new(vec![CPU], opps).hz(1000);
    let mut schedutil = Driver::new("schedutil", &domain)?;
    let mut powerd = Driver::new("powerd", &domain)?;

    let mut clock = ClockPelt::starting_at(0, PeltMultiplier::X1);
    let mut queue = SchedAvg::starting_at(0);
    let (mut times, mut idle_calls) = (CpuTimes::ZERO, 0);
    println!("   ms  util  schedutil   powerd");
    for tick in 0..4000 {
        let now = Nanos::from_millis(tick + 1);
        let busy = is_busy(tick);
        if busy {
            let scale = frequency_scale(schedutil.frequency.0, domain.opps.max().0);
            clock.advance(TICK.0, CpuSpeed { frequency_scale: scale, ..CpuSpeed::FULL });
            times.busy = times.busy + TICK;
        } else {
            clock.advance_idle(TICK.0);
            times.idle = times.idle + TICK;
            idle_calls += 1;
        }
        let state = if busy { EntityState::Running } else { EntityState::Blocked };
        if queue.update_entity(clock.now(), 1024, state) {
            let signals = [CpuSignals::IDLE.util(queue.util_avg()).idle_calls(idle_calls)];
            let (signals, flags) = (signals.as_slice().into(), UtilFlags::NONE);
            schedutil.tell(&Event::Util { cpu: CPU, signals, flags }, now);
        }
        if powerd.wake_at.is_some_and(|at| at <= now) {
            let times = [times];
            powerd.tell(&Event::Poll { times: times.as_slice().into() }, now);
        }
        if (tick + 1).is_multiple_of(250) {
            let (util, [a, b]) = (queue.util_avg(), [schedutil.frequency, powerd.frequency]);
            println!("{:5} {util:5}   {a}  {b}", tick + 1);
        }
    }
    Ok(())
}
