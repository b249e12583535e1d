//! teo: how often sleeps ended before their timer, by the deepest state that they were long enough
//! for.

use super::{FURTHEST, HARDLY, IdleAsk, IdleChoice, IdleEnd, IdleState, shallower};
use flyball_units::{KernelRule, KernelRules, Nanos};

/// The weight of one sleep.
const PULSE: u32 = 1024;

/// Early wake-ups that are remembered one by one, up to 6.5.
const RECENT: usize = 9;

/// What three ages of the governor look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Age {
    /// Up to 6.5: the timer first; the last nine sleeps one by one.
    Recent,
    /// 6.6 to 6.13: the timer where it matters; timers beyond the tick have a bin of their own.
    TickHits,
    /// From 6.14: very short sleeps, and what the tick ended.
    Ticks,
}

/// Weights of sleeps that were long enough for a state, and for no deeper one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    /// Of those that ended before their timer.
    intercepts: u32,
    /// Of those that ended with it.
    hits: u32,
    /// The number of the first among the last nine.
    recent: u32,
}

/// The teo governor of one CPU.
#[derive(Clone, Debug)]
pub struct Teo {
    age: Age,
    bins: Vec<Bin>,
    total: u32,
    /// Time until the next timer when the last sleep began.
    sleep_length: i64,
    /// The last sleep, where it has not been learnt from yet.
    ended: Option<IdleEnd>,
    recent: [Option<usize>; RECENT],
    next_recent: usize,
    tick_hits: u32,
    tick_intercepts: u32,
    tick_wakeups: u32,
    short: u32,
}

impl Teo {
    /// One without experience, of a kernel with these rules, for a CPU with so many states.
    pub fn new(rules: KernelRules, states: usize) -> Teo {
        let age = if rules.has(KernelRule::TeoRecentIntercepts) {
            Age::Recent
        } else if rules.has(KernelRule::TeoHitsBeyondTick) {
            Age::TickHits
        } else {
            Age::Ticks
        };
        // The kernel begins as if a sleep in the first state had just ended at once.
        let first = IdleEnd { state: 0, length: Nanos::ZERO, by_tick: false, polled_out: false };
        Teo {
            age,
            bins: vec![Bin::default(); states],
            total: 0,
            sleep_length: 0,
            ended: Some(first),
            recent: [None; RECENT],
            next_recent: 0,
            tick_hits: 0,
            tick_intercepts: 0,
            tick_wakeups: 0,
            short: 0,
        }
    }

    /// The state to enter, of at least two.
    pub fn select(&mut self, states: &[IdleState], ask: &IdleAsk) -> IdleChoice {
        if let Some(ended) = self.ended.take() {
            match self.age {
                Age::Ticks => self.learn_ticks(states, ask, ended),
                Age::Recent | Age::TickHits => self.learn(states, ask, ended),
            }
        }
        match self.age {
            Age::Recent => self.select_by_timer(states, ask),
            Age::TickHits => self.select_tick_hits(states, ask),
            Age::Ticks => self.select_ticks(states, ask),
        }
    }

    /// A sleep ended.
    pub fn reflect(&mut self, ended: IdleEnd) {
        self.ended = Some(ended);
    }

    /// The weight of all sleeps, and those of the bins: early ones, then timely ones.
    pub fn state(&self) -> Vec<u64> {
        let bins = self.bins.iter().flat_map(|bin| [bin.intercepts.into(), bin.hits.into()]);
        std::iter::once(self.total.into()).chain(bins).collect()
    }

    // --- what a sleep says ---

    /// Up to 6.13.
    fn learn(&mut self, states: &[IdleState], ask: &IdleAsk, ended: IdleEnd) {
        let Some(state) = states.get(ended.state) else { return };
        let tick = ask.tick.0 as i64;
        let cut = ended.polled_out || (ended.by_tick && self.sleep_length > tick);
        let length = ended.length.0;
        let measured = if cut || length as i64 >= self.sleep_length {
            u64::MAX
        } else {
            without_latency(length, state.exit_latency.0)
        };
        for bin in &mut self.bins {
            bin.hits -= bin.hits >> 3;
            bin.intercepts -= bin.intercepts >> 3;
        }
        self.total = self.bins.iter().map(|bin| bin.hits + bin.intercepts).sum();
        let (mut by_timer, slept) = self.bins_of(states, |residency| residency <= measured);
        let deepest = states.last().map_or(0, |state| state.target_residency.0);
        let mut beyond = false;
        if self.age == Age::TickHits && deepest < ask.tick.0 {
            self.tick_hits -= self.tick_hits >> 3;
            self.total += self.tick_hits;
            if tick <= self.sleep_length {
                by_timer = states.len();
                beyond = ask.tick.0 <= measured;
            }
        }
        let early = by_timer != slept;
        if beyond {
            self.tick_hits += PULSE;
        } else if early {
            self.bins[slept].intercepts += PULSE;
        } else {
            self.bins[slept].hits += PULSE;
        }
        self.total += PULSE;
        if self.age == Age::Recent {
            let last = &mut self.recent[self.next_recent];
            self.next_recent = (self.next_recent + 1) % RECENT;
            if let Some(bin) = std::mem::replace(last, early.then_some(slept)) {
                self.bins[bin].recent -= 1;
            }
            self.bins[slept].recent += u32::from(early);
        }
    }

    /// From 6.14.
    fn learn_ticks(&mut self, states: &[IdleState], ask: &IdleAsk, ended: IdleEnd) {
        let Some(state) = states.get(ended.state) else { return };
        let (latency, length) = (state.exit_latency.0, ended.length.0);
        fade(&mut self.short);
        let measured = if ended.polled_out {
            FURTHEST
        } else {
            let measured = without_latency(length, latency);
            if length < latency || measured < HARDLY {
                self.short += PULSE;
            }
            measured
        };
        for bin in &mut self.bins {
            fade(&mut bin.hits);
            fade(&mut bin.intercepts);
        }
        let before: u32 = self.bins.iter().map(|bin| bin.hits + bin.intercepts).sum();
        self.total = before + PULSE;
        let (by_timer, slept) = self.bins_of(states, |residency| residency <= measured);
        fade(&mut self.tick_intercepts);
        fade(&mut self.tick_wakeups);
        if ended.by_tick {
            self.tick_wakeups += PULSE;
            // Where mostly the tick wakes up, or hardly anything comes before it, nothing was early.
            let hit = if 3 * self.tick_wakeups > 2 * self.total {
                self.bins.len() - 1
            } else if 3 * self.tick_intercepts < 2 * before {
                by_timer
            } else {
                usize::MAX
            };
            if let Some(bin) = self.bins.get_mut(hit) {
                bin.hits += PULSE;
                return;
            }
        }
        let left = self.sleep_length.wrapping_sub(measured as i64);
        if by_timer == slept && left < (latency / 2) as i64 {
            self.bins[slept].hits += PULSE;
        } else {
            self.bins[slept].intercepts += PULSE;
            if measured <= ask.tick.0 {
                self.tick_intercepts += PULSE;
            }
        }
    }

    /// The bin of the time until the timer, and of the sleep: the deepest state of those that is long
    /// enough.
    fn bins_of(&self, states: &[IdleState], pays: impl Fn(u64) -> bool) -> (usize, usize) {
        let (mut by_timer, mut slept) = (0, 0);
        for (at, state) in states.iter().enumerate() {
            let residency = state.target_residency.0;
            if residency as i64 <= self.sleep_length {
                by_timer = at;
                if pays(residency) {
                    slept = at;
                }
            }
        }
        (by_timer, slept)
    }

    // --- choosing ---

    /// Up to 6.5.
    fn select_by_timer(&mut self, states: &[IdleState], ask: &IdleAsk) -> IdleChoice {
        let mut length = ask.next_timer.0.min(FURTHEST);
        self.sleep_length = length as i64;
        let usable = |at: usize| !states[at].disabled;
        let first = (0..states.len()).find(|&at| usable(at)).unwrap_or(0);
        let soon = usable(0) && states[1].target_residency.0 > length;
        let pays = |at: &usize| usable(*at) && states[*at].target_residency.0 <= length;
        let candidate = (first..states.len()).take_while(|at| !usable(*at) || pays(at));
        let candidate = candidate.filter(|&at| usable(at)).last().unwrap_or(first);
        if soon || candidate == first {
            let state = if soon { 0 } else { first };
            return self.by_length(states, ask, [state, first], [length, ask.next_event.0]);
        }
        let slow = |at: &usize| {
            *at > 0 && usable(*at) && states[*at].exit_latency.0 <= ask.latency_limit.0
        };
        let allowed = (1..=candidate).rev().find(slow).unwrap_or(0);
        let below = |of: fn(&Bin) -> u32| self.bins[..candidate].iter().map(of).sum::<u32>();
        let (early, hits, recent) =
            (below(|bin| bin.intercepts), below(|bin| bin.hits), below(|bin| bin.recent));
        let mostly_early = 2 * early > self.total - hits;
        let lately_early = recent as usize > RECENT / 2;
        let mut state = candidate;
        if mostly_early || lately_early {
            let (mut suitable, mut suitable_length) = (candidate, length);
            let (mut sum, mut recent_sum) = (0, 0);
            for at in (0..candidate).rev() {
                sum += self.bins[at].intercepts;
                recent_sum += self.bins[at].recent;
                let middle =
                    (states[at].target_residency.0 + states[at + 1].target_residency.0) / 2;
                let long_enough = !ask.tick_stopped || middle >= ask.tick.0;
                if (!lately_early || 2 * recent_sum > recent) && (!mostly_early || 2 * sum > early)
                {
                    if long_enough && usable(at) {
                        (state, length) = (at, middle);
                    } else {
                        (state, length) = (suitable, suitable_length);
                    }
                    break;
                }
                if !usable(at) {
                    continue;
                }
                if !long_enough {
                    if suitable != state {
                        continue;
                    }
                    break;
                }
                (suitable, suitable_length) = (at, middle);
            }
        }
        self.by_length(states, ask, [state.min(allowed), first], [length, ask.next_event.0])
    }

    /// From 6.6, the timer not having been asked: what may be chosen, or the choice where there is none.
    fn candidate(&mut self, states: &[IdleState], ask: &IdleAsk) -> Result<Candidate, IdleChoice> {
        self.sleep_length = FURTHEST as i64;
        match candidate(states, ask) {
            None => Err(IdleChoice { state: 0, stops_tick: false }),
            Some(Candidate { first, deepest, .. }) if deepest == first => {
                let lengths = [states[first].target_residency.0, ask.tick.0 / 2];
                Err(self.by_length(states, ask, [first, first], lengths))
            }
            Some(found) => Ok(found),
        }
    }

    /// 6.6 to 6.13.
    fn select_tick_hits(&mut self, states: &[IdleState], ask: &IdleAsk) -> IdleChoice {
        let Candidate { first, deepest, allowed } = match self.candidate(states, ask) {
            Ok(found) => found,
            Err(choice) => return choice,
        };
        let kept = |state| IdleChoice { state, stops_tick: false };
        let half = ask.tick.0 / 2;
        let early: u32 = self.bins[..deepest].iter().map(|bin| bin.intercepts).sum();
        let hits: u32 = self.bins[..deepest].iter().map(|bin| bin.hits).sum();
        let all_early: u32 = self.bins.iter().map(|bin| bin.intercepts).sum();
        let mut state = deepest;
        if 2 * early > self.total - hits {
            let (mut suitable, mut sum) = (deepest, 0);
            for at in (0..deepest).rev() {
                sum += self.bins[at].intercepts;
                let deep_enough = !ask.tick_stopped || states[at].target_residency.0 >= ask.tick.0;
                if 2 * sum > early {
                    let good = deep_enough && !states[at].disabled;
                    state = if good { at } else { suitable };
                    break;
                }
                if states[at].disabled {
                    continue;
                }
                if !deep_enough {
                    if suitable != state {
                        continue;
                    }
                    break;
                }
                suitable = at;
            }
        }
        let timer = ask.next_timer.0.min(FURTHEST);
        if state == 0 {
            // Asked only to know afterwards whether the guess was right.
            self.sleep_length = timer as i64;
            return kept(0);
        }
        state = state.min(allowed);
        if state == 0 || (states[0].polling && states[state].target_residency.0 < HARDLY) {
            return kept(state);
        }
        self.sleep_length = timer as i64;
        let mut length = timer;
        if states[state].target_residency.0 > length {
            state = shallower(states, state, length);
        }
        let mostly = all_early > self.total / 2 + self.total / 8;
        if states[state].target_residency.0 < ask.tick.0 && mostly {
            length = half;
        }
        self.by_length(states, ask, [state, first], [length, ask.next_event.0])
    }

    /// From 6.14.
    fn select_ticks(&mut self, states: &[IdleState], ask: &IdleAsk) -> IdleChoice {
        let Candidate { first, deepest, allowed } = match self.candidate(states, ask) {
            Ok(found) => found,
            Err(choice) => return choice,
        };
        let kept = |state| IdleChoice { state, stops_tick: false };
        let half = ask.tick.0 / 2;
        let mut state = deepest;
        let early: u32 = self.bins[..deepest].iter().map(|bin| bin.intercepts).sum();
        let hits: u32 = self.bins[..deepest].iter().map(|bin| bin.hits).sum();
        if 2 * early > self.total - hits {
            let top = self.bins.len() - 1;
            let most = (0..top).max_by_key(|&at| self.bins[at].intercepts).unwrap_or(0);
            let mut sum = 0;
            for at in (first..deepest).rev() {
                sum += self.bins[at].intercepts;
                if states[at].disabled {
                    continue;
                }
                state = at;
                if 2 * sum > early && at <= most {
                    break;
                }
            }
        }
        state = state.min(allowed);
        let residency = |state: usize| states[state].target_residency.0;
        let shallow = state == 0 || residency(state) < HARDLY;
        let short = 2 * self.short >= self.total || ask.latency_limit.0 < HARDLY / 2;
        if !ask.tick_stopped && shallow && short {
            return kept(state);
        }
        let mut length = ask.next_timer.0.min(FURTHEST);
        self.sleep_length = length as i64;
        if ask.tick_stopped && length > 2 * ask.tick.0 && residency(state) < ask.tick.0 {
            let deeper = |&at: &usize| !states[at].disabled && residency(at) <= length;
            let state = (state + 1..=allowed).rev().find(deeper).unwrap_or(state);
            return IdleChoice { state, stops_tick: true };
        }
        if state == 0 {
            return kept(0);
        }
        if residency(state) > length {
            state = shallower(states, state, length);
        }
        if residency(state) < ask.tick.0 && 3 * self.tick_intercepts >= 2 * self.total {
            length = half;
        }
        self.by_length(states, ask, [state, first], [length, ask.next_event.0])
    }

    /// Whether the tick stops for a sleep of that length; where it does not, the state must pay until
    /// the next timer or tick.
    fn by_length(
        &self,
        states: &[IdleState],
        ask: &IdleAsk,
        [state, first]: [usize; 2],
        [length, next_event]: [u64; 2],
    ) -> IdleChoice {
        if ask.tick_stopped || (length >= ask.tick.0 && !states[state].polling) {
            return IdleChoice { state, stops_tick: true };
        }
        let fits = state <= first || states[state].target_residency.0 <= next_event;
        let state = if fits { state } else { shallower(states, state, next_event) };
        IdleChoice { state, stops_tick: false }
    }
}

/// The states that may be used at all.
struct Candidate {
    /// The shallowest.
    first: usize,
    /// The deepest.
    deepest: usize,
    /// The deepest that is quick enough, but for the first.
    allowed: usize,
}

fn candidate(states: &[IdleState], ask: &IdleAsk) -> Option<Candidate> {
    let usable = |&at: &usize| !states[at].disabled;
    let first = (0..states.len()).find(usable)?;
    let deepest = (0..states.len()).rev().find(usable)?;
    let quick = |at: &usize| states[*at].exit_latency <= ask.latency_limit;
    let allowed = (1..states.len()).rev().filter(usable).find(quick).unwrap_or(0);
    Some(Candidate { first, deepest, allowed })
}

/// A sleep without the way out, of which half is taken for the usual one.
fn without_latency(length: u64, latency: u64) -> u64 {
    if length >= latency { length - latency / 2 } else { length / 2 }
}

/// An eighth less; what is below an eighth of nothing is none.
fn fade(weight: &mut u32) {
    let eighth = *weight >> 3;
    *weight = if eighth > 0 { *weight - eighth } else { 0 };
}

#[cfg(test)]
mod tests {
    use super::super::tests::states;
    use super::*;
    use flyball_units::KernelVersion;

    fn ask(timer_us: u64) -> IdleAsk {
        IdleAsk {
            next_timer: Nanos::from_micros(timer_us),
            next_event: Nanos::from_micros(timer_us.min(3_000)),
            tick: Nanos::from_millis(4),
            tick_stopped: false,
            latency_limit: Nanos(u64::MAX),
            io_waiters: 0,
        }
    }

    /// Ten sleeps of 300 us though no timer is near: in each version the middle state is what they
    /// were long enough for, and the tick goes on.
    #[test]
    fn every_age_follows_what_most_sleeps_were_long_enough_for() {
        for version in [(6, 1), (6, 12), (7, 2)] {
            let version = KernelVersion::new(version.0, version.1);
            let mut teo = Teo::new(KernelRules::of(version), 3);
            assert_eq!(teo.select(&states(), &ask(1_000_000)).state, 2, "{version}");
            for _ in 0..10 {
                let length = Nanos::from_micros(300);
                teo.reflect(IdleEnd { state: 1, length, by_tick: false, polled_out: false });
                teo.select(&states(), &ask(1_000_000));
            }
            let choice = teo.select(&states(), &ask(1_000_000));
            assert_eq!(choice, IdleChoice { state: 1, stops_tick: false }, "{version}");
            assert_eq!(teo.select(&states(), &ask(100)).state, 0, "{version}");
        }
    }
}
