//! The response-time ramp by clamps, on a kernel that has clamps and no ramp: which lower clamp a task is to have,
//! from when it runs and sleeps. The controller of real threads and the model follow it.

use crate::ResponseRamp;
use flyball_units::Nanos;

/// The demand of a task that can ask for no more.
const FULL: Option<u32> = Some(1024);
/// A run that is shorter when somebody looks is waited for no further: it most likely ends, and if not, word comes
/// of it.
const YOUNG: Nanos = Nanos::from_millis(1);
/// The frequency takes 2 to 3 ms to follow a clamp, which leads it by so much: it is the frequency that follows the
/// ramp then.
const LEAD: Nanos = Nanos::from_micros(2500);
/// A clamp is set again where the ramp has risen by so much,
const RISE: u32 = 96;
/// but not sooner than after this time, in which the frequency would not have followed yet,
const NEAREST: Nanos = Nanos::from_millis(2);
/// nor later than after this.
const FARTHEST: Nanos = Nanos::from_millis(8);

/// A first run is long enough to be remembered from here on: one of a light task is now and then longer than
/// [`ClampRamp::SHORTEST`], and its next ones are not.
const LONG: Nanos = Nanos::from_millis(6);
/// It is remembered for so long, as the scheduler's estimate remembers an activation (util_est): the next
/// run begins where that one came to. It is the half-life of load tracking.
const REMEMBERED: Nanos = Nanos::from_millis(32);

/// A run that began with nothing did the work of one that is shorter by this, and has all the time what the ramp gives
/// it at its end: of 1 / sqrt(2) where the ramp is straight.
const FROM_NOTHING: (u64, u64) = (5, 7);

/// What a task is to count for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClampStep {
    /// Of 1024; none where it is to have no clamp.
    pub demand: Option<u32>,
    /// For how long; none until the task does something else.
    pub lasts: Option<Nanos>,
}

impl ClampStep {
    /// What the ramp says after a while of running, in the middle of the time for which the frequency is to stay.
    #[must_use]
    pub fn after(ramp: ResponseRamp, running: Nanos) -> ClampStep {
        let running = running + LEAD;
        let here = ramp.demand(running);
        if Some(here) == FULL {
            return ClampStep { demand: FULL, lasts: None };
        }
        let mut lasts = NEAREST;
        while lasts < FARTHEST && ramp.demand(running + lasts) < here + RISE {
            lasts = lasts + Nanos::from_millis(1);
        }
        let demand = ramp.demand(running + Nanos(lasts.0 / 2));
        ClampStep { demand: Some(demand), lasts: Some(lasts) }
    }

    /// Whether there is nothing to grow to.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.demand == FULL
    }
}

/// The runs of one task. Its times are in order; what is out of order counts as no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClampRamp {
    state: State,
    /// How long it ran before it was given the CPU that it has now.
    before: Nanos,
    /// Whether anything was heard of it since it is known.
    heard: bool,
    /// How long a run takes that has all the time what the ramp gives it at its end: from what the last long runs took,
    /// each longer one at once, half of the way to each shorter one. So the frames of an animation come to the speed
    /// that they need.
    remembered: Nanos,
    /// Until when a sleep leaves that to it.
    until: Nanos,
    /// Whether this run began before that.
    early: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Asleep,
    /// It would run.
    Ready,
    Running {
        since: Nanos,
    },
}

impl ClampRamp {
    /// A run shorter than this gets nothing: most end before a frequency could have changed. Whoever follows the rule
    /// has to look when a task has been running for so long, sleeps between not counted ([`ClampRamp::ran`]).
    pub const SHORTEST: Nanos = Nanos::from_millis(3);

    /// The nice value that whoever follows the rule gives itself where it may: what it is late, the clamp is late.
    pub const NICE: i8 = -10;

    /// A task that is seen for the first time, running or asleep.
    #[must_use]
    pub fn new(runs: bool, now: Nanos) -> ClampRamp {
        let state = if runs { State::Running { since: now } } else { State::Asleep };
        ClampRamp { state, ..ClampRamp::default() }
    }

    /// It is given a CPU. Twice without leaving it: what it did meanwhile is not known, and its run begins anew.
    pub fn run(&mut self, at: Nanos) {
        self.heard = true;
        if self.state == State::Asleep {
            self.early = at < self.until;
        }
        self.state = State::Running { since: at };
    }

    /// Its CPU is taken from it.
    pub fn wait(&mut self, at: Nanos) {
        self.heard = true;
        self.before = self.running(at);
        self.state = State::Ready;
    }

    /// It goes to sleep. A long run is remembered, and behind one that was each that is not short.
    pub fn sleep(&mut self, at: Nanos) {
        let run = self.running(at);
        if run >= if self.early { ClampRamp::SHORTEST } else { LONG } {
            self.remembered = match self.early {
                true => run.max(Nanos(run.0.midpoint(self.remembered.0))),
                false => Nanos(run.0 * FROM_NOTHING.0 / FROM_NOTHING.1),
            };
            self.until = at + REMEMBERED;
        }
        self.lose();
    }

    /// It ended, or whether it runs is not known.
    pub fn lose(&mut self) {
        (self.heard, self.before, self.state) = (true, Nanos::ZERO, State::Asleep);
    }

    /// It runs, and has done so for [`ClampRamp::SHORTEST`] in all.
    pub fn ran(&mut self, at: Nanos) {
        self.heard = true;
        // Where its switch was not seen.
        if self.state == State::Asleep {
            self.run(at);
        }
    }

    /// Whether it runs, or would.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        self.state != State::Asleep
    }

    /// How long it has been running by `now`, since its last sleep.
    #[must_use]
    pub fn running(&self, now: Nanos) -> Nanos {
        match self.state {
            State::Asleep => Nanos::ZERO,
            State::Ready => self.before,
            State::Running { since } => self.before + now.since(since),
        }
    }

    /// What it is to count for from now on: what it is held at, and once its run is no short one what the ramp says.
    #[must_use]
    pub fn step(&self, ramp: ResponseRamp, now: Nanos) -> ClampStep {
        let running = self.running(now);
        let held = self.held(ramp, now);
        let rest = self.remembered.since(running);
        let grown = match self.state {
            State::Asleep => return held,
            // No longer yet than those before it: what they had is enough. While it waits its time stands still, and what
            // is left of it may be next to nothing, again and again.
            State::Ready if self.early && rest > Nanos::ZERO => {
                return ClampStep { lasts: Some(rest.max(ClampRamp::SHORTEST)), ..held };
            }
            State::Running { .. } if self.early && rest > Nanos::ZERO => {
                return ClampStep { lasts: Some(rest), ..held };
            }
            State::Ready | State::Running { .. } if running >= ClampRamp::SHORTEST => {
                ClampStep::after(ramp, running)
            }
            // Its time stands still, and where it goes on word comes.
            State::Ready => ClampStep::default(),
            State::Running { .. } if running < YOUNG && self.heard => ClampStep::default(),
            State::Running { .. } => {
                ClampStep { demand: None, lasts: Some(ClampRamp::SHORTEST.since(running)) }
            }
        };
        match grown.demand.max(held.demand) {
            FULL => ClampStep { demand: FULL, lasts: None },
            demand => ClampStep { demand, ..grown },
        }
    }

    /// What the ramp gave its last long runs, less half a step, and for how long it has that yet. Kernels round a clamp up
    /// to an operating point, which ends runs sooner than the ramp says they would.
    fn held(&self, ramp: ResponseRamp, now: Nanos) -> ClampStep {
        let asleep = self.state == State::Asleep;
        match if asleep { now < self.until } else { self.early } {
            true => ClampStep {
                demand: Some(ramp.demand(self.remembered).saturating_sub(RISE / 2)),
                lasts: asleep.then(|| self.until.since(now)),
            },
            false => ClampStep::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    #[test]
    fn a_sleep_ends_it_and_a_preemption_does_not() {
        let mut task = ClampRamp::default();
        task.run(at(10));
        assert_eq!(task.running(at(12)), at(2));
        task.wait(at(14));
        assert!(task.is_awake());
        assert_eq!(task.running(at(20)), at(4));
        task.run(at(20));
        assert_eq!(task.running(at(21)), at(5));
        task.sleep(at(22));
        assert!(!task.is_awake());
        assert_eq!(task.running(at(30)), Nanos::ZERO);
    }

    #[test]
    fn short_runs_ask_for_nothing() {
        let ramp = ResponseRamp::new(4);
        let task = ClampRamp::new(true, Nanos::ZERO);
        let step = task.step(ramp, Nanos::from_micros(2999));
        assert_eq!(step, ClampStep { demand: None, lasts: Some(Nanos::from_micros(1)) });
        assert!(task.step(ramp, at(8)).demand.is_some());
        let mut preempted = task;
        preempted.wait(at(2));
        assert_eq!(preempted.step(ramp, at(9)), ClampStep::default());
        let asleep = ClampRamp::new(false, Nanos::ZERO);
        assert_eq!(asleep.step(ramp, Nanos::from_secs(1)), ClampStep::default());
    }

    #[test]
    fn a_run_that_has_just_begun_is_waited_for_where_nothing_else_tells_of_it() {
        let ramp = ResponseRamp::new(4);
        let mut task = ClampRamp::new(true, Nanos::ZERO);
        assert_eq!(task.step(ramp, Nanos::ZERO).lasts, Some(ClampRamp::SHORTEST));
        task.run(at(10));
        assert_eq!(task.step(ramp, Nanos::from_micros(10_999)), ClampStep::default());
        task.ran(at(11));
        let lasts = Some(at(2));
        assert_eq!(task.step(ramp, at(11)), ClampStep { demand: None, lasts });
        // Its switch was lost.
        let mut asleep = ClampRamp::default();
        asleep.ran(at(5));
        assert!(asleep.is_awake());
    }

    #[test]
    fn a_long_run_is_remembered_over_a_short_sleep() {
        let ramp = ResponseRamp::new(4);
        let held = |ms| Some(ramp.demand(at(ms)) - RISE / 2);
        let mut task = ClampRamp::default();
        task.run(at(0));
        task.sleep(at(14));
        assert_eq!(task.step(ramp, at(20)), ClampStep { demand: held(10), lasts: Some(at(26)) });
        // A shorter one, through and after it: half of the way.
        task.run(at(20));
        assert_eq!(task.step(ramp, Nanos::from_micros(20_500)).demand, held(10));
        task.sleep(at(26));
        assert_eq!(task.step(ramp, at(26)).demand, held(8));
        // A moment does not make it last longer.
        task.run(at(40));
        task.sleep(at(41));
        assert_eq!(task.step(ramp, at(41)), ClampStep { demand: held(8), lasts: Some(at(17)) });
        assert_eq!(task.step(ramp, at(58)), ClampStep::default());
        // What comes later begins anew, and is not held back by what was.
        task.run(at(60));
        assert_eq!(task.step(ramp, Nanos::from_micros(60_500)), ClampStep::default());
        task.sleep(at(65));
        assert_eq!(task.step(ramp, at(65)), ClampStep::default(), "too short to be remembered");
        task.run(at(66));
        task.sleep(at(73));
        assert_eq!(task.step(ramp, at(73)).demand, held(5));
    }

    #[test]
    fn frames_come_to_the_speed_that_they_need() {
        // A frame is 4 ms of work at the highest frequency, which follows the demand at once.
        for multiplier in [4, 8] {
            let ramp = ResponseRamp::new(multiplier);
            let mut task = ClampRamp::default();
            let mut took = Vec::new();
            for frame in 0..20 {
                let begin = Nanos::from_micros(16_667 * frame);
                task.run(begin);
                let (mut now, mut done) = (begin, 0.0);
                while done < 4.0 {
                    let demand = task.step(ramp, now).demand.unwrap_or(0).max(128);
                    done += f64::from(demand) / 1024.0 * 0.1;
                    now = now + Nanos::from_micros(100);
                }
                task.sleep(now);
                took.push(now.since(begin).0 as f64 / 1e6);
            }
            let last = took.last().copied().unwrap_or_default();
            let settled = took.iter().skip(8).all(|it| (it - last).abs() < 0.2);
            assert!(settled && last < took[0] && last < 10.0, "{multiplier}: {took:?}");
        }
    }

    #[test]
    fn steps_follow_the_ramp_and_end_at_the_whole() {
        for multiplier in [1, 2, 4, 8, 64] {
            let ramp = ResponseRamp::new(multiplier);
            let task = ClampRamp::new(true, Nanos::ZERO);
            let (mut now, mut steps, mut last) = (ClampRamp::SHORTEST, 0, 0);
            while let ClampStep { demand: Some(demand), lasts: Some(lasts) } = task.step(ramp, now)
            {
                assert!((NEAREST..=FARTHEST).contains(&lasts), "{multiplier}: {lasts:?}");
                let (led, end) = (now + LEAD, now + LEAD + lasts);
                assert!(demand >= ramp.demand(led) && demand <= ramp.demand(end));
                assert!(demand > last, "{multiplier}");
                (now, steps, last) = (now + lasts, steps + 1, demand);
            }
            let whole = ClampStep { demand: FULL, lasts: None };
            assert_eq!(task.step(ramp, now), whole, "{multiplier}");
            assert!(steps <= 30, "{multiplier}: {steps}");
        }
        // 80 % of the highest frequency, of five, take a clamp above 614 of 1024.
        let task = ClampRamp::new(true, Nanos::ZERO);
        let reached = |multiplier| {
            let mut now = ClampRamp::SHORTEST;
            loop {
                let step = task.step(ResponseRamp::new(multiplier), now);
                match step.demand {
                    Some(demand) if demand <= 614 => now = now + step.lasts.unwrap(),
                    _ => return now.0 as f64 / 1e6,
                }
            }
        };
        assert_eq!((reached(4), reached(8)), (8.0, 3.0));
    }

    #[test]
    fn what_is_lost_counts_as_asleep_until_it_is_seen_again() {
        let mut task = ClampRamp::new(true, Nanos::ZERO);
        task.lose();
        assert!(!task.is_awake());
        task.run(at(60));
        assert_eq!(task.running(at(61)), at(1));
    }

    #[test]
    fn records_out_of_order_do_no_harm() {
        let mut task = ClampRamp::default();
        task.run(at(10));
        task.wait(at(5));
        assert_eq!(task.running(Nanos::ZERO), Nanos::ZERO);
    }
}
