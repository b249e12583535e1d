//! A small domain for unit tests.

use crate::{CpuTimes, Domain, Event};
use flyball_units::{CpuId, Nanos, OppTable};

/// One CPU of capacity 1024 on these operating points, at the lowest; 1 ms ticks.
pub(crate) fn domain(khz: &[u64]) -> Domain {
    Domain::new(vec![CpuId(0)], OppTable::from_khz(khz).unwrap())
        .transition_latency(Some(Nanos::from_micros(20)))
}

/// The same with `cpus` CPUs.
pub(crate) fn shared_domain(khz: &[u64], cpus: u32) -> Domain {
    Domain { cpus: (0..cpus).map(CpuId).collect(), ..domain(khz) }
}

/// One CPU's accounting under a steady load.
pub(crate) struct Load {
    now: Nanos,
    times: CpuTimes,
}

impl Load {
    pub fn new() -> Load {
        Load { now: Nanos::ZERO, times: CpuTimes::default() }
    }

    pub fn now(&self) -> Nanos {
        self.now
    }

    /// The accounting as it is now.
    pub fn poll(&self) -> Event<'static> {
        Event::Poll { times: vec![self.times].into() }
    }

    /// Lets time pass with the CPU busy for `percent` of it.
    pub fn pass(&mut self, ms: u64, percent: u64) -> &mut Load {
        let span = ms * 1_000_000;
        self.now.0 += span;
        self.times.busy.0 += span * percent / 100;
        self.times.idle.0 += span - span * percent / 100;
        self
    }
}
