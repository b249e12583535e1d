//! Runs of busy and idle ticks.

/// What a run must reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub n: u64,
    pub m: u64,
    pub burst_ticks: u64,
    pub burst_delay: u64,
}

/// What a tick led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Stay,
    Raise,
    Lower,
}

/// The counters of one CPU, or of all together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counter {
    busy: u64,
    idle: u64,
    /// The last 64 ticks, the newest in bit 0; 1 is busy.
    history: u64,
    /// Busy ticks since this run raised the frequency.
    since_raise: Option<u64>,
    /// The last run that raised the frequency was a burst.
    burst: bool,
}

impl Counter {
    /// Counts a tick; `at_maximum` if there is nothing to raise.
    pub fn observe(&mut self, busy: bool, rule: Rule, at_maximum: bool) -> Verdict {
        let verdict = self.observe_apart(busy, rule, at_maximum);
        if verdict == Verdict::Stay && self.is_quiet(rule) {
            self.idle = 0;
            return Verdict::Lower;
        }
        verdict
    }

    /// The same where others decide when to lower: the idle count goes on.
    pub fn observe_apart(&mut self, busy: bool, rule: Rule, at_maximum: bool) -> Verdict {
        self.history = self.history << 1 | u64::from(busy);
        if !busy {
            self.end_run(rule.burst_ticks > 0);
            self.idle = self.idle.saturating_add(1);
            return Verdict::Stay;
        }
        self.idle = 0;
        self.busy = self.busy.saturating_add(1);
        self.outlive(rule.burst_ticks);
        let delay = if self.burst && rule.burst_ticks > 0 { rule.burst_delay } else { 0 };
        if self.busy <= rule.n.saturating_add(delay) {
            return Verdict::Stay;
        }
        self.busy = 0;
        if !at_maximum {
            self.since_raise = Some(0);
        }
        Verdict::Raise
    }

    /// A busy run that goes on for longer than a burst is none.
    fn outlive(&mut self, burst_ticks: u64) {
        if let Some(ticks) = &mut self.since_raise {
            *ticks += 1;
            if *ticks > burst_ticks {
                self.since_raise = None;
                self.burst = false;
            }
        }
    }

    /// The busy run is over: the CPU is idle.
    pub fn end_run(&mut self, detect_bursts: bool) {
        self.busy = 0;
        if self.since_raise.take().is_some() && detect_bursts {
            self.burst = true;
        }
    }

    /// More than m idle ticks in a row.
    pub fn is_quiet(&self, rule: Rule) -> bool {
        self.idle > rule.m
    }

    /// A step down was made.
    pub fn restart_idle(&mut self) {
        self.idle = 0;
    }

    /// Busy ticks among the last `ticks`, at most 64.
    pub fn busy_of(&self, ticks: u64) -> u64 {
        let mask = if ticks >= 64 { u64::MAX } else { (1 << ticks) - 1 };
        u64::from((self.history & mask).count_ones())
    }
}
