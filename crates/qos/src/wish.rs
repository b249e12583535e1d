//! What is asked for: whose threads, and how fast.

use crate::{QosError, Rules};
use flyball_governors::ResponseRamp;
use flyball_units::{Mismatch, Nanos, Share};

/// Whose threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A program to run, and its arguments.
    Program(Vec<String>),
    /// Processes that run already, by number and by name (the kernel's, of at most 15 bytes).
    Running {
        /// Numbers.
        pids: Vec<u32>,
        /// Names.
        names: Vec<String>,
        /// Single threads, by number.
        threads: Vec<u32>,
    },
    /// Processes that rules name, those that come later, too; until it is asked to end.
    Named,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Whose threads.
    pub target: Target,
    /// What each gets.
    pub rules: Rules,
    /// Whether processes that they start are taken in, too.
    pub children: bool,
}

/// A ramp as people ask for it.
#[derive(Clone, Debug, Default)]
pub struct Ask<'a> {
    /// The series' multiplier.
    pub multiplier: Option<u32>,
    /// A share of the highest frequency, such as `80%`, and the time from the begin of a run until it is
    /// there.
    pub reach: Option<(&'a str, &'a str)>,
    /// A quarter on top.
    pub headroom: bool,
}

/// The multiplier without any wish: advised by the series for what people wait for.
const USUAL: u32 = 4;

/// From the begin of a run to a frequency, beside the ramp: at most one period of the controller (4 ms)
/// and the kernel's own time from a clamp to the frequency (2 to 3 ms, measured on a board).
const DELAY: Nanos = Nanos::from_millis(7);

impl Ask<'_> {
    /// The ramp.
    ///
    /// # Errors
    /// What does not read, or is faster than a controller outside of the kernel can be.
    pub fn ramp(&self) -> Result<ResponseRamp, QosError> {
        let ramp = match self.reach {
            None => ResponseRamp::new(self.multiplier.unwrap_or(USUAL)),
            Some((share, time)) => reaching(share, time)?,
        };
        Ok(ramp.with_headroom(self.headroom))
    }
}

fn reaching(share: &str, time: &str) -> Result<ResponseRamp, Mismatch> {
    let Share(part) = share.parse()?;
    let within: Nanos = time.parse()?;
    let level = (part * 1024.0).ceil() as u32;
    let left = within.since(DELAY);
    ResponseRamp::reaching(level, left).ok_or_else(|| {
        let fastest = (1..1000).map(Nanos::from_millis);
        let fastest = fastest.into_iter().find(|time| {
            ResponseRamp::new(ResponseRamp::LARGEST).demand(time.since(DELAY)) >= level
        });
        let fastest = fastest.unwrap_or(DELAY).0 / 1_000_000;
        Mismatch::text(format!("{fastest}ms or more for {:.0} %", part * 100.0), time).hint(
            "4 ms of it are the controller's period, 3 ms the kernel's way from a clamp to the frequency",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multiplier(share: &str, time: &str) -> Result<u32, String> {
        let ask = Ask { reach: Some((share, time)), ..Ask::default() };
        ask.ramp().map(ResponseRamp::multiplier).map_err(|error| error.to_string())
    }

    #[test]
    fn a_persons_words_become_the_slowest_ramp_that_is_fast_enough() {
        assert_eq!(multiplier("80%", "20ms"), Ok(6));
        assert_eq!(multiplier("80 %", "27ms"), Ok(4));
        assert_eq!(multiplier("50%", "1s"), Ok(1));
        assert_eq!(Ask::default().ramp().unwrap().multiplier(), USUAL);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        let error = multiplier("80%", "7ms").unwrap_err();
        assert_eq!(error, "expected 9ms or more for 80 %, found \"7ms\"");
        for (share, time) in [("0%", "20ms"), ("100%", "1s"), ("80%", "x")] {
            assert!(multiplier(share, time).is_err(), "{share} {time}");
        }
    }
}
