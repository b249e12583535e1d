//! What programs may ask for themselves at the socket.

use crate::rules::{Class, Treatment, in_range, no_class};
use flyball_governors::ResponseRamp;
use flyball_units::{Mismatch, Nanos};
use serde::Deserialize;

/// Limits of what a user's programs may ask for. Each has a default with which nobody can do others much harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Classes that may be asked for, as far as the other limits let them.
    classes: Vec<Class>,
    /// The highest multiplier, also of what a deadline needs.
    ramp: u32,
    /// Threads of a user that have something at once.
    pub(crate) threads: u32,
    /// Connections of a user.
    pub(crate) programs: u32,
    /// Messages of a user in a second.
    pub(crate) messages: u32,
    /// How long a piece of work may take; then its thread is as if it had ended.
    pub(crate) work: Nanos,
}

/// The `[socket]` of a file of rules.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SocketEntry {
    classes: Option<Vec<String>>,
    ramp: Option<u32>,
    least: Option<u32>,
    threads: Option<u32>,
    programs: Option<u32>,
    messages: Option<u32>,
    work: Option<String>,
}

/// What a frequency is to reach by a deadline: 80 % of the highest one.
const LEVEL: u32 = 820;
/// The kernel's time from a clamp to the frequency (2 to 3 ms, measured on a board).
const DELAY: Nanos = Nanos::from_millis(3);
/// The multiplier of work without a class and a deadline.
const USUAL: u32 = 4;

/// Without a word of the file: the highest multiplier and lower clamp, threads and connections of a user, messages
/// in a second, and the longest work.
const RAMP: u32 = 16;
const LEAST: u32 = 256;
const THREADS: u32 = 64;
const PROGRAMS: u32 = 16;
const MESSAGES: u32 = 2_000;
const WORK: Nanos = Nanos::from_secs(1);

impl Limits {
    /// Where a file says nothing of it; with these classes.
    pub(crate) fn usual(known: &[Class]) -> Limits {
        // What takes CPU time from others has to be named.
        let harmless = |treatment: &Treatment| treatment.nice.is_none_or(|nice| nice >= 0);
        let classes = known.iter().filter(|(_, treatment)| harmless(treatment));
        Limits {
            classes: classes.map(|class| within(class, RAMP, LEAST)).collect(),
            ramp: RAMP,
            threads: THREADS,
            programs: PROGRAMS,
            messages: MESSAGES,
            work: WORK,
        }
    }

    /// Those of a file with these classes.
    ///
    /// # Errors
    /// What is none, with its place.
    pub(crate) fn of(entry: &SocketEntry, known: &[Class]) -> Result<Limits, Mismatch> {
        let number = |key: &str, value: Option<u32>, usual: u32, low: i64, high: i64| {
            let value = i64::from(value.unwrap_or(usual));
            in_range(key, value, low, high).map(|value| value as u32)
        };
        let usual = Limits::usual(known);
        let ramp = number("ramp", entry.ramp, RAMP, 1, i64::from(ResponseRamp::LARGEST))?;
        let least = number("least", entry.least, LEAST, 0, 1024)?;
        let work = entry.work.as_deref().map(str::parse::<Nanos>).transpose();
        let work = work.map_err(|slip| slip.at("work"))?.unwrap_or(WORK);
        if work < Nanos::from_millis(1) || work > Nanos::from_secs(60) {
            let found = entry.work.as_deref().unwrap_or_default();
            return Err(Mismatch::text("1ms to 60s", found).at("work"));
        }
        let names = || known.iter().map(|(known, _)| known.as_str());
        let named = |name: &String| {
            let found = known.iter().find(|(known, _)| known == name).cloned();
            found.ok_or_else(|| no_class(name, names()).at("classes"))
        };
        let classes: Vec<Class> = match &entry.classes {
            None => known.iter().filter(|(name, _)| usual.class(name).is_ok()).cloned().collect(),
            Some(wanted) => wanted.iter().map(named).collect::<Result<_, _>>()?,
        };
        Ok(Limits {
            classes: classes.iter().map(|class| within(class, ramp, least)).collect(),
            ramp,
            threads: number("threads", entry.threads, THREADS, 1, 10_000)?,
            programs: number("programs", entry.programs, PROGRAMS, 1, 1_000)?,
            messages: number("messages", entry.messages, MESSAGES, 1, 100_000)?,
            work,
        })
    }

    /// What a class gives.
    ///
    /// # Errors
    /// It may not be asked for.
    pub(crate) fn class(&self, name: &str) -> Result<Treatment, Mismatch> {
        let found = self.classes.iter().find(|(known, _)| known == name);
        let known = self.classes.iter().map(|(known, _)| known.as_str());
        found.map(|(_, treatment)| *treatment).ok_or_else(|| no_class(name, known))
    }

    /// The slowest ramp that is at 80 % of the whole in time for a frequency `within` this time from the begin of
    /// a piece of work; where there is none, the fastest that is allowed.
    pub(crate) fn deadline(&self, within: Nanos) -> ResponseRamp {
        let found = ResponseRamp::reaching(LEVEL, within.since(DELAY));
        ResponseRamp::new(found.map_or(self.ramp, ResponseRamp::multiplier).min(self.ramp))
    }

    /// The ramp of work without a deadline: that of its thread's class.
    pub(crate) fn plain(&self, treatment: Option<Treatment>) -> ResponseRamp {
        let own = treatment.and_then(|treatment| treatment.ramp);
        own.unwrap_or(ResponseRamp::new(USUAL.min(self.ramp)))
    }
}

/// A class as far as the highest multiplier and lower clamp let it.
fn within((name, treatment): &Class, ramp: u32, least: u32) -> Class {
    let treatment = Treatment {
        ramp: treatment.ramp.map(|it| ResponseRamp::new(it.multiplier().min(ramp))),
        least: treatment.least.map(|it| it.min(least)),
        ..*treatment
    };
    (name.clone(), treatment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rules;

    fn limits(text: &str) -> Result<Limits, String> {
        Rules::read(text).map(|rules| rules.limits).map_err(|slip| slip.to_string())
    }

    #[test]
    fn defaults_let_nobody_take_cpu_time_from_others() {
        let limits =
            limits("[socket]\n[class.fast]\nramp = 40\nleast = 900\n[class.first]\nnice = -1\n");
        let limits = limits.unwrap();
        let fast = limits.class("fast").unwrap();
        assert_eq!((fast.ramp.unwrap().multiplier(), fast.least), (16, Some(256)));
        let error = limits.class("first").unwrap_err().to_string();
        assert_eq!(
            error,
            "expected a class (audio, background, fast, render, ui), found \"first\""
        );
        assert_eq!((limits.threads, limits.programs, limits.messages), (64, 16, 2_000));
    }

    #[test]
    fn a_class_that_is_named_may_be_asked_for() {
        let text = "[socket]\nclasses = [\"first\"]\n[class.first]\nnice = -1\n";
        let limits = limits(text).unwrap();
        assert_eq!(limits.class("first").unwrap().nice, Some(-1));
        assert!(limits.class("ui").is_err());
    }

    #[test]
    fn a_deadline_needs_the_slowest_ramp_that_is_fast_enough() {
        let limits = limits("[socket]\nramp = 30\n").unwrap();
        let multiplier = |ms| limits.deadline(Nanos::from_millis(ms)).multiplier();
        // 1024 (1 - 2^(-m t / 32 ms)) >= 820 at 5, 13 and 30 ms.
        assert_eq!([multiplier(8), multiplier(16), multiplier(33)], [16, 6, 3]);
        assert_eq!([multiplier(0), multiplier(3), multiplier(5)], [30; 3]);
        for (ms, ramp) in [(8, 16), (16, 6), (33, 3)] {
            let at = Nanos::from_millis(ms - 3);
            assert!(ResponseRamp::new(ramp).demand(at) >= LEVEL);
            assert!(ResponseRamp::new(ramp - 1).demand(at) < LEVEL);
        }
    }

    #[test]
    fn what_is_no_limit_is_named_with_its_place() {
        let error = |text: &str| limits(&format!("[socket]\n{text}\n")).unwrap_err();
        assert_eq!(error("ramp = 65"), "socket: ramp: expected 1 to 64, found 65");
        assert!(error("work = \"2min\"").starts_with("socket: work: expected 1ms to 60s"));
        assert!(error("classes = [\"x\"]").starts_with("socket: classes: expected a class (audio"));
        assert!(error("messages = 0").starts_with("socket: messages: expected 1 to"));
        assert!(error("x = 0").contains("unknown field `x`"));
    }
}
