//! When a load thread works and when it sleeps: a controller without clock or thread.
//!
//! Time is cut into periods of length P. In each the thread owes f * P of CPU time, and what it
//! owes is kept as one number, the *goal*, on the thread's own CPU clock:
//!
//! ```text
//! goal(k+1) = goal(k) + f * P         an integral: an overrun or a shortfall is carried on
//! burst(k)  = min(goal(k+1) - cpu, 2 * f * P, P)
//! ```
//!
//! - **Bounded catch-up.** A thread starved by others owes more and more. It makes good at most
//!   what it missed during the last [`MEMORY`], no faster than twice the wanted rate, and in at
//!   most [`PATIENCE`]; the rest is given up and counted in [`Controller::lost`]. So a load of
//!   50 % that was starved for an hour runs at 100 % for 0.1 s, not for an hour.
//! - **Not in step with what is measured.** A burst starts at a random place of its period (seeded:
//!   the same seed gives the same bursts). Bursts on a fixed grid would hit every window of a
//!   periodic workload at the same phase, or none.

use flyball_units::Nanos;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::SplitMix64;

/// Work missed longer ago than this is not made good.
pub const MEMORY: Nanos = Nanos::from_millis(100);

/// Catching up takes no longer than this.
pub const PATIENCE: Nanos = Nanos::from_secs(1);

/// What the thread is to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Use this much CPU time, then ask again. Asking earlier is fine.
    Work(Nanos),
    /// Sleep until this time, then ask again.
    Sleep(Nanos),
}

/// The controller of one load thread.
#[derive(Clone, Debug)]
pub struct Controller {
    period: u64,
    /// CPU time owed per period: f * P.
    share: u64,
    /// What may be owed beyond the present period's share.
    debt_limit: u64,
    /// End of the present period, on the wall clock.
    end: u64,
    /// Start of the present period's burst, on the wall clock.
    burst: u64,
    /// CPU time to be reached in the end, debts included.
    goal: u64,
    /// CPU time at which the present period's burst ends.
    stop_at: u64,
    lost: u64,
    random: SplitMix64,
}

impl Controller {
    /// A controller whose first period starts at `start` (wall clock), for a thread that has used
    /// `cpu` so far. `period` is cut to 1 us to 10 s, `percent` to 1 to 100.
    pub fn new(percent: u8, period: Nanos, seed: u64, start: Nanos, cpu: Nanos) -> Controller {
        let period = period.0.clamp(1_000, 10_000_000_000);
        let (start, cpu) = (bounded(start), bounded(cpu));
        let percent = u64::from(percent.clamp(1, 100));
        let of = |span: u64, percent: u64| (u128::from(span) * u128::from(percent) / 100) as u64;
        let mut controller = Controller {
            period,
            share: of(period, percent),
            debt_limit: of(MEMORY.0, percent).min(of(PATIENCE.0, 100 - percent)),
            end: start,
            burst: start,
            goal: cpu,
            stop_at: cpu,
            lost: 0,
            random: SplitMix64::seed_from_u64(seed),
        };
        controller.enter(1, cpu);
        controller
    }

    /// What to do at `wall` (CLOCK_MONOTONIC), having used `cpu` (the thread's CPU clock).
    pub fn step(&mut self, wall: Nanos, cpu: Nanos) -> Step {
        let (wall, cpu) = (bounded(wall), bounded(cpu));
        if wall >= self.end {
            self.enter((wall - self.end) / self.period + 1, cpu);
        }
        // At most 100 rounds: the goal is never more than a period behind, a share at least P/100.
        while cpu >= self.stop_at {
            self.enter(1, cpu);
        }
        if wall < self.burst {
            Step::Sleep(Nanos(self.burst))
        } else {
            Step::Work(Nanos(self.stop_at - cpu))
        }
    }

    /// CPU time that was owed and has been given up, since the start.
    pub fn lost(&self) -> Nanos {
        Nanos(self.lost)
    }

    /// Goes on by `periods` and plans the burst of the last of them.
    fn enter(&mut self, periods: u64, cpu: u64) {
        let start = self.end.saturating_add((periods - 1).saturating_mul(self.period));
        self.end = start.saturating_add(self.period);
        self.goal = self.goal.saturating_add(periods.saturating_mul(self.share));
        let most = cpu.saturating_add(self.share + self.debt_limit);
        self.lost = self.lost.saturating_add(self.goal.saturating_sub(most));
        self.goal = self.goal.clamp(cpu.saturating_sub(self.period), most);
        let length = self.goal.saturating_sub(cpu).min(2 * self.share).min(self.period);
        self.stop_at = cpu.saturating_add(length);
        self.burst = start.saturating_add(self.place(self.period - length));
    }

    /// A random place for the burst in the `slack` of its period, both ends included.
    fn place(&mut self, slack: u64) -> u64 {
        // The upper half of a 128-bit product: uniform, for slack far below 2^64.
        ((u128::from(self.random.next_u64()) * (u128::from(slack) + 1)) >> 64) as u64
    }
}

/// A clock reading that sums of it can't overflow: 146 years.
fn bounded(time: Nanos) -> u64 {
    time.0.min(1 << 62)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: Nanos = Nanos::from_secs(5);
    const CHUNK: u64 = 25_000;

    /// A thread in virtual time: it wakes `late` after each sleep, and gets no CPU while
    /// `starved(wall)`. Returns the CPU time used in each slice of 100 ms.
    fn run(
        percent: u8,
        period: Nanos,
        slices: usize,
        late: u64,
        starved: impl Fn(u64) -> bool,
    ) -> (Vec<f64>, Controller) {
        let mut controller = Controller::new(percent, period, 7, START, Nanos(0));
        let (mut wall, mut cpu) = (0u64, 0u64);
        let mut used = vec![0.0; slices];
        while wall < slices as u64 * 100_000_000 {
            if starved(wall) {
                wall += CHUNK;
                continue;
            }
            match controller.step(START + Nanos(wall), Nanos(cpu)) {
                Step::Sleep(until) => {
                    assert!(until.0 > START.0 + wall, "a sleep ends in the future");
                    wall = until.0 - START.0 + late;
                }
                Step::Work(most) => {
                    assert!(most > Nanos::ZERO, "work is never nothing");
                    let chunk = most.0.min(CHUNK) + 300;
                    used[((wall / 100_000_000) as usize).min(slices - 1)] += chunk as f64 / 1e6;
                    wall += chunk;
                    cpu += chunk;
                }
            }
        }
        (used, controller)
    }

    fn mean(used: &[f64]) -> f64 {
        used.iter().sum::<f64>() / used.len() as f64
    }

    #[test]
    fn quiet_cpu_gets_exactly_what_was_asked() {
        for percent in [1, 10, 50, 90, 99, 100] {
            let (used, controller) = run(percent, Nanos::from_millis(5), 100, 60_000, |_| false);
            let wanted = f64::from(percent);
            assert!((mean(&used) - wanted).abs() < 0.1, "{percent} %: {}", mean(&used));
            let widest = used.iter().map(|used| (used - wanted).abs()).fold(0.0, f64::max);
            assert!(widest < 3.0, "{percent} %: a slice is off by {widest}");
            assert_eq!(controller.lost(), Nanos::ZERO);
        }
    }

    #[test]
    fn a_starved_thread_catches_up_no_more_than_promised() {
        // Starved during the slices 10 to 59, five seconds.
        let starved = |wall: u64| (1_000_000_000..6_000_000_000).contains(&wall);
        for (percent, extra) in [(10u8, 10.0), (50, 50.0), (90, 90.0), (99, 10.0)] {
            let (used, controller) = run(percent, Nanos::from_millis(5), 100, 0, starved);
            let wanted = f64::from(percent);
            let surplus: f64 = used[60..].iter().map(|used| used - wanted).sum();
            assert!((surplus - extra).abs() < 6.0, "{percent} %: {surplus} ms too much");
            let most = used[60..].iter().copied().fold(0.0, f64::max);
            assert!(most <= (2.0 * wanted).min(100.0) + 1.0, "{percent} %: {most}");
            assert!((mean(&used[72..]) - wanted).abs() < 0.5, "{percent} %: back to normal");
            assert!(controller.lost().0 > 4_700_000_000 / 100 * u64::from(percent));
        }
    }

    #[test]
    fn a_short_disturbance_is_made_good_completely() {
        let starved = |wall: u64| wall % 100_000_000 < 8_000_000;
        let (used, controller) = run(50, Nanos::from_millis(5), 50, 60_000, starved);
        assert!((mean(&used) - 50.0).abs() < 0.2, "{}", mean(&used));
        assert_eq!(controller.lost(), Nanos::ZERO);
    }

    #[test]
    fn bursts_do_not_keep_step_with_the_clock() {
        let mut controller = Controller::new(50, Nanos::from_millis(10), 1, START, Nanos(0));
        let mut cpu = 0;
        let mut phases = Vec::new();
        let mut wall = START;
        for _ in 0..200 {
            if let Step::Sleep(until) = controller.step(wall, Nanos(cpu)) {
                wall = until;
            }
            phases.push(wall.0 % 10_000_000);
            while let Step::Work(most) = controller.step(wall, Nanos(cpu)) {
                (wall, cpu) = (wall + most, cpu + most.0);
            }
        }
        let early = phases.iter().filter(|&&phase| phase < 2_500_000).count();
        assert!((60..140).contains(&early), "{early} of 200 in the first half of the slack");
    }

    #[test]
    fn same_seed_same_bursts() {
        let runs = [
            run(30, Nanos::from_millis(5), 10, 0, |_| false),
            run(30, Nanos::from_millis(5), 10, 0, |_| false),
        ];
        assert_eq!(runs[0].0, runs[1].0);
    }

    proptest! {
        #[test]
        fn any_clocks_give_a_sane_step(
            percent in 0u8..=255,
            period in 0u64..2_000_000_000,
            jumps in proptest::collection::vec((0u64..1 << 44, 0u64..1 << 34), 1..40),
        ) {
            let mut controller = Controller::new(percent, Nanos(period), 3, Nanos::ZERO, Nanos::ZERO);
            let (mut wall, mut cpu) = (Nanos::ZERO, Nanos::ZERO);
            for (later, used) in jumps {
                (wall, cpu) = (wall + Nanos(later), cpu + Nanos(used));
                match controller.step(wall, cpu) {
                    Step::Work(most) => prop_assert!(most.0 > 0 && most.0 <= period.max(1000)),
                    Step::Sleep(until) => prop_assert!(until > wall),
                }
            }
        }

        #[test]
        fn extreme_clocks_never_panic(wall in any::<u64>(), cpu in any::<u64>(), start in any::<u64>()) {
            let mut controller = Controller::new(50, Nanos(u64::MAX), 3, Nanos(start), Nanos(0));
            let _ = controller.step(Nanos(wall), Nanos(cpu));
        }
    }
}
