//! The tick rule: at each tick of a statistics clock, busy and idle ones in a row.

use super::{InKernel, MOST_LEVELS, Ruled, governor, members, value, word};
use crate::GovernError;
use crate::prepare::Wish;
use flyball_bpf::TICK;
use flyball_governors::{Decision, Event, Governor, Request};
use flyball_units::{CpuId, KiloHertz, Mismatch, Nanos};

/// With the model's own governor, which is given the ticks of the first domain.
pub(super) struct TickRule {
    n: u32,
    m: u32,
    hz: u32,
    governor: Box<dyn Governor>,
    points: Vec<KiloHertz>,
    level: usize,
}

impl TickRule {
    /// What a wish asks for: n, m and the clock's rate.
    pub(super) fn new(wish: &Wish, tick: Nanos) -> Result<TickRule, GovernError> {
        let governor = governor(wish, &["n", "m", "tick_hz"])?;
        let value = |name: &str| value(governor.as_ref(), name);
        let usual = 1_000_000_000 / tick.0.max(1);
        let hz = match value("tick_hz") {
            0 => usual,
            hz => u64::try_from(hz).unwrap_or(usual),
        };
        if !(10..=2000).contains(&hz) {
            let slip = Mismatch::value("tick_hz of 10 to 2000", hz);
            return Err(GovernError::Unsupported(slip));
        }
        let whole = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
        let (n, m) = (whole(value("n")), whole(value("m")));
        Ok(TickRule { n, m, hz: hz as u32, governor, points: Vec::new(), level: 0 })
    }

    fn carried_out(&self, decision: &Decision) -> usize {
        match decision.request {
            Some(Request::Frequency { target, .. }) => {
                let found = self.points.iter().position(|khz| *khz >= target);
                found.unwrap_or(self.points.len() - 1)
            }
            _ => self.level,
        }
    }

    fn tick(&mut self, at: Nanos, cpu: CpuId, busy: bool, level: u8) -> Option<String> {
        let decision = self.governor.on(&Event::Tick { cpu, busy }, at);
        self.level = self.carried_out(&decision);
        let khz = |level: usize| self.points.get(level).map_or(0, |khz| khz.0);
        let (here, there) = (khz(self.level), khz(usize::from(level)));
        (here != there).then(|| format!("expected {here} kHz, found {there}"))
    }
}

impl InKernel for TickRule {
    fn object(&self) -> &'static [u8] {
        TICK
    }

    fn scheduler(&self) -> (&'static str, bool) {
        ("flyball_tick", false)
    }

    fn tick_hz(&self) -> Option<u32> {
        Some(self.hz)
    }

    fn notes(&self, ruled: &[Ruled]) -> Vec<String> {
        let scheduled = "meanwhile all threads of the normal class are scheduled by sched_ext's own defaults: first \
                         come, first served, in slices of 20 ms";
        let shared = "one pair of counters serves all CPUs of a domain, as in the source: while one is idle its \
                      ticks keep the others from the highest frequency";
        let several = ruled.iter().any(|ruled| ruled.domain.cpus.len() > 1);
        [Some(scheduled), several.then_some(shared)]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect()
    }

    fn image(&self, ruled: &Ruled) -> Vec<u8> {
        let mut bytes = Vec::new();
        let highest = ruled.domain.opps.max();
        let words = [
            0,
            0,
            0,
            ruled.level as u32,
            ruled.points.len() as u32 - 1,
            self.n,
            self.m,
            ruled.domain.cpus.len() as u32,
        ];
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend(0_u64.to_ne_bytes());
        bytes.extend((1_000_000_000 / u64::from(self.hz)).to_ne_bytes());
        let mut levels = [0_u16; MOST_LEVELS];
        let all = ruled.points.iter().map(|khz| level(*khz, highest, ruled.domain.capacity));
        levels.iter_mut().zip(all).for_each(|(to, perf)| *to = perf);
        bytes.extend(members(ruled).iter().chain(&levels).flat_map(|half| half.to_ne_bytes()));
        bytes
    }

    fn decisions_at(&self) -> usize {
        32
    }

    fn ring(&self) -> &'static str {
        "ticks"
    }

    fn begin(&mut self, first: &Ruled, now: Nanos) {
        self.governor.start(&first.domain, now);
        (self.points, self.level) = (first.points.clone(), first.level);
    }

    fn again(&mut self, record: &[u8]) -> Option<String> {
        let byte = |at: usize| record.get(at).copied().unwrap_or(0);
        let cpu = CpuId(u32::from(u16::from_ne_bytes([byte(16), byte(17)])));
        self.tick(Nanos(word(record, 0)), cpu, byte(18) != 0, byte(19))
    }
}

/// The level of 1024 that schedutil makes this frequency of: it adds a quarter and rounds up to a point.
fn level(khz: KiloHertz, highest: KiloHertz, capacity: u32) -> u16 {
    if khz >= highest {
        return 1024;
    }
    let share = u128::from(khz.0) * u128::from(capacity) * 4 / (u128::from(highest.0.max(1)) * 5);
    u16::try_from(share.min(1024)).unwrap_or(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_governors::Domain;
    use flyball_units::OppTable;

    #[test]
    fn schedutil_makes_each_frequency_of_its_level() {
        // Both clusters of the board: its formula is next = highest x 1.25 x level / capacity, rounded up to a point.
        for (points, capacity) in [
            (vec![600_000, 1_200_000, 1_800_000, 2_400_000, 3_000_000], 1024_u64),
            (vec![600_000, 1_000_000, 1_400_000, 1_800_000], 409),
        ] {
            let highest = *points.last().unwrap();
            for khz in &points {
                let level = u64::from(level(KiloHertz(*khz), KiloHertz(highest), capacity as u32));
                let wanted = (highest * (level + level / 4) / capacity).min(highest);
                let next = points.iter().copied().find(|point| *point >= wanted).unwrap();
                assert_eq!(next, *khz, "{capacity}");
            }
        }
    }

    fn wish(tunables: &[(&str, i64)]) -> Wish {
        Wish {
            governor: "tick".to_owned(),
            tunables: tunables.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            ..Wish::default()
        }
    }

    #[test]
    fn another_decision_than_the_models_is_told() {
        let opps = OppTable::from_khz(&[600_000, 1_200_000, 1_800_000]).unwrap();
        let domain = Domain::new(vec![CpuId(0)], opps).current(KiloHertz(600_000)).stat_hz(250);
        let points = [600_000, 1_200_000, 1_800_000].map(KiloHertz).to_vec();
        let ruled = Ruled { name: "policy0".to_owned(), domain, points, level: 0 };
        let mut rule = TickRule::new(&wish(&[]), Nanos::from_millis(4)).unwrap();
        rule.begin(&ruled, Nanos::ZERO);
        // The fourth busy tick raises, the fourth idle one lowers by a point.
        let ticks = [
            (true, 0),
            (true, 0),
            (true, 0),
            (true, 2),
            (false, 2),
            (false, 2),
            (false, 2),
            (false, 1),
        ];
        for (at, (busy, level)) in (0..).zip(ticks) {
            assert_eq!(rule.tick(Nanos::from_millis(4 * at), CpuId(0), busy, level), None);
        }
        let differs = rule.tick(Nanos::from_millis(40), CpuId(0), true, 2);
        assert_eq!(differs.as_deref(), Some("expected 1200000 kHz, found 1800000"));
    }

    #[test]
    fn what_the_program_does_not_know_is_refused() {
        let rule = |tunables: &[(&str, i64)]| TickRule::new(&wish(tunables), Nanos::from_millis(4));
        let of = |tunables: &[(&str, i64)]| {
            let rule = rule(tunables).unwrap();
            (rule.n, rule.m, rule.hz)
        };
        assert_eq!((of(&[]), of(&[("n", 5), ("tick_hz", 128)])), ((3, 3, 250), (5, 3, 128)));
        let error = rule(&[("step_up", 1)]).err().unwrap().to_string();
        assert!(error.contains("step_up = 0: the program knows n, m, tick_hz"), "{error}");
    }
}
