//! One schedutil policy as a plain struct: what the governor does, without events.

use crate::cpufreq_policy::CpufreqPolicy;
use crate::{CpuSignals, Domain, UtilFlags, transition_delay};
use flyball_pelt::{
    CpuDemand, DomainFrequency, FairSignals, Features, Headroom, IowaitBoost, PerfLevel,
    ResponseTime, TopPoints, UpdateDelay, apply_headroom, apply_response_time, cfs_utilization,
    clamped_utilization, default_response_time_ms, effective_utilization, headroom_quarter,
    raw_frequency, reference_frequency, response_time_multiplier,
};
use flyball_units::{KernelRule, KernelRules, KiloHertz, Nanos, Relation};

/// A schedutil policy of Linux, by the rules of the domain's version, with patches 5, 6, 13 and 14 of the response-time series where
/// the domain's features have them.
///
/// ```text
/// util = max(effective utilisation, iowait boost)            per CPU
/// perf = max(min, min(max, util + util / 4))                 per CPU; the maximum over the CPUs
/// raw  = reference x perf / capacity                         reference: f_max, or 1.25 x current
/// next = lowest operating point >= raw inside the limits     the last one where raw is unchanged
/// ```
/// Up to 6.7 clamps bound the utilisation before interrupts scale it, the quarter is added to what they
/// leave, and the reference without invariance is the present frequency (`headroom-after-clamp`); up to
/// 6.4 tasks that wait do not count (no `runnable-boost`).
///
/// An update passes when `rate_limit_us` is over since the last *accepted change*: an unchanged
/// frequency leaves the limiter open. New limits and more deadline bandwidth than the last
/// utilisation covered pass at once, and look the frequency up again; a driver that needs to hear of
/// new limits (`need_update_limits`) is then given the frequency even if it is the same. The clock starts at 0, as the
/// kernel's does: before `rate_limit_us` of it nothing passes. A policy of one CPU keeps its
/// frequency, instead of lowering it, where the CPU has not been idle since the last look and is not
/// capped by uclamp; the cached raw value is restored then, so that the next update looks again.
#[derive(Clone, Debug)]
pub struct SugovPolicy {
    limits: CpufreqPolicy,
    capacity: u32,
    invariant: bool,
    uclamp_used: bool,
    need_update_limits: bool,
    tick: u64,
    features: Features,
    rules: KernelRules,
    /// Whether the headroom is the stock quarter and nothing scales the utilisation.
    stock: bool,
    /// Whether that is so, and clamps bound what the headroom was added to.
    plain: bool,
    rate_limit_us: u32,
    rate_limit: i64,
    default_response_time_ms: u32,
    response_time_ms: u32,
    response_time_multiplier: u32,
    cpus: Vec<Cpu>,
    next: KiloHertz,
    cached_raw: u64,
    last_update: u64,
    need_update: bool,
}

/// What is kept per CPU.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    boost: IowaitBoost,
    /// Least performance at the last look (up to 6.7 deadline bandwidth): what deadline bandwidth is
    /// compared with.
    min: u32,
    idle_calls: u64,
    /// Utilisation at the last headroom (patch 14).
    util: u32,
}

impl SugovPolicy {
    /// A policy over all CPUs of the domain, just started.
    pub fn new(domain: &Domain) -> SugovPolicy {
        let features = domain.features;
        let opps = &domain.opps;
        let second = opps.resolve(
            KiloHertz(opps.max().0.saturating_sub(1)),
            opps.min(),
            opps.max(),
            Relation::H,
        );
        let top = TopPoints {
            capacity: domain.capacity,
            highest: opps.max().0,
            second_highest: second.0,
        };
        let response_time_ms = default_response_time_ms(top, features.pelt_multiplier);
        let stock = !(features.response_time
            || features.headroom_from_delay
            || features.headroom_covers_waiting
            || features.no_headroom_when_falling);
        let mut policy = SugovPolicy {
            limits: CpufreqPolicy::of(domain),
            capacity: domain.capacity,
            invariant: domain.frequency_invariant,
            uclamp_used: domain.uclamp_used,
            need_update_limits: domain.need_update_limits,
            tick: domain.tick.0,
            features,
            rules: domain.rules,
            stock,
            plain: stock
                && domain.capacity > 0
                && !domain.rules.has(KernelRule::HeadroomAfterClamp),
            rate_limit_us: 0,
            rate_limit: 0,
            default_response_time_ms: response_time_ms,
            response_time_ms,
            response_time_multiplier: response_time_multiplier(ResponseTime {
                default_ms: response_time_ms,
                wanted_ms: response_time_ms,
            }),
            cpus: Vec::new(),
            next: KiloHertz(0),
            cached_raw: 0,
            last_update: 0,
            need_update: false,
        };
        policy.set_rate_limit_us(transition_delay::of_domain(domain));
        policy.restart(domain.cpus.len());
        policy
    }

    /// Starts anew over so many CPUs, as after a change of the online CPUs: nothing is remembered
    /// but limits and tunables.
    pub fn restart(&mut self, cpus: usize) {
        self.cpus = vec![Cpu::default(); cpus];
        self.next = KiloHertz(0);
        self.cached_raw = 0;
        self.last_update = 0;
        self.need_update = self.need_update_limits;
    }

    /// A utilisation update of CPU number `cpu` (its position among the policy's CPUs, as in
    /// `signals`). The new frequency where one is accepted.
    #[inline]
    pub fn update(
        &mut self,
        cpu: usize,
        signals: &[CpuSignals],
        flags: UtilFlags,
        now: Nanos,
    ) -> Option<KiloHertz> {
        let (state, signal) = (self.cpus.get_mut(cpu)?, signals.get(cpu)?);
        state.boost.update(now.0, flags.iowait, self.tick);
        if flags.deadline_bandwidth || signal.bw_dl > state.min {
            self.need_update = true;
        }
        let since = now.0.wrapping_sub(self.last_update) as i64;
        if !self.need_update && since < self.rate_limit {
            return None;
        }
        if self.cpus.len() > 1 {
            self.update_shared(signals, now)
        } else {
            self.update_single(signal, now)
        }
    }

    fn update_shared(&mut self, signals: &[CpuSignals], now: Nanos) -> Option<KiloHertz> {
        let mut highest = 0;
        for (cpu, signal) in signals.iter().enumerate().take(self.cpus.len()) {
            highest = highest.max(self.perf(cpu, signal, now));
        }
        let next = self.next_frequency(highest);
        self.accept(next, now)
    }

    fn update_single(&mut self, signal: &CpuSignals, now: Nanos) -> Option<KiloHertz> {
        let cached = self.cached_raw;
        let perf = self.perf(0, signal, now);
        let mut next = self.next_frequency(perf);
        if self.hold(signal) && next < self.next && !self.need_update {
            next = self.next;
            self.cached_raw = cached;
        }
        self.accept(next, now)
    }

    /// Performance that CPU number `cpu` needs, with headroom; 0 for a CPU the policy does not
    /// have. Consumes the CPU's iowait boost and remembers its minimum.
    #[inline]
    pub fn perf(&mut self, cpu: usize, signals: &CpuSignals, now: Nanos) -> u32 {
        let Some(state) = self.cpus.get_mut(cpu) else { return 0 };
        let others = signals.rt | signals.dl | signals.irq | state.boost.boost();
        if !self.plain || others != 0 || signals.rt_runnable {
            return self.perf_for_all(cpu, signals, now);
        }
        // Nearly always fair tasks are all there is: the same, shorter.
        let fair = fair_signals(signals, self.rules);
        state.min = signals.bw_dl.max(signals.uclamp_min);
        let max = self.capacity.min(signals.uclamp_max);
        let ahead = headroom_quarter(cfs_utilization(fair, self.capacity));
        state.min.max(max.min(ahead))
    }

    /// The same for tasks of all classes, interrupts, and all rules.
    fn perf_for_all(&mut self, cpu: usize, signals: &CpuSignals, now: Nanos) -> u32 {
        let capacity = self.capacity;
        let Some(state) = self.cpus.get_mut(cpu) else { return 0 };
        let boost = state.boost.apply(now.0, capacity, self.tick);
        let demand = CpuDemand::IDLE
            .cfs(cfs_utilization(fair_signals(signals, self.rules), capacity))
            .rt(signals.rt)
            .dl(signals.dl)
            .bw_dl(signals.bw_dl)
            .irq(signals.irq)
            .uclamp_min(signals.uclamp_min)
            .uclamp_max(signals.uclamp_max)
            .uclamp_used(self.uclamp_used)
            .rt_runnable(signals.rt_runnable);
        if self.rules.has(KernelRule::HeadroomAfterClamp) {
            state.min = signals.bw_dl;
            let util = clamped_utilization(&demand, capacity);
            let boosts = state.boost.boost() > 0;
            return headroom_quarter(if boosts { util.max(demand.clamp(boost)) } else { util });
        }
        let effective = effective_utilization(&demand, capacity);
        state.min = effective.min;
        let util = effective.util.max(boost);
        let ahead =
            if self.stock { headroom_quarter(util) } else { self.series(cpu, util, signals) };
        effective.perf(ahead)
    }

    /// Response time and headroom of the series, in this order.
    fn series(&mut self, cpu: usize, util: u32, signals: &CpuSignals) -> u32 {
        let util = if self.features.response_time {
            apply_response_time(util, self.response_time_multiplier)
        } else {
            util
        };
        let before = self.cpus.get_mut(cpu).map_or(0, |cpu| std::mem::replace(&mut cpu.util, util));
        let headroom = Headroom {
            delay: UpdateDelay {
                runnable: signals.nr_running,
                slice_us: signals.slice.0 / 1000,
                tick_us: self.tick / 1000,
                rate_limit_us: u64::from(self.rate_limit_us),
            },
            waiting: signals.waiting,
            falling: util < before,
        };
        apply_headroom(util, headroom, &self.features)
    }

    /// The operating point for a performance of `perf`; the same raw value twice skips the look-up.
    pub fn next_frequency(&mut self, perf: u32) -> KiloHertz {
        let (highest, current) = (self.limits.opps.max().0, self.limits.current.0);
        let reference = if self.invariant || !self.rules.has(KernelRule::HeadroomAfterClamp) {
            let invariant = self.invariant;
            reference_frequency(DomainFrequency { highest, current, invariant })
        } else {
            current
        };
        // In 32 bits, as the kernel's.
        let raw = raw_frequency(reference, PerfLevel { perf, capacity: self.capacity }) as u32;
        let raw = u64::from(raw);
        if raw == self.cached_raw && !self.need_update {
            return self.next;
        }
        self.cached_raw = raw;
        self.limits.resolve(KiloHertz(raw), Relation::LE)
    }

    /// Whether the frequency of a single CPU is not to be lowered: it was not idle since the last
    /// look. A CPU capped by uclamp always complies.
    fn hold(&mut self, signals: &CpuSignals) -> bool {
        let util = signals.util.max(signals.util_est).min(self.capacity).saturating_add(signals.rt);
        if self.uclamp_used && signals.uclamp_max != 1024 && util >= signals.uclamp_max {
            return false;
        }
        let Some(cpu) = self.cpus.first_mut() else { return false };
        std::mem::replace(&mut cpu.idle_calls, signals.idle_calls) == signals.idle_calls
    }

    fn accept(&mut self, next: KiloHertz, now: Nanos) -> Option<KiloHertz> {
        let insist = std::mem::take(&mut self.need_update) && self.need_update_limits;
        if next == self.next && !insist {
            return None;
        }
        self.next = next;
        self.last_update = now.0;
        self.limits.current = next;
        Some(next)
    }

    /// New limits: the next update passes the rate limit and looks its frequency up.
    pub fn set_limits(&mut self, min: KiloHertz, max: KiloHertz) {
        self.limits.set_limits(min, max);
        self.need_update = true;
    }

    pub(super) fn limits(&mut self) -> &mut CpufreqPolicy {
        &mut self.limits
    }

    /// The frequency that is in force now (`policy->cur`): the base without frequency invariance.
    /// An accepted frequency counts as in force at once.
    pub fn set_current(&mut self, current: KiloHertz) {
        self.limits.current = current;
    }

    /// `rate_limit_us`: least time between changes.
    pub fn set_rate_limit_us(&mut self, us: u32) {
        self.rate_limit_us = us;
        self.rate_limit = i64::from(us) * 1000;
    }

    /// `response_time_ms` of patch 6; 0 counts as the default.
    pub fn set_response_time_ms(&mut self, ms: u32) {
        self.response_time_ms = if ms == 0 { self.default_response_time_ms } else { ms };
        self.response_time_multiplier = response_time_multiplier(ResponseTime {
            default_ms: self.default_response_time_ms,
            wanted_ms: self.response_time_ms,
        });
    }

    /// Least time between changes, in us.
    pub fn rate_limit_us(&self) -> u32 {
        self.rate_limit_us
    }

    /// Default of `response_time_ms`: the time from utilisation 0 until the highest frequency.
    pub fn default_response_time_ms(&self) -> u32 {
        self.default_response_time_ms
    }

    /// The frequency of the last accepted change; 0 before the first.
    pub fn next(&self) -> KiloHertz {
        self.next
    }

    /// Time of the last accepted change.
    pub fn last_update(&self) -> Nanos {
        Nanos(self.last_update)
    }

    /// The raw value that was looked up last.
    pub fn cached_raw(&self) -> KiloHertz {
        KiloHertz(self.cached_raw)
    }
}

/// Signals of fair tasks, as kernels of these rules take them.
#[inline]
fn fair_signals(signals: &CpuSignals, rules: KernelRules) -> FairSignals {
    let CpuSignals { util, util_est, .. } = *signals;
    let runnable = if rules.has(KernelRule::RunnableBoost) { signals.runnable } else { 0 };
    FairSignals { util, runnable, util_est }
}

#[cfg(test)]
mod tests;
