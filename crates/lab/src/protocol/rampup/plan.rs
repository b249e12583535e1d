//! What is measured, and in which order.

use crate::protocol::rampup::RampupError;
use flyball_control::Settings;
use flyball_units::{CpuSet, Mismatch, Nanos};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// One set of settings, with the idle gaps that are tried under it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Its name in the tables.
    pub name: String,
    /// Sleeps before each spin.
    pub sleeps: u32,
    /// Lengths of these sleeps.
    pub gaps: Vec<Nanos>,
    /// What is set meanwhile; empty where the machine stays as it is.
    #[serde(default)]
    pub settings: Settings,
    /// The CPUs that the spinning thread may use; all that the program may where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<CpuSet>,
}

impl Condition {
    /// Sets `key=value`: the thread's CPUs, or one of the [`Settings`].
    ///
    /// # Errors
    /// A value that does not read.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Mismatch> {
        if key != "cpus" {
            return self.settings.set(key, value);
        }
        self.cpus = Some(value.parse().map_err(|slip: Mismatch| slip.at(key))?);
        Ok(())
    }
}

/// The whole measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Repetitions per condition and gap.
    pub repeats: u32,
    /// Length of each spin.
    pub spin: Nanos,
    /// Seed of order and phases.
    pub seed: u64,
    /// The conditions.
    #[serde(rename = "condition")]
    pub conditions: Vec<Condition>,
}

/// Adjacent repetitions under one condition, in a thread of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the condition.
    pub condition: usize,
    /// Number of the repetition, from 1.
    pub repeat: u32,
    /// The gap of each repetition, and how much longer than the spin the thread works behind it: so
    /// that the next spin begins at a random phase of tick and governor.
    pub spins: Vec<(Nanos, Nanos)>,
}

/// Work goes on for a random time up to this: the longest tick there is (HZ=100).
const PHASE: Nanos = Nanos::from_millis(10);

/// A spin shorter than this has too few samples for a settled rate.
const SHORTEST_SPIN: Nanos = Nanos::from_millis(10);

/// Neither sleeps nor spins are longer.
const LONGEST: Nanos = Nanos::from_secs(60);

impl Plan {
    /// Refuses what has no sense.
    ///
    /// # Errors
    /// No repetition, no gap, a time out of range.
    pub fn check(&self) -> Result<(), RampupError> {
        let bad = |object: &str, expected: &str, found: String| {
            let (object, expected) = (object.to_owned(), expected.to_owned());
            Err(RampupError::BadInput(Mismatch::value(expected, found).at(object)))
        };
        if self.repeats == 0 {
            return bad("repeats", "1 or more", "0".to_owned());
        }
        if self.spin < SHORTEST_SPIN || self.spin > LONGEST {
            return bad(
                "length of the spin",
                "10ms to 60s",
                format!("{} ms", self.spin.0 as f64 / 1e6),
            );
        }
        for condition in &self.conditions {
            if condition.gaps.is_empty() {
                return bad("gaps", "a time or more", "none".to_owned());
            }
            let wrong = condition.gaps.iter().find(|gap| gap.0 == 0 || **gap > LONGEST);
            if let Some(gap) = wrong {
                let found = format!("{} ms", gap.0 as f64 / 1e6);
                return bad("gaps", "times above 0 and up to 60s", found);
            }
            if let Err(slip) = condition.settings.check() {
                let object = format!("condition \"{}\"", condition.name);
                return bad(&object, &slip.expected, slip.found);
            }
        }
        Ok(())
    }

    /// The segments: blocks of all conditions, each block in an order of its own, so that what
    /// drifts meets all of them alike.
    pub fn segments(&self) -> Vec<Segment> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut segments = Vec::new();
        for repeat in 1..=self.repeats {
            let mut order: Vec<usize> = (0..self.conditions.len()).collect();
            shuffle(&mut order, &mut random);
            for number in order {
                let Some(condition) = self.conditions.get(number) else { continue };
                let mut gaps = condition.gaps.clone();
                shuffle(&mut gaps, &mut random);
                let spins = gaps.into_iter().map(|gap| (gap, Nanos(random.next_u64() % PHASE.0)));
                segments.push(Segment { condition: number, repeat, spins: spins.collect() });
            }
        }
        segments
    }

    /// About how long it takes.
    pub fn duration(&self) -> Nanos {
        let each = |condition: &Condition| -> u64 {
            let gap = |gap: &Nanos| {
                gap.0.saturating_mul(u64::from(condition.sleeps)) + self.spin.0 + PHASE.0 / 2
            };
            condition.gaps.iter().map(gap).fold(self.spin.0, u64::saturating_add)
        };
        let block = self.conditions.iter().map(each).fold(0, u64::saturating_add);
        Nanos(block.saturating_mul(u64::from(self.repeats)))
    }

    /// Repetitions of all conditions and gaps together.
    pub fn spins(&self) -> usize {
        let gaps: usize = self.conditions.iter().map(|condition| condition.gaps.len()).sum();
        gaps * self.repeats as usize
    }
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], random: &mut Xoshiro256PlusPlus) {
    for last in (1..items.len()).rev() {
        items.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let condition = |name: &str| Condition {
            name: name.to_owned(),
            sleeps: 1,
            gaps: vec![Nanos::from_millis(1), Nanos::from_millis(30), Nanos::from_secs(1)],
            ..Condition::default()
        };
        Plan {
            conditions: vec![condition("a"), condition("b")],
            repeats: 20,
            spin: Nanos::from_millis(200),
            seed: 7,
        }
    }

    #[test]
    fn every_gap_is_repeated_in_an_order_of_its_own() {
        let segments = plan().segments();
        assert_eq!(segments.len(), 40);
        assert_eq!(segments, plan().segments(), "the seed decides");
        let first = |c: usize| segments.iter().filter(move |s| s.condition == c);
        let orders: std::collections::BTreeSet<_> =
            first(0).map(|s| s.spins.iter().map(|spin| spin.0).collect::<Vec<_>>()).collect();
        assert!(orders.len() > 3, "{orders:?}");
        assert!(segments.iter().flat_map(|s| &s.spins).all(|spin| spin.1 < PHASE));
        assert_eq!(plan().spins(), 120);
        let seconds = plan().duration().as_secs_f64();
        // 40 segments: 0.2 s before the first gap; 1.031 s of gaps, and per gap a spin and half a phase.
        assert!((seconds - 40.0 * (0.2 + 1.031 + 3.0 * 0.205)).abs() < 1e-6, "{seconds}");
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(plan().check().is_ok());
        let mut none = plan();
        none.repeats = 0;
        assert!(none.check().is_err());
        let mut long = plan();
        long.conditions[0].gaps.push(Nanos::from_secs(61));
        assert!(long.check().unwrap_err().to_string().contains("found 61000 ms"));
        let mut clamp = plan();
        (clamp.conditions[1].settings.uclamp_min, clamp.conditions[1].settings.uclamp_max) =
            (Some(600), Some(500));
        assert!(clamp.check().is_err());
    }
}
