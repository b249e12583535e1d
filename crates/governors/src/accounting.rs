//! From cumulative CPU times to a load: the meters of the polling governors.

use crate::CpuTimes;
use flyball_units::Nanos;

/// Differences of one CPU's times since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Not busy: idle, and what the rule counts as idle.
    pub idle: u64,
    /// All of it.
    pub total: u64,
}

impl Spent {
    /// Load in percent as FreeBSD's powerd computes it: 100 - 100 x idle / total; 0 where no time
    /// passed.
    pub fn load_percent(self) -> u64 {
        if self.total == 0 {
            return 0;
        }
        100 - scaled(self.idle, 100, self.total).min(100)
    }
}

/// `value` x `factor` / `divisor`, rounded down; saturates. 0 where `divisor` is 0.
///
/// The product nearly always fits 64 bits, and a division of 128 takes ten times as long.
#[inline]
pub(crate) fn scaled(value: u64, factor: u64, divisor: u64) -> u64 {
    match value.checked_mul(factor) {
        Some(product) => product.checked_div(divisor).unwrap_or(0),
        None => {
            let product = u128::from(value) * u128::from(factor);
            let quotient = product.checked_div(u128::from(divisor)).unwrap_or(0);
            u64::try_from(quotient).unwrap_or(u64::MAX)
        }
    }
}

/// How the times are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    /// Time of tasks of lowered priority counts as idle.
    pub nice_is_idle: bool,
    /// Time spent waiting for I/O counts as busy.
    pub iowait_is_busy: bool,
}

/// Idle and total time of one CPU between two looks. A counter that went backwards stands still.
pub(crate) fn spent(now: CpuTimes, before: CpuTimes, reading: Reading) -> Spent {
    let busy = now.busy.since(before.busy).0;
    let nice = now.nice.since(before.nice).0;
    let idle = now.idle.since(before.idle).0;
    let iowait = now.iowait.since(before.iowait).0;
    let mut not_busy = idle;
    if !reading.iowait_is_busy {
        not_busy = not_busy.saturating_add(iowait);
    }
    if reading.nice_is_idle {
        not_busy = not_busy.saturating_add(nice);
    }
    let total = busy.saturating_add(nice).saturating_add(idle).saturating_add(iowait);
    Spent { idle: not_busy, total }
}

/// The times of the last look; the first look only sets them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastTimes {
    times: Vec<CpuTimes>,
    // Kept, so that a look allocates nothing.
    spent: Vec<Spent>,
}

impl LastTimes {
    /// Forgets the last look.
    pub fn clear(&mut self) {
        self.times.clear();
    }

    /// Differences to the last look, CPU by CPU; None at the first look and where the number of
    /// CPUs changed.
    pub fn advance(&mut self, times: &[CpuTimes], reading: Reading) -> Option<&[Spent]> {
        if times.is_empty() || times.len() != self.times.len() {
            self.times.clear();
            self.times.extend_from_slice(times);
            self.spent.clear();
            self.spent.resize(times.len(), Spent::default());
            return None;
        }
        for ((slot, before), &now) in self.spent.iter_mut().zip(&mut self.times).zip(times) {
            *slot = spent(now, *before, reading);
            *before = now;
        }
        Some(&self.spent)
    }
}

/// What the samples of a Linux polling governor say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Highest load of the policy's CPUs, in percent.
    pub load: u32,
    /// The same of this sample alone, where [`LoadMeter`] repeats an earlier load.
    pub own_load: u32,
    /// Least number of whole sampling periods that a CPU was idle, where one was idle for more
    /// than two.
    pub idle_periods: Option<u32>,
}

/// Load as ondemand and conservative see it.
///
/// load = 100 x (elapsed - idle) / elapsed in whole microseconds, the maximum over the CPUs. A CPU
/// that was idle for more than two sampling periods has just woken up for something: its load of
/// before counts once more.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadMeter {
    last: Vec<CpuTimes>,
    last_look: Nanos,
    previous: Vec<u32>,
}

/// Idle time between two looks as Linux reads it: counters in whole microseconds, each truncated.
fn idle_us(now: CpuTimes, before: CpuTimes, reading: Reading) -> u64 {
    let idle = |times: CpuTimes| {
        let iowait = if reading.iowait_is_busy { 0 } else { times.iowait.0 / 1000 };
        (times.idle.0 / 1000).saturating_add(iowait)
    };
    let nice = if reading.nice_is_idle { now.nice.since(before.nice).0 / 1000 } else { 0 };
    idle(now).saturating_sub(idle(before)).saturating_add(nice)
}

impl LoadMeter {
    /// The sample since the last look; None at the first.
    pub fn sample(
        &mut self,
        times: &[CpuTimes],
        now: Nanos,
        period_us: u64,
        reading: Reading,
    ) -> Option<Sample> {
        let elapsed = (now.0 / 1000).saturating_sub(self.last_look.0 / 1000);
        self.last_look = now;
        if times.is_empty() || times.len() != self.last.len() {
            self.last.clear();
            self.last.extend_from_slice(times);
            self.previous.clear();
            self.previous.resize(times.len(), 0);
            return None;
        }
        let mut sample = Sample { load: 0, own_load: 0, idle_periods: None };
        let long = period_us.saturating_mul(2);
        for ((before, previous), &now) in self.last.iter_mut().zip(&mut self.previous).zip(times) {
            let idle = idle_us(now, *before, reading);
            let frozen = *before == now;
            *before = now;
            let own_load = if elapsed == 0 || frozen {
                *previous
            } else {
                // Between 0 and 100, as what was busy is at most what elapsed.
                scaled(elapsed.saturating_sub(idle), 100, elapsed) as u32
            };
            let load = if elapsed > 0 && idle > long && *previous > 0 {
                std::mem::take(previous)
            } else {
                *previous = own_load;
                own_load
            };
            if idle > long {
                let periods = u32::try_from(idle / period_us.max(1)).unwrap_or(u32::MAX);
                let least = sample.idle_periods.map_or(periods, |least| least.min(periods));
                sample.idle_periods = Some(least);
            }
            sample.load = sample.load.max(load);
            sample.own_load = sample.own_load.max(own_load);
        }
        Some(sample)
    }

    /// Forgets everything: the next look is a first one.
    pub fn clear(&mut self) {
        self.last.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(busy_ms: u64, idle_ms: u64) -> [CpuTimes; 1] {
        let (busy, idle) = (Nanos::from_millis(busy_ms), Nanos::from_millis(idle_ms));
        [CpuTimes { busy, idle, ..CpuTimes::default() }]
    }

    #[test]
    fn a_long_idle_time_repeats_the_load_of_before_once() {
        let mut meter = LoadMeter::default();
        let mut look = |busy, idle| {
            let now = Nanos::from_millis(busy + idle);
            meter.sample(&times(busy, idle), now, 10_000, Reading::default())
        };
        assert_eq!(look(0, 0), None);
        assert_eq!(look(8, 2), Some(Sample { load: 80, own_load: 80, idle_periods: None }));
        assert_eq!(look(8, 32), Some(Sample { load: 80, own_load: 0, idle_periods: Some(3) }));
        assert_eq!(look(8, 62), Some(Sample { load: 0, own_load: 0, idle_periods: Some(3) }));
    }

    #[test]
    fn what_counts_as_idle_is_the_rules_choice() {
        let ms = Nanos::from_millis;
        let now = CpuTimes { busy: ms(10), nice: ms(20), idle: ms(30), iowait: ms(40) };
        let idle = |nice_is_idle, iowait_is_busy| {
            let reading = Reading { nice_is_idle, iowait_is_busy };
            spent(now, CpuTimes::default(), reading).idle / 1_000_000
        };
        assert_eq!(idle(false, false), 70);
        assert_eq!(idle(true, false), 90);
        assert_eq!(idle(false, true), 30);
    }

    #[test]
    fn scaling_is_exact_however_wide() {
        assert_eq!(scaled(7, 100, 9), 77);
        assert_eq!(scaled(u64::MAX, 100, u64::MAX), 100);
        assert_eq!(scaled(u64::MAX, 100, 99), u64::MAX, "it saturates");
        assert_eq!((scaled(5, 100, 0), scaled(u64::MAX, 100, 0)), (0, 0));
    }

    #[test]
    fn frozen_accounting_is_no_load() {
        let mut meter = LoadMeter::default();
        meter.sample(&times(5, 5), Nanos::ZERO, 10_000, Reading::default());
        let sample = meter.sample(&times(5, 5), Nanos::from_secs(1), 10_000, Reading::default());
        assert_eq!(sample.map(|sample| sample.load), Some(0));
    }
}
