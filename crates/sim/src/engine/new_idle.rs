//! Whether a CPU that goes idle looks for work elsewhere: only if it is idle for longer, on average, than the longest such look
//! took (`sched_balance_newidle`, `update_rq_avg_idle`). On a slow machine it seldom does.

use flyball_platform::IdleBalanceCost;
use flyball_units::Nanos;

/// The kernel's `sysctl_sched_migration_cost`, in ns: the average of idle times counts up to twice that, at least.
pub(super) const MIGRATION_COST: u64 = 500_000;

/// How long a CPU's idle times are, and what a look at others costs it.
pub(super) struct NewIdle {
    /// When it went idle, less than 0 where that was before time began; None while it is busy. A tick that finds it idle does not
    /// change it.
    since: Option<i64>,
    /// The average of its idle times, each with a weight of one eighth.
    average: u64,
    cost: IdleBalanceCost,
}

/// Where a CPU looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Reach {
    Nowhere,
    Near,
    Everywhere,
}

impl NewIdle {
    /// A CPU that has been idle for long.
    pub(super) fn costing(cost: IdleBalanceCost) -> NewIdle {
        let mut new_idle = NewIdle { since: Some(0), average: 0, cost };
        new_idle.average = new_idle.most();
        new_idle
    }

    /// It has been idle for so long when time begins, in ns.
    pub(super) fn began_before(&mut self, idle: Nanos) {
        self.since = Some(-(idle.0 as i64));
    }

    /// These idle times were before, the latest last.
    pub(super) fn remember(&mut self, idle_times: &[Nanos]) {
        for time in idle_times {
            self.count(time.0);
        }
    }

    fn most(&self) -> u64 {
        self.cost.all.0.max(MIGRATION_COST).saturating_mul(2)
    }

    fn count(&mut self, time: u64) {
        let longer = time as i64 - self.average as i64;
        self.average = self.average.saturating_add_signed(longer / 8).min(self.most());
    }

    /// The CPU has nothing to do now: where it looks for work. One that was idle before, and was woken by its tick, balances
    /// as the others do.
    pub(super) fn begin(&mut self, now: u64) -> Reach {
        if self.since.is_some() {
            return Reach::Everywhere;
        }
        self.since = Some(now as i64);
        match self.average {
            average if average < self.cost.near.0 => Reach::Nowhere,
            average if average < self.cost.all.0 => Reach::Near,
            _ => Reach::Everywhere,
        }
    }

    /// When it went idle (`idle_stamp`), in ns; None: it is busy.
    pub(super) fn since(&self) -> Option<i64> {
        self.since
    }

    /// Whether it was idle up to now: one that its tick wakes stays in the idle loop.
    pub(super) fn is_idle(&self) -> bool {
        self.since.is_some()
    }

    /// Whether it will be busy again soon: nothing else is done before.
    pub(super) fn is_short(&self) -> bool {
        self.average < MIGRATION_COST
    }

    /// It has taken a task, so this was no idle time.
    pub(super) fn forget(&mut self) {
        self.since = None;
    }

    /// A task runs there now.
    pub(super) fn end(&mut self, now: u64) {
        if let Some(since) = self.since.take() {
            self.count((now as i64 - since) as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn costing(near: u64, all: u64) -> NewIdle {
        NewIdle::costing(IdleBalanceCost { near: Nanos(near), all: Nanos(all) })
    }

    /// From 8 ms on, idle times of 1 ms: 7.125, 6.359, 5.689, 5.103, 4.590, 4.142, 3.749, 3.405, 3.104, 2.841.
    #[test]
    fn short_idle_times_forbid_what_takes_long() {
        let mut new_idle = costing(3 * MS, 4 * MS);
        let mut now = 0;
        new_idle.since = None;
        let looks = [(); 11].map(|()| {
            let reach = new_idle.begin(now);
            assert_eq!(new_idle.begin(now + MS / 2), Reach::Everywhere, "at its tick");
            now += MS;
            new_idle.end(now);
            reach
        });
        assert_eq!(looks[..7], [Reach::Everywhere; 7]);
        assert_eq!(looks[7..], [Reach::Near, Reach::Near, Reach::Near, Reach::Nowhere]);
    }

    /// Idle times count up to twice the cost, or a millisecond; what ended with a task from elsewhere was none.
    #[test]
    fn long_idle_times_count_up_to_a_limit() {
        let mut new_idle = costing(100_000, 100_000);
        new_idle.remember(&[Nanos(MS / 5)]);
        assert_eq!(new_idle.average, 9 * MS / 10);
        new_idle.end(1_000 * MS);
        assert_eq!(new_idle.average, MS);
        new_idle.begin(1_000 * MS);
        new_idle.forget();
        new_idle.end(1_001 * MS);
        assert_eq!(new_idle.average, MS);
    }
}
