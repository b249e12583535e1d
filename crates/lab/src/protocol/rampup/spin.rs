//! The measured part: sleeps, then a spin that samples the delivered rate. Between the wake-up and
//! the end of the spin nothing allocates, locks, or calls the system.
//!
//! ```text
//! ..busy..|sleep|sleep|..|sleep|SPIN: s s s s  s  s   s    s ...|busy, random|sleep|..
//!                              begin                         end
//! ```
//! Samples lie ever further apart: each when a 64th of the time since the wake-up has passed since
//! the last, so that a time is known to 1.6 %, and never further than half a millisecond.

use flyball_host::{Host, HostError, ThreadUsage, Wake};
use flyball_probe::{Chain, ProbeSample};
use flyball_units::Nanos;
use std::hint::black_box;

/// Two samples are apart by this part of the time since the wake-up.
const PART: u64 = 64;

/// ... but not by more.
const MOST_APART_SECONDS: f64 = 0.5e-3;

/// A sample within a spin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Counter ticks from the wake-up to the sample's start.
    pub after_ticks: u64,
    /// What the probe said.
    pub sample: ProbeSample,
}

/// A spin's lengths in ticks of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// The spin.
    pub spin: u64,
    /// Samples are never further apart.
    pub most_apart: u64,
}

impl Lengths {
    /// For a counter of `hz` ticks per second.
    pub fn new(spin: Nanos, hz: f64) -> Lengths {
        Lengths {
            spin: (spin.as_secs_f64() * hz) as u64,
            most_apart: (MOST_APART_SECONDS * hz) as u64,
        }
    }

    /// Samples that a spin can have, at most.
    pub fn capacity(self) -> usize {
        // 64 back to back until they are a 64th of the time apart, then 64 per factor e, which is 14
        // from a microsecond to a second; then the steady ones.
        1024 + 2 * (self.spin / self.most_apart.max(1)) as usize
    }
}

/// A repetition, as it was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repetition {
    /// The gap that was asked for.
    pub gap: Nanos,
    /// Length of the last sleep, and how late it ended; none where there was none.
    pub idle: Option<(Nanos, i64)>,
    /// The wake-up, on CLOCK_MONOTONIC.
    pub begin: Nanos,
    /// End of the spin.
    pub end: Nanos,
    /// What the kernel accounted to the thread from before the sleeps on.
    pub usage: Option<ThreadUsage>,
    /// Time that the hypervisor took meanwhile, over all CPUs.
    pub steal: Option<Nanos>,
    /// The kernel's number of the thread.
    pub tid: Option<u32>,
    /// The samples.
    pub slots: Vec<Slot>,
}

/// Sleeps, spins, and fills `into`, whose samples have room already. False where the program was
/// asked to end meanwhile.
///
/// # Errors
/// A sleep that the machine refuses.
pub fn repetition(
    host: &dyn Host,
    chain: Chain,
    lengths: Lengths,
    sleeps: u32,
    into: &mut Repetition,
) -> Result<bool, HostError> {
    let times = host.cpu_times().ok();
    let usage = host.usage().ok();
    let mut begin = host.now();
    for _ in 0..sleeps {
        let from = host.now();
        let (wake, woken) = host.wait_until(from + into.gap)?;
        if wake == Wake::Interrupted {
            return Ok(false);
        }
        begin = woken;
        into.idle = Some((woken.since(from), woken.signed_since(from + into.gap)));
    }
    spin(host, chain, lengths, &mut into.slots);
    into.begin = begin;
    into.end = host.now();
    into.usage = usage.and_then(|before| Some(host.usage().ok()?.since(before)));
    into.steal = times.and_then(|before| {
        let during = host.cpu_times().ok()?.since(&before);
        Some(during.duration(during.cpus.iter().map(|(_, time)| time.steal).sum()))
    });
    Ok(true)
}

/// Samples the rate for the length of a spin. What does not fit in `slots` is left out.
fn spin(host: &dyn Host, chain: Chain, lengths: Lengths, slots: &mut Vec<Slot>) {
    let begin = host.counter();
    slots.clear();
    let mut due = 0;
    loop {
        let after_ticks = host.counter().wrapping_sub(begin);
        if after_ticks >= lengths.spin {
            return;
        }
        if after_ticks < due || slots.len() == slots.capacity() {
            chain.time(host);
            continue;
        }
        let sample = chain.sample(host);
        slots.push(Slot { after_ticks, sample });
        due = after_ticks + (after_ticks / PART).min(lengths.most_apart);
    }
}

/// The times of the samples of a spin in nanoseconds since its begin, where each takes `shortest`: for
/// a machine in virtual time.
pub fn steps(spin_ns: u64, shortest: u64) -> impl Iterator<Item = u64> {
    let most_apart = (MOST_APART_SECONDS * 1e9) as u64;
    let next = move |at: &u64| Some(at + (at / PART).clamp(shortest, most_apart.max(shortest)));
    std::iter::successors(Some(0), next).take_while(move |at| *at < spin_ns)
}

/// Works for so many ticks of the counter.
pub fn busy(host: &dyn Host, chain: Chain, ticks: u64) {
    let begin = host.counter();
    while host.counter().wrapping_sub(begin) < ticks {
        black_box(chain.time(host));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;

    #[test]
    fn samples_lie_ever_further_apart_and_end_with_the_spin() {
        // A recorded machine multiplies in 3 ns, and its counter ticks in nanoseconds.
        let host = RecordedHost::from_listing("/sys/devices/system/cpu/online = 0\n").unwrap();
        let hz = host.counter_hz().unwrap().hz;
        let lengths = Lengths::new(Nanos::from_millis(100), hz);
        let mut found = Repetition {
            gap: Nanos::from_millis(3),
            slots: Vec::with_capacity(lengths.capacity()),
            ..Repetition::default()
        };
        let room = found.slots.capacity();
        assert!(repetition(&host, Chain::new(1_000), lengths, 4, &mut found).unwrap());
        let (idle, late) = found.idle.unwrap();
        assert!(idle >= Nanos::from_millis(3) && late >= 0);
        let spun = found.end.since(found.begin).0 as f64 / 1e6;
        assert!((100.0..101.0).contains(&spun), "{spun}");
        assert_eq!(found.slots.capacity(), room, "nothing was allocated");
        assert!((300..room).contains(&found.slots.len()), "{}", found.slots.len());
        let apart = |at: usize| found.slots[at + 1].after_ticks - found.slots[at].after_ticks;
        let last = found.slots.len() - 2;
        assert!(apart(0) < apart(last / 2) && apart(last / 2) < apart(last));
        assert!(apart(last) as f64 / hz < 0.6e-3);
        assert!(found.slots.iter().all(|slot| !slot.sample.disturbed));
    }
}
