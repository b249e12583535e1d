//! Behaviour that changed between versions of Linux: each rule once, with the versions that have it.

use crate::{RateLimitRule, nearest};
use std::fmt;
use std::str::FromStr;

/// A version of Linux, of which major and minor count: `6.12`, `6.12.43+deb13-amd64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl KernelVersion {
    /// Later than every version there is: what it has is what the newest kernel has.
    pub const NEWEST: KernelVersion = KernelVersion { major: u32::MAX, minor: u32::MAX };

    /// From its two numbers.
    pub const fn new(major: u32, minor: u32) -> KernelVersion {
        KernelVersion { major, minor }
    }

    /// How this version derives schedutil's default rate limit.
    pub fn rate_limit_rule(self) -> RateLimitRule {
        if self < KernelVersion::new(6, 9) {
            RateLimitRule::UpTo6_8
        } else if self < KernelVersion::new(6, 12) {
            RateLimitRule::From6_9
        } else {
            RateLimitRule::From6_12
        }
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// No version of Linux.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a version of Linux such as 6.12, found \"{0}\"")]
pub struct NoKernelVersion(pub String);

impl FromStr for KernelVersion {
    type Err = NoKernelVersion;

    /// What follows the second number does not count, as in a release's name.
    fn from_str(text: &str) -> Result<KernelVersion, NoKernelVersion> {
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(KernelVersion { major, minor }),
            _ => Err(NoKernelVersion(text.to_owned())),
        }
    }
}

/// A rule of the scheduler or of cpufreq that some versions of Linux have and others do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KernelRule {
    /// A wake-up asks for a frequency before the task's clamp counts.
    RequestBeforeClamp,
    /// schedutil clamps the utilisation, then adds the headroom.
    HeadroomAfterClamp,
    /// schedutil looks at the time that tasks wait, too.
    RunnableBoost,
    /// util_est sees the utilisation as it was before the dequeue's own update.
    UtilEstBeforeUpdate,
    /// conservative takes off the steps of missed periods whatever the load.
    DeferredStepsAtAnyLoad,
    /// conservative does not ask at an end of the range.
    ConservativeStopsAtEnds,
    /// conservative keeps the frequency it wants over new limits.
    ConservativeKeepsRequest,
    /// util_est does not fall where the task needed more than its CPU's capacity.
    UtilEstNeedsIdleTime,
    /// The fair scheduler is CFS, not EEVDF.
    Cfs,
    /// menu asks for the next timer before it looks for a pattern.
    MenuTimerFirst,
    /// menu keeps CPUs awake for tasks that wait for I/O.
    MenuWaitsForIo,
    /// menu leaves out long sleeps only when it looks for a pattern.
    MenuOutliersAbove,
    /// Without a tick menu goes by the next timer, however near.
    MenuStoppedTickByTimer,
    /// teo asks for the next timer first, and remembers early wake-ups one by one.
    TeoRecentIntercepts,
    /// teo counts timers beyond the tick by themselves.
    TeoHitsBeyondTick,
    /// A task that finds its CPU taken goes to the one it was on before, where that is idle.
    RecentCpu,
    /// A CPU without a choice of idle states keeps its tick until it has come once.
    TickKeptOnce,
    /// A server of the deadline class sees to it that fair tasks run, and what it reserves counts for cpufreq.
    FairServer,
    /// A control group without time left keeps its tasks from running one by one, as each comes to run.
    ThrottleByTask,
    /// A control group's weight counts once for each of its runnable tasks, as far as there are CPUs.
    ConcurrentShares,
    /// haltpoll stops polling where it would poll for less than it begins with.
    HaltpollResets,
    /// On CPUs of one capacity, the more utilised they are the fewer are looked at for an idle one.
    IdleSearchLimit,
    /// Samplers see idle time as ticks count it, until the tick stops.
    IdleTimeByTicks,
    /// The limit of the search for an idle CPU on CPUs of several capacities.
    CapacitySearchLimit,
    /// A fair task's slice ends by a timer of its own, not with a tick, where the architecture allows it (`HRTICK`).
    SliceByTimer,
    /// A fair task that sleeps and had more than its share stays in its queue until it would be next.
    DelayedDequeue,
    /// A new task does not preempt the fair one that runs on its CPU.
    BirthKeepsCurrent,
}

/// What is known of a rule.
#[derive(Clone, Copy, Debug)]
pub struct KernelRuleInfo {
    /// The rule.
    pub rule: KernelRule,
    /// Its name in descriptions of kernels.
    pub name: &'static str,
    /// The first version that has it; None: all up to the last.
    pub first: Option<KernelVersion>,
    /// The last version that has it; None: all from the first on.
    pub last: Option<KernelVersion>,
    /// What it does to who looks at times and frequencies, in one sentence.
    pub effect: &'static str,
    /// The change that brought or ended it.
    pub change: &'static str,
}

impl KernelRuleInfo {
    /// The versions that have it: `up to 6.15`, `from 6.12`, `6.12 to 6.19`.
    pub fn versions(&self) -> String {
        match (self.first, self.last) {
            (Some(first), Some(last)) => format!("{first} to {last}"),
            (Some(first), None) => format!("from {first}"),
            (None, Some(last)) => format!("up to {last}"),
            (None, None) => "all".to_owned(),
        }
    }

    fn holds(&self, version: KernelVersion) -> bool {
        self.first.is_none_or(|first| first <= version)
            && self.last.is_none_or(|last| version <= last)
    }
}

const fn version(major: u32, minor: u32) -> Option<KernelVersion> {
    Some(KernelVersion::new(major, minor))
}

/// Every rule, in the order of [`KernelRule`].
pub const KERNEL_RULES: [KernelRuleInfo; 27] = [
    KernelRuleInfo {
        rule: KernelRule::RequestBeforeClamp,
        name: "request-before-clamp",
        first: None,
        last: version(6, 15),
        effect: "a task's clamps reach the frequency not at its wake-up but at the next update, at \
                 the latest a tick later",
        change: "6.16: sched/uclamp: Align uclamp and util_est and call before freq update (May 2025)",
    },
    KernelRuleInfo {
        rule: KernelRule::HeadroomAfterClamp,
        name: "headroom-after-clamp",
        first: None,
        last: version(6, 7),
        effect: "schedutil adds its 25 % to the clamped utilisation, so that a task runs above its \
                 upper clamp and above its lower one; without frequency invariance the present \
                 frequency counts without a quarter on top",
        change: "6.8: sched/cpufreq: Rework schedutil governor performance estimation",
    },
    KernelRuleInfo {
        rule: KernelRule::RunnableBoost,
        name: "runnable-boost",
        first: version(6, 5),
        last: None,
        effect: "schedutil raises the frequency where tasks wait for each other",
        change: "6.5: sched/fair, cpufreq: Introduce 'runnable boosting'",
    },
    KernelRuleInfo {
        rule: KernelRule::UtilEstBeforeUpdate,
        name: "util-est-before-update",
        first: version(6, 12),
        last: version(6, 19),
        effect: "util_est of a task that goes to sleep is up to a tick of work older",
        change: "6.12: sched/fair: Implement delayed dequeue; put right in 2026, in 7.0 as is assumed",
    },
    KernelRuleInfo {
        rule: KernelRule::DeferredStepsAtAnyLoad,
        name: "deferred-steps-at-any-load",
        first: None,
        last: version(7, 3),
        effect: "conservative steps down for idle periods also when the load is high: bursts after \
                 idle time get lower frequencies",
        change: "cpufreq: conservative: Restrict deferred downscaling to low load, after 7.3; in \
                 6.12.117 and 7.3.4, too; not in 7.2.13",
    },
    KernelRuleInfo {
        rule: KernelRule::ConservativeStopsAtEnds,
        name: "conservative-stops-at-ends",
        first: None,
        last: version(7, 1),
        effect: "conservative asks for nothing while the frequency it wants is the highest or lowest, \
                 also where steps for idle periods led there",
        change: "7.2, as is assumed: cpufreq: conservative: Simplify frequency limit handling; in \
                 6.12.97, too",
    },
    KernelRuleInfo {
        rule: KernelRule::ConservativeKeepsRequest,
        name: "conservative-keeps-request",
        first: None,
        last: version(6, 19),
        effect: "conservative goes on from the frequency it wanted before new limits, where that lies \
                 inside them",
        change: "7.0, as is assumed: cpufreq: conservative: Reset requested_freq on limits change; in \
                 6.12.80, too",
    },
    KernelRuleInfo {
        rule: KernelRule::UtilEstNeedsIdleTime,
        name: "util-est-needs-idle-time",
        first: None,
        last: version(6, 19),
        effect: "util_est of a task that needs more than its CPU's capacity does not fall",
        change: "read without it in 7.2.13; ended with util-est-before-update, as is assumed",
    },
    KernelRuleInfo {
        rule: KernelRule::Cfs,
        name: "cfs",
        first: None,
        last: version(6, 5),
        effect: "the fair scheduler is CFS: a task that slept takes the CPU from one that has been running \
                 at once, and tasks that share a CPU change places rarely",
        change: "6.6: sched/fair: Commit to EEVDF",
    },
    KernelRuleInfo {
        rule: KernelRule::MenuTimerFirst,
        name: "menu-timer-first",
        first: None,
        last: version(6, 5),
        effect: "menu lets a pattern of past sleeps count only where it is shorter than the time until the \
                 next timer, and prefers any state that is quick enough to polling",
        change: "6.6, as is assumed: cpuidle: menu: Skip tick_nohz_get_sleep_length() call in some cases",
    },
    KernelRuleInfo {
        rule: KernelRule::MenuWaitsForIo,
        name: "menu-waits-for-io",
        first: None,
        last: version(6, 11),
        effect: "menu takes states only whose way out is short beside the sleep that it expects, eleven times as \
                 short where a task waits for I/O",
        change: "6.12, as is assumed: cpuidle: menu: Remove iowait influence",
    },
    KernelRuleInfo {
        rule: KernelRule::MenuOutliersAbove,
        name: "menu-outliers-above",
        first: None,
        last: version(6, 14),
        effect: "one sleep that was much shorter than the others is what menu expects next",
        change: "6.15, as is assumed: cpuidle: menu: Eliminate outliers on both ends of the sample set",
    },
    KernelRuleInfo {
        rule: KernelRule::MenuStoppedTickByTimer,
        name: "menu-stopped-tick-by-timer",
        first: None,
        last: version(6, 19),
        effect: "while the tick is stopped menu trusts the next timer, also one that is near",
        change: "read without it in 7.2.13; 7.0 is assumed",
    },
    KernelRuleInfo {
        rule: KernelRule::TeoRecentIntercepts,
        name: "teo-recent-intercepts",
        first: None,
        last: version(6, 5),
        effect: "teo takes a shallower state after five early wake-ups among nine",
        change: "read in 6.1.176; 6.6 is assumed: cpuidle: teo: Skip tick_nohz_get_sleep_length() call in some cases",
    },
    KernelRuleInfo {
        rule: KernelRule::TeoHitsBeyondTick,
        name: "teo-hits-beyond-tick",
        first: version(6, 6),
        last: version(6, 13),
        effect: "teo counts timers beyond the tick by themselves, and does not look at what the tick ended",
        change: "read in 6.12.117; its end is assumed: cpuidle: teo: Skip getting the sleep length if wakeups are very frequent",
    },
    KernelRuleInfo {
        rule: KernelRule::RecentCpu,
        name: "recent-cpu",
        first: version(5, 15),
        last: None,
        effect: "a task that finds its CPU taken goes first to the one it was on before, where that is idle",
        change: "5.15: sched/fair: Use prev instead of new target as recent_used_cpu; before, the waker's CPU \
                 counted, which is left out",
    },
    KernelRuleInfo {
        rule: KernelRule::TickKeptOnce,
        name: "tick-kept-once",
        first: version(7, 2),
        last: None,
        effect: "a CPU with one idle state or none, as in most virtual machines, has one more tick after it \
                 went idle: its signals decay then, and the governor is asked",
        change: "read in 7.2.13, and in 6.1.176 and 6.12.117 of the stable series; begun in 7.1 or 7.2: \
                 sched/idle.c stops the tick once an idle CPU got it",
    },
    KernelRuleInfo {
        rule: KernelRule::FairServer,
        name: "fair-server",
        first: version(6, 12),
        last: None,
        effect: "on CPUs where fair tasks were in the last second 5 % more count as reserved by deadline tasks, so that \
                 schedutil asks for more beside some of these",
        change: "6.12: sched/deadline: Deferrable dl server; read in 6.12.117 and 7.3.4",
    },
    KernelRuleInfo {
        rule: KernelRule::ThrottleByTask,
        name: "throttle-by-task",
        first: version(6, 18),
        last: None,
        effect: "a control group that has used up its cpu.max keeps each of its tasks from running as it comes to run, and \
                 what is expected of it goes with it; before, the group left the CPU at once and its util_est stayed",
        change: "6.18: sched/fair: Switch to task based throttle model; read in 7.2.13 and 7.3.4, absent from 6.12.117",
    },
    KernelRuleInfo {
        rule: KernelRule::ConcurrentShares,
        name: "concurrent-shares",
        first: version(7, 3),
        last: None,
        effect: "a control group's cpu.weight counts as often as it has runnable tasks, on average and rounded down, but not more often \
                 than there are CPUs; before, once on the whole machine",
        change: "read in 7.3.4 (`calc_concur_shares`), absent from 7.2.13",
    },
    KernelRuleInfo {
        rule: KernelRule::HaltpollResets,
        name: "haltpoll-resets",
        first: version(6, 12),
        last: None,
        effect: "haltpoll stops polling where it would poll for less than 50 us, and so a guest that is seldom woken halts at once",
        change: "read in 6.12.117 and 7.3.4, absent from 6.1.176; begun somewhere between",
    },
    KernelRuleInfo {
        rule: KernelRule::IdleSearchLimit,
        name: "idle-search-limit",
        first: version(6, 0),
        last: None,
        effect: "on CPUs of one capacity, a task that finds its CPU taken looks at the fewer others the more these were \
                 utilised when load was last balanced, at none from 85 % on, and waits where it is",
        change: "6.0: sched/fair: Introduce SIS_UTIL to search idle CPU based on sum of util_avg; before, the search's \
                 cost counted, which is left out",
    },
    KernelRuleInfo {
        rule: KernelRule::IdleTimeByTicks,
        name: "idle-time-by-ticks",
        first: version(7, 2),
        last: None,
        effect: "ondemand and conservative see the idle time of a CPU that has not stopped its tick as ticks \
                 find it, a whole tick each or none",
        change: "read in sched/cputime.c of 7.2.13 and 7.3.4, absent from 6.12.117; begun somewhere \
                 between. Where neither IRQ_TIME_ACCOUNTING is built in nor a CPU without ticks asked for",
    },
    KernelRuleInfo {
        rule: KernelRule::CapacitySearchLimit,
        name: "capacity-search-limit",
        first: version(7, 2),
        last: None,
        effect: "on CPUs of several capacities, too, a task that finds its CPU taken looks at the fewer the more these were \
                 utilised, that CPU counted: one that no estimate of energy places may wake up on a small CPU beside \
                 an idle large one",
        change: "read in select_idle_capacity() of 7.2.13 and 7.3.4, absent from 6.12.117; begun somewhere between",
    },
    KernelRuleInfo {
        rule: KernelRule::SliceByTimer,
        name: "slice-by-timer",
        first: version(7, 2),
        last: None,
        effect: "on x86 a slice ends when it is over and not with the next tick: tasks that share a CPU \
                 take turns more often where ticks are further apart than slices",
        change: "read in sched/features.h of 7.2.13 and 7.3.4, absent from 6.12.117; begun somewhere \
                 between. HRTICK, where HRTIMER_REARM_DEFERRED is built in; on arm64 it is not",
    },
    KernelRuleInfo {
        rule: KernelRule::DelayedDequeue,
        name: "delayed-dequeue",
        first: version(6, 12),
        last: None,
        effect: "a task that had more than its share and sleeps while others wait stays in their queue for a while: it \
                 wakes up on its CPU, also where another one is idle, and others run behind it sooner",
        change: "6.12: sched/fair: Implement delayed dequeue",
    },
    KernelRuleInfo {
        rule: KernelRule::BirthKeepsCurrent,
        name: "birth-keeps-current",
        first: version(7, 2),
        last: None,
        effect: "a new task waits for the fair one that runs on its CPU, which before it could preempt at once: threads that are \
                 created one after the other begin later where their creator is",
        change: "read in wakeup_preempt_fair() of 7.2.13 and 7.3.4 (WF_FORK), absent from 6.12.117; begun somewhere between",
    },
];

/// Which rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelRules(u32);

impl KernelRules {
    /// None of the named rules, as where there is no Linux.
    pub const NONE: KernelRules = KernelRules(0);

    /// Those of a version as it was released.
    pub fn of(version: KernelVersion) -> KernelRules {
        let held = KERNEL_RULES.iter().filter(|info| info.holds(version));
        held.fold(KernelRules::NONE, |rules, info| rules.set(info.rule, true))
    }

    /// Those of the newest kernel.
    pub fn newest() -> KernelRules {
        KernelRules::of(KernelVersion::NEWEST)
    }

    /// Whether a rule holds.
    #[inline]
    pub const fn has(self, rule: KernelRule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }

    /// The same with a rule that holds, or not.
    #[must_use]
    pub const fn set(self, rule: KernelRule, holds: bool) -> KernelRules {
        let bit = 1 << rule as u8;
        KernelRules(if holds { self.0 | bit } else { self.0 & !bit })
    }

    /// Those that hold, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = &'static KernelRuleInfo> {
        KERNEL_RULES.iter().filter(move |info| self.has(info.rule))
    }
}

/// No rule has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the name of a rule ({}), found \"{name}\"", names().join(", "))]
pub struct UnknownKernelRule {
    /// What was found.
    pub name: String,
    /// The nearest name, where one is near.
    pub nearest: Option<&'static str>,
}

fn names() -> Vec<&'static str> {
    KERNEL_RULES.iter().map(|info| info.name).collect()
}

impl FromStr for KernelRule {
    type Err = UnknownKernelRule;

    fn from_str(text: &str) -> Result<KernelRule, UnknownKernelRule> {
        match KERNEL_RULES.iter().find(|info| info.name == text) {
            Some(info) => Ok(info.rule),
            None => {
                let nearest = nearest(text, names());
                Err(UnknownKernelRule { name: text.to_owned(), nearest })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(release: &str) -> Vec<&'static str> {
        KernelRules::of(release.parse().unwrap()).iter().map(|info| info.name).collect()
    }

    #[test]
    fn the_table_is_in_the_order_of_the_rules() {
        for (at, info) in KERNEL_RULES.iter().enumerate() {
            assert_eq!(info.rule as usize, at, "{}", info.name);
            assert_eq!(info.name.parse(), Ok(info.rule));
        }
    }

    #[test]
    fn rules_come_and_go_with_versions() {
        assert_eq!(
            held("6.1.0-18-amd64"),
            [
                "request-before-clamp",
                "headroom-after-clamp",
                "deferred-steps-at-any-load",
                "conservative-stops-at-ends",
                "conservative-keeps-request",
                "util-est-needs-idle-time",
                "cfs",
                "menu-timer-first",
                "menu-waits-for-io",
                "menu-outliers-above",
                "menu-stopped-tick-by-timer",
                "teo-recent-intercepts",
                "recent-cpu",
                "idle-search-limit",
            ]
        );
        let of_6_12 = [
            "request-before-clamp",
            "runnable-boost",
            "util-est-before-update",
            "deferred-steps-at-any-load",
            "conservative-stops-at-ends",
            "conservative-keeps-request",
            "util-est-needs-idle-time",
            "menu-outliers-above",
            "menu-stopped-tick-by-timer",
            "teo-hits-beyond-tick",
            "recent-cpu",
            "fair-server",
            "haltpoll-resets",
            "idle-search-limit",
            "delayed-dequeue",
        ];
        assert!(!held("5.10.0").contains(&"recent-cpu"));
        assert_eq!(held("6.12.43+deb13"), of_6_12);
        let of_6_16 = [&of_6_12[1..7], &of_6_12[8..9], &of_6_12[10..]].concat();
        assert_eq!(held("6.16"), of_6_16);
        assert_eq!(
            held("7.2.0"),
            [
                "runnable-boost",
                "deferred-steps-at-any-load",
                "recent-cpu",
                "tick-kept-once",
                "fair-server",
                "throttle-by-task",
                "haltpoll-resets",
                "idle-search-limit",
                "idle-time-by-ticks",
                "capacity-search-limit",
                "slice-by-timer",
                "delayed-dequeue",
                "birth-keeps-current",
            ]
        );
        let only_since_7_3 = |rule: &&str| !held("7.2.0").contains(rule);
        let since_7_3: Vec<&str> = held("7.3").into_iter().filter(only_since_7_3).collect();
        assert_eq!(since_7_3, ["concurrent-shares"]);
        assert_eq!(KernelRules::newest(), KernelRules::of(KernelVersion::new(7, 4)));
    }

    #[test]
    fn versions_are_read_from_releases() {
        let version = |text: &str| text.parse::<KernelVersion>();
        assert_eq!(version("6.8.0-45-generic"), Ok(KernelVersion::new(6, 8)));
        assert!(version("6").is_err() && version("").is_err() && version("v6.1").is_err());
        let rule = |text: &str| version(text).unwrap().rate_limit_rule();
        assert_eq!(rule("5.15.1"), RateLimitRule::UpTo6_8);
        assert_eq!(rule("6.8.0-45-generic"), RateLimitRule::UpTo6_8);
        assert_eq!(rule("6.9.3"), RateLimitRule::From6_9);
        assert_eq!(rule("6.12.43+deb13-amd64"), RateLimitRule::From6_12);
        assert_eq!(rule("7.2.0"), RateLimitRule::From6_12);
    }

    #[test]
    fn an_unknown_rule_names_the_nearest() {
        let error = "runable-boost".parse::<KernelRule>().unwrap_err();
        assert_eq!(error.nearest, Some("runnable-boost"));
        assert!(error.to_string().starts_with("expected the name of a rule (request-before-"));
    }
}
