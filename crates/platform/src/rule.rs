//! What rules a clock domain: the governor as its kernel starts it, and the domain as the governor
//! sees it.

use crate::model::{ClockDomain, IdleTick, Kernel, Platform};
use flyball_governors::{
    Domain, DriverDelay, Governor, Schedutil, UnknownGovernor, create, transition_delay_us,
};

/// The governor of this name on `kernel`: schedutil has the rate limit that the kernel's
/// administrator set, if any.
///
/// # Errors
/// No governor has this name.
pub fn governor(name: &str, kernel: &Kernel) -> Result<Box<dyn Governor>, UnknownGovernor> {
    let mut governor = create(name)?;
    if let Some((tunable, value)) = tunable_of(name, kernel) {
        // Every rate limit of 32 bits is in the tunable's range.
        let _ = governor.set(tunable, value);
    }
    Ok(governor)
}

/// The tunable of the governor of this name that the kernel's administrator set, if any.
pub fn tunable_of(name: &str, kernel: &Kernel) -> Option<(&'static str, i64)> {
    let limit = kernel.rate_limit_us.filter(|_| name == Schedutil::NAME)?;
    Some(("rate_limit_us", limit.into()))
}

/// schedutil's rate limit on a domain, in us: as the administrator set it, or as the kernel derives
/// it from what the driver declares.
pub fn rate_limit_us(domain: &ClockDomain, kernel: &Kernel) -> u32 {
    let costs = &domain.transition;
    kernel.rate_limit_us.unwrap_or_else(|| {
        transition_delay_us(DriverDelay {
            rule: kernel.rate_limit_rule,
            latency: costs.declared_latency,
            delay: costs.declared_delay,
        })
    })
}

/// A domain of `platform` as a governor sees it on `kernel`: with the hardware's limits, at its
/// lowest operating point.
pub fn domain(
    platform: &Platform,
    domain: &ClockDomain,
    kernel: &Kernel,
    uclamp_used: bool,
) -> Domain {
    let cpus = platform.cpus.iter().filter(|cpu| domain.cpus.contains(&cpu.id));
    Domain::new(domain.cpus.clone(), domain.opps.clone())
        .capacity(cpus.map(|cpu| cpu.capacity.0).max().unwrap_or(1024))
        .hz(kernel.hz)
        .stat_hz(kernel.stat_hz)
        .transition_latency(domain.transition.declared_latency)
        .transition_delay(domain.transition.declared_delay)
        .frequency_invariant(domain.frequency_invariant)
        .fast_switch(domain.fast_switch)
        .exact_idle_accounting(kernel.idle_tick == IdleTick::Stops)
        .uclamp_used(uclamp_used)
        .need_update_limits(domain.transition.need_update_limits)
        .rate_limit_rule(kernel.rate_limit_rule)
        .rules(kernel.rules)
        .features(kernel.features)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_rate_limit_is_schedutil_s() {
        let kernel = Kernel::named("linux-6.8-70us").unwrap();
        let limit = |name| {
            let governor = governor(name, &kernel).unwrap();
            let tunables = governor.tunables();
            tunables.iter().find(|t| t.name == "rate_limit_us").map(|t| t.value)
        };
        assert_eq!(limit("schedutil"), Some(70));
        assert_eq!(limit("performance"), None);
        let platform = Platform::named("apple-m1").unwrap();
        let domain = &platform.domains[0];
        assert_eq!(rate_limit_us(domain, &kernel), 70);
        let plain = Kernel::named("linux-6.8").unwrap();
        assert_eq!(rate_limit_us(domain, &plain), 10_000);
    }
}
