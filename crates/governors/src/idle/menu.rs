//! menu: the time until the next timer, corrected by experience, or a pattern of the last sleeps.

use super::{HARDLY, IdleAsk, IdleChoice, IdleEnd, IdleState, shallower};
use flyball_units::{KernelRule, KernelRules};
use std::ops::RangeInclusive;

/// Orders of magnitude of a time until a timer: below 10 us, 100 us, ... 100 ms, and above.
const MAGNITUDES: usize = 6;

/// One, in the fixed point of shares.
const ONE: u32 = 1024;

/// How slowly experience fades: an eighth of it per sleep.
const FADING: u32 = 8;

/// Sleeps that are looked at for a pattern.
const INTERVALS: usize = 8;

/// A longer sleep says nothing about how far a timer may be trusted.
const MOST_INTERESTING: u64 = 50_000_000;

/// The menu governor of one CPU.
#[derive(Clone, Debug)]
pub struct Menu {
    rules: KernelRules,
    /// How much of the time until the next timer sleeps lasted, by the order of magnitude of that
    /// time, and again while tasks wait for I/O: moving sums of [`ONE`] x [`FADING`].
    corrections: [u32; 2 * MAGNITUDES],
    /// The last sleeps in us, and which is the oldest.
    intervals: [u32; INTERVALS],
    oldest: usize,
    /// Time until the next timer when the last sleep began, and its correction.
    next_timer: u64,
    bucket: usize,
    /// The last sleep, where it has not been learnt from yet, and its length.
    ended: Option<IdleEnd>,
    last_length: u64,
}

impl Menu {
    /// One without experience, of a kernel with these rules.
    pub fn new(rules: KernelRules) -> Menu {
        Menu {
            rules,
            corrections: [ONE * FADING; 2 * MAGNITUDES],
            intervals: [0; INTERVALS],
            oldest: 0,
            next_timer: 0,
            bucket: 0,
            ended: None,
            last_length: 0,
        }
    }

    /// The state to enter, of at least two.
    pub fn select(&mut self, states: &[IdleState], ask: &IdleAsk) -> IdleChoice {
        match self.ended.take() {
            Some(ended) => self.learn(states, ask, ended),
            // A sleep that never began.
            None if self.last_length == 0 => self.record(u32::MAX),
            None => {}
        }
        let timer_first = self.rules.has(KernelRule::MenuTimerFirst);
        let (mut predicted, next_event) =
            if timer_first { (0, ask.next_event.0) } else { self.predict(ask) };
        if timer_first {
            self.look_at_timer(ask);
        }
        let second = states.get(1);
        let too_soon = second.is_none_or(|second| {
            self.next_timer < second.target_residency.0 || ask.latency_limit < second.exit_latency
        });
        let first = states.first();
        if ask.latency_limit.0 == 0 || (too_soon && first.is_none_or(|first| !first.disabled)) {
            return IdleChoice { state: 0, stops_tick: !first.is_some_and(|first| first.polling) };
        }
        if timer_first {
            predicted = self.predict_by_timer(ask);
        }
        let mut limit = ask.latency_limit.0;
        if self.rules.has(KernelRule::MenuWaitsForIo) && !ask.tick_stopped {
            limit = limit.min(predicted / (1 + 10 * u64::from(ask.io_waiters)));
        }
        self.deepest(states, ask, Guess { predicted, limit, next_event })
    }

    /// A sleep ended.
    pub fn reflect(&mut self, ended: IdleEnd) {
        self.last_length = ended.length.0;
        self.ended = Some(ended);
    }

    /// The bucket of the last choice, its correction, the time until the timer that it knew, and
    /// the last sleep in us.
    pub fn state(&self) -> [u64; 4] {
        let last = self.intervals[(self.oldest + INTERVALS - 1) % INTERVALS];
        [self.bucket as u64, self.corrections[self.bucket].into(), self.next_timer, last.into()]
    }

    /// From 6.6: the pattern first; the timer only where that is not of a very short sleep. What is
    /// predicted, and the time until the next timer or tick.
    fn predict(&mut self, ask: &IdleAsk) -> (u64, u64) {
        let typical = u64::from(self.typical(None)) * 1000;
        if typical <= HARDLY && !ask.tick_stopped {
            // The timers were not asked: they are taken to be far, the tick to be half its period away.
            self.next_timer = i64::MAX as u64;
            self.bucket = MAGNITUDES - 1;
            return (typical, ask.tick.0 / 2);
        }
        self.look_at_timer(ask);
        let predicted = typical.min(u64::from(self.corrected()) * 1000);
        let by_timer =
            self.rules.has(KernelRule::MenuStoppedTickByTimer) || self.next_timer > 2 * ask.tick.0;
        // Who sleeps without a tick may sleep long in a shallow state.
        let guarded = ask.tick_stopped && predicted < ask.tick.0 && by_timer;
        (if guarded { self.next_timer } else { predicted }, ask.next_event.0)
    }

    /// Up to 6.5: the timer, or the pattern where that is shorter.
    fn predict_by_timer(&self, ask: &IdleAsk) -> u64 {
        let corrected = self.corrected();
        let predicted = u64::from(corrected.min(self.typical(Some(corrected)))) * 1000;
        if ask.tick_stopped && predicted < ask.tick.0 { self.next_timer } else { predicted }
    }

    fn look_at_timer(&mut self, ask: &IdleAsk) {
        self.next_timer = ask.next_timer.0;
        let limits = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
        self.bucket = limits.partition_point(|&limit| limit <= self.next_timer);
        if self.rules.has(KernelRule::MenuWaitsForIo) && ask.io_waiters > 0 {
            self.bucket += MAGNITUDES;
        }
    }

    /// The time until the timer by experience, in us.
    fn corrected(&self) -> u32 {
        let whole = u64::from(ONE * FADING) * 1000;
        let scaled = self.next_timer.wrapping_mul(self.corrections[self.bucket].into());
        (scaled.wrapping_add(whole / 2) / whole) as u32
    }

    /// The pattern of the last sleeps: their mean in us, without outliers, where they are alike: the mean six standard
    /// deviations, or the deviation at most 20 us. `u32::MAX` where there is none. Up to 6.5 none is
    /// looked for that cannot be below `corrected`.
    fn typical(&self, corrected: Option<u32>) -> u32 {
        let above_only = self.rules.has(KernelRule::MenuOutliersAbove);
        let mut counted = 0..=if above_only { i32::MAX as u32 } else { u32::MAX - 1 };
        loop {
            let Pattern { count, min, max, sum, squares } = Pattern::of(&self.intervals, &counted);
            match corrected {
                Some(corrected) if min >= corrected => return u32::MAX,
                None if max == 0 => return u32::MAX,
                _ => {}
            }
            let mean = sum / count;
            let variance = if above_only {
                let counted = self.intervals.iter().filter(|us| counted.contains(us));
                let squares = counted.map(|&us| u64::from(us).abs_diff(mean).pow(2));
                squares.fold(0, u64::wrapping_add) / count
            } else {
                (squares / count).wrapping_sub(mean * mean)
            };
            let enough = 4 * count >= 3 * INTERVALS as u64;
            if variance <= u64::MAX / 36
                && (variance <= 400 || (enough && mean * mean > 36 * variance))
            {
                return mean as u32;
            }
            if 4 * count <= 3 * INTERVALS as u64 {
                return u32::MAX;
            }
            counted = if !above_only && mean - u64::from(min) > u64::from(max) - mean {
                min + 1..=*counted.end()
            } else {
                *counted.start()..=max - 1
            };
        }
    }

    /// The deepest state that pays in the time that is predicted, and whether the tick stops for it.
    fn deepest(&self, states: &[IdleState], ask: &IdleAsk, guess: Guess) -> IdleChoice {
        let (tick, latency_last) = (ask.tick.0, self.rules.has(KernelRule::MenuTimerFirst));
        let mut predicted = guess.predicted;
        let mut chosen = None;
        for (at, state) in states.iter().enumerate().filter(|(_, state)| !state.disabled) {
            let best = *chosen.get_or_insert(at);
            let (latency, residency) = (state.exit_latency.0, state.target_residency.0);
            let pays = residency <= predicted;
            if latency > guess.limit && (pays || !latency_last) {
                break;
            }
            if pays {
                chosen = Some(at);
                continue;
            }
            let quick = if latency_last {
                latency <= guess.limit
            } else {
                residency < HARDLY && latency <= predicted
            };
            if states[best].polling && quick && residency <= self.next_timer {
                // A real state rather than polling.
                predicted = residency;
                chosen = Some(at);
                break;
            }
            if predicted < tick {
                break;
            }
            if !ask.tick_stopped {
                // Short of a deeper state waking up early does not hurt: the tick asks again.
                predicted = states[best].target_residency.0;
                break;
            }
            let stuck = states[best].target_residency.0 < tick && residency <= guess.next_event;
            return IdleChoice { state: if stuck { at } else { best }, stops_tick: true };
        }
        let state = chosen.unwrap_or(0);
        if ask.tick_stopped || (predicted >= tick && !states[state].polling) {
            return IdleChoice { state, stops_tick: true };
        }
        let fits = states[state].target_residency.0 <= guess.next_event;
        let state = if fits { state } else { shallower(states, state, guess.next_event) };
        IdleChoice { state, stops_tick: false }
    }

    fn learn(&mut self, states: &[IdleState], ask: &IdleAsk, ended: IdleEnd) {
        let Some(state) = states.get(ended.state) else { return };
        let latency = state.exit_latency.0;
        let measured = if ended.by_tick && self.next_timer > ask.tick.0 {
            // Only the tick ended it: as if it had been long.
            MOST_INTERESTING * 9 / 10
        } else if state.polling && ended.polled_out {
            self.next_timer
        } else if ended.length.0 > 2 * latency {
            ended.length.0 - latency
        } else {
            ended.length.0 / 2
        };
        let measured = measured.min(self.next_timer);
        let correction = &mut self.corrections[self.bucket];
        *correction -= *correction / FADING;
        *correction += if self.next_timer > 0 && measured < MOST_INTERESTING {
            (u64::from(ONE) * measured / self.next_timer) as u32
        } else {
            ONE
        };
        self.record((measured / 1000) as u32);
    }

    fn record(&mut self, us: u32) {
        self.intervals[self.oldest] = us;
        self.oldest = (self.oldest + 1) % INTERVALS;
    }
}

/// What the intervals within a range have in common; `u32::MAX` is their minimum where none is.
struct Pattern {
    count: u64,
    min: u32,
    max: u32,
    sum: u64,
    /// Modulo 2^64, as in the kernel.
    squares: u64,
}

impl Pattern {
    /// One look at each interval: this is most of what a choice costs.
    #[inline]
    fn of(intervals: &[u32; INTERVALS], counted: &RangeInclusive<u32>) -> Pattern {
        let mut pattern = Pattern { count: 0, min: u32::MAX, max: 0, sum: 0, squares: 0 };
        for &us in intervals {
            if counted.contains(&us) {
                pattern.count += 1;
                pattern.min = pattern.min.min(us);
                pattern.max = pattern.max.max(us);
                pattern.sum += u64::from(us);
                pattern.squares = pattern.squares.wrapping_add(u64::from(us).pow(2));
            }
        }
        pattern
    }
}

/// What a state is chosen by.
#[derive(Clone, Copy)]
struct Guess {
    predicted: u64,
    limit: u64,
    next_event: u64,
}

#[cfg(test)]
mod tests {
    use super::super::tests::states;
    use super::*;
    use flyball_units::{KernelVersion, Nanos};

    fn ask(timer_us: u64) -> IdleAsk {
        IdleAsk {
            next_timer: Nanos::from_micros(timer_us),
            next_event: Nanos::from_micros(timer_us.min(600)),
            tick: Nanos::from_millis(1),
            tick_stopped: false,
            latency_limit: Nanos(u64::MAX),
            io_waiters: 0,
        }
    }

    /// Sleeps of these lengths in the middle state, whose way out is 50 us.
    fn after(menu: &mut Menu, lengths_us: &[u64], timer_us: u64) -> IdleChoice {
        for &us in lengths_us {
            menu.select(&states(), &ask(timer_us));
            let length = Nanos::from_micros(us + 50);
            menu.reflect(IdleEnd { state: 1, length, by_tick: false, polled_out: false });
        }
        menu.select(&states(), &ask(timer_us))
    }

    /// Eight sleeps of 300 us with one of 9 ms among them: the long one is left out, and 300 us are
    /// expected, whatever the timer; the tick of 1 ms is kept. Sleeps from 0.1 to 12.8 ms have no
    /// pattern: the timer counts, corrected.
    #[test]
    fn a_pattern_is_found_where_there_is_one() {
        let mut menu = Menu::new(KernelRules::newest());
        let choice = after(&mut menu, &[300, 300, 300, 9_000, 300, 300, 300, 300], 1_000_000);
        assert_eq!(choice, IdleChoice { state: 1, stops_tick: false });
        assert_eq!(menu.typical(None), 300);
        let doublings: Vec<u64> = (0..8).map(|at| 100 << at).collect();
        let choice = after(&mut menu, &doublings, 1_000_000);
        assert_eq!(menu.typical(None), u32::MAX);
        assert_eq!(choice, IdleChoice { state: 2, stops_tick: true });
    }

    /// Seven sleeps of 3 ms after one of 100 us: up to 6.14 the long ones are left out one by one, and
    /// the short one alone is its own pattern.
    #[test]
    fn outliers_below_count_up_to_6_14() {
        for (version, found) in [((6, 14), 100), ((6, 15), 3000)] {
            let version = KernelVersion::new(version.0, version.1);
            let mut menu = Menu::new(KernelRules::of(version));
            after(&mut menu, &[100, 3000, 3000, 3000, 3000, 3000, 3000, 3000], 1_000_000);
            assert_eq!(menu.typical(None), found, "{version}");
        }
    }

    /// A sleep of a timer's 6 ms that lasted 0.1 ms takes an eighth less 1/60 off the correction of its
    /// magnitude: 7 x 1024 + 17.
    #[test]
    fn a_timer_is_trusted_less_after_early_wakeups() {
        let mut menu = Menu::new(KernelRules::newest());
        after(&mut menu, &[100], 6_000);
        assert_eq!(menu.state()[..2], [3, 7 * 1024 + 17]);
    }

    #[test]
    fn a_latency_limit_of_pm_qos_forbids_slow_states() {
        let mut menu = Menu::new(KernelRules::newest());
        let limit = |us| IdleAsk { latency_limit: Nanos::from_micros(us), ..ask(1_000_000) };
        assert_eq!(menu.select(&states(), &limit(499)).state, 1);
        assert_eq!(menu.select(&states(), &limit(49)).state, 0);
    }

    /// Up to 6.11 a task that waits for I/O lets only states that are quick beside the prediction:
    /// 50 us of latency want 550 us.
    #[test]
    fn waiting_for_io_keeps_cpus_awake_up_to_6_11() {
        let waiting = |us| IdleAsk { io_waiters: 1, ..ask(us) };
        let choose = |version, us| {
            let mut menu = Menu::new(KernelRules::of(version));
            menu.intervals = [100, 200, 400, 800, 1600, 3200, 6400, 12_800];
            menu.last_length = 1;
            menu.select(&states(), &waiting(us)).state
        };
        assert_eq!(choose(KernelVersion::new(6, 1), 549), 0);
        assert_eq!(choose(KernelVersion::new(6, 1), 551), 1);
        assert_eq!(choose(KernelVersion::new(6, 12), 549), 1);
    }
}
