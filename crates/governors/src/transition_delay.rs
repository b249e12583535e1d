//! The least time between frequency changes, as cpufreq derives it from what a driver declares.

use crate::Domain;
use flyball_units::{Nanos, RateLimitRule};

/// cpufreq's "eternal" latency, in ns.
const ETERNAL: u32 = u32::MAX;

/// What a driver declares about changing the frequency, and the kernel that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverDelay {
    /// The kernel's rule.
    pub rule: RateLimitRule,
    /// Latency of a transition; None is cpufreq's "eternal".
    pub latency: Option<Nanos>,
    /// The least time between changes that the driver asks for, if any.
    pub delay: Option<Nanos>,
}

/// Default of schedutil's `rate_limit_us` and base of ondemand's and conservative's
/// `sampling_rate`, in us.
///
/// The driver's own delay counts first. Else, with the declared latency in whole us: up to 6.8
/// min(1000 x latency, 10 ms), 6.9 to 6.11 min(1000 x latency, 2 ms), since 6.12 1.5 x latency;
/// 1 ms where the latency is below 1 us. An "eternal" latency of 2^32 - 1 ns thus gives 6.44 s
/// since 6.12.
pub fn transition_delay_us(driver: DriverDelay) -> u32 {
    let DriverDelay { rule, latency, delay } = driver;
    let us = |time: Nanos| u32::try_from(time.0 / 1000).unwrap_or(u32::MAX);
    if let Some(delay) = delay.map(us)
        && delay > 0
    {
        return delay;
    }
    let latency_ns = latency.map_or(ETERNAL, |ns| u32::try_from(ns.0).unwrap_or(ETERNAL));
    let latency = latency_ns / 1000;
    if latency == 0 {
        return 1000;
    }
    match rule {
        RateLimitRule::UpTo6_8 => latency.saturating_mul(1000).min(10_000),
        RateLimitRule::From6_9 => latency.saturating_mul(1000).min(2_000),
        RateLimitRule::From6_12 => latency + (latency >> 1),
    }
}

/// The same for a domain.
pub(crate) fn of_domain(domain: &Domain) -> u32 {
    transition_delay_us(DriverDelay {
        rule: domain.rate_limit_rule,
        latency: domain.transition_latency,
        delay: domain.transition_delay,
    })
}

/// Default and lowest value of `sampling_rate`, in us: never below two ticks.
pub(crate) fn sampling_rate(domain: &Domain) -> (i64, i64) {
    let two_ticks = i64::try_from(domain.tick.0.saturating_mul(2) / 1000).unwrap_or(i64::MAX);
    let lowest = two_ticks.clamp(1, i64::from(u32::MAX));
    (lowest.max(i64::from(of_domain(domain))), lowest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use RateLimitRule::{From6_9, From6_12, UpTo6_8};

    fn transition_delay_us(
        rule: RateLimitRule,
        latency: Option<Nanos>,
        delay: Option<Nanos>,
    ) -> u32 {
        super::transition_delay_us(DriverDelay { rule, latency, delay })
    }

    #[test]
    fn an_eternal_latency_blocks_for_seconds_since_6_12() {
        assert_eq!(transition_delay_us(From6_12, None, None), 6_442_450);
        assert_eq!(transition_delay_us(From6_9, None, None), 2_000);
        assert_eq!(transition_delay_us(UpTo6_8, None, None), 10_000);
    }

    #[test]
    fn each_rule_has_its_own_limit() {
        let latency = |us| Some(Nanos::from_micros(us));
        assert_eq!(transition_delay_us(From6_12, latency(20), None), 30);
        assert_eq!(transition_delay_us(From6_12, latency(7), None), 10, "7 + 3");
        assert_eq!(transition_delay_us(From6_9, latency(20), None), 2_000);
        assert_eq!(transition_delay_us(From6_9, latency(1), None), 1_000);
        assert_eq!(transition_delay_us(UpTo6_8, latency(3), None), 3_000);
        assert_eq!(transition_delay_us(From6_12, Some(Nanos(999)), None), 1_000);
        assert_eq!(transition_delay_us(From6_12, latency(20), latency(500)), 500);
        assert_eq!(transition_delay_us(From6_12, latency(20), Some(Nanos(999))), 30);
    }
}
