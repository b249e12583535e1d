//! The threshold policy: at each update of load tracking, by the utilisation of a domain's busiest CPU.

use super::{InKernel, Ruled, governor, half, members, value, word};
use crate::GovernError;
use crate::prepare::Wish;
use flyball_bpf::{BpfError, Loaded, THRESHOLD};
use flyball_governors::{CpuSignals, Event, Governor, Request, UtilFlags};
use flyball_host::BpfLink;
use flyball_units::{CpuId, Mismatch, Nanos};
use std::borrow::Cow;

/// With the model's own governor, which is given the utilisation of the first domain's busiest CPU.
pub(super) struct ThresholdRule {
    high: u32,
    low: u32,
    low_perf: u32,
    governor: Box<dyn Governor>,
}

impl ThresholdRule {
    /// What a wish asks for.
    pub(super) fn new(wish: &Wish) -> Result<ThresholdRule, GovernError> {
        let governor = governor(wish, &["high_threshold", "low_threshold", "low_perf"])?;
        let of = |name: &str| u32::try_from(value(governor.as_ref(), name)).unwrap_or(0);
        let (high, low, low_perf) = (of("high_threshold"), of("low_threshold"), of("low_perf"));
        if low_perf < low {
            // The kernel's own load tracking is added to what is asked for: it can ask for more, not for less.
            let expected = format!("low_perf of low_threshold or more, at least {low}");
            return Err(GovernError::Unsupported(Mismatch::value(expected, low_perf)));
        }
        Ok(ThresholdRule { high, low, low_perf, governor })
    }

    fn decide(&mut self, at: Nanos, util: u32, level: u32) -> Option<String> {
        let mut signals = [CpuSignals::default()];
        signals[0].util = util;
        let signals = Cow::Borrowed(signals.as_slice());
        let event = Event::Util { cpu: CpuId(0), signals, flags: UtilFlags::default() };
        let here = match self.governor.on(&event, at).request {
            Some(Request::Perf(level)) => level,
            _ => 0,
        };
        (here != level).then(|| format!("utilisation {util}: expected level {here}, found {level}"))
    }
}

impl InKernel for ThresholdRule {
    fn object(&self) -> &'static [u8] {
        THRESHOLD
    }

    fn scheduler(&self) -> (&'static str, bool) {
        ("flyball_threshold", true)
    }

    fn notes(&self, _: &[Ruled]) -> Vec<String> {
        let counted = "utilisation is that of fair, real-time and deadline threads: interrupts are added by schedutil \
                       on top of the level";
        vec![counted.to_owned()]
    }

    fn image(&self, ruled: &Ruled) -> Vec<u8> {
        let count = ruled.domain.cpus.len() as u32;
        let words = [0, self.high, self.low, self.low_perf, ruled.domain.capacity, count];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.extend(0_u64.to_ne_bytes());
        bytes.extend(members(ruled).iter().flat_map(|half| half.to_ne_bytes()));
        bytes
    }

    fn decisions_at(&self) -> usize {
        24
    }

    fn tracepoints(&self, loaded: &Loaded) -> Result<Vec<BpfLink>, BpfError> {
        Ok(vec![loaded.program("updated")?.attach()?])
    }

    fn ring(&self) -> &'static str {
        "decisions"
    }

    fn begin(&mut self, first: &Ruled, now: Nanos) {
        self.governor.start(&first.domain, now);
    }

    fn again(&mut self, record: &[u8]) -> Option<String> {
        self.decide(Nanos(word(record, 0)), half(record, 16), half(record, 20))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_governors::Domain;
    use flyball_units::{KiloHertz, OppTable};

    fn wish(tunables: &[(&str, i64)]) -> Wish {
        Wish {
            governor: "threshold".to_owned(),
            tunables: tunables.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            ..Wish::default()
        }
    }

    #[test]
    fn another_level_than_the_models_is_told() {
        let opps = OppTable::from_khz(&[600_000, 1_800_000]).unwrap();
        let domain = Domain::new(vec![CpuId(0)], opps).current(KiloHertz(600_000));
        let ruled = Ruled { name: "policy0".to_owned(), domain, points: Vec::new(), level: 0 };
        let mut rule = ThresholdRule::new(&wish(&[])).unwrap();
        rule.begin(&ruled, Nanos::ZERO);
        let at = Nanos::from_millis(1);
        for (util, level) in [(0, 512), (256, 512), (257, 257), (767, 767), (768, 1024)] {
            assert_eq!(rule.decide(at, util, level), None);
        }
        let differs = rule.decide(at, 300, 512);
        assert_eq!(differs.as_deref(), Some("utilisation 300: expected level 300, found 512"));
    }

    #[test]
    fn a_level_below_the_utilisation_cannot_be_had() {
        assert!(ThresholdRule::new(&wish(&[("low_perf", 256)])).is_ok());
        let error = ThresholdRule::new(&wish(&[("low_perf", 255)])).err().unwrap().to_string();
        assert!(error.contains("low_perf") && error.contains("255"), "{error}");
    }
}
