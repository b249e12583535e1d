//! Which governor, with which tunables: `schedutil:rate_limit_us=500,response_time_ms=30`.

use std::fmt;
use std::str::FromStr;

use flyball_governors::{Governor, Needs, create};
use serde::Serialize;

use super::ShadowError;

/// A governor of the catalogue with tunables, checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// Tunables that differ from the defaults.
    pub tunables: Vec<(String, i64)>,
}

impl Choice {
    /// One of it, not started.
    ///
    /// # Errors
    /// No such governor, no such tunable, or a value outside its range.
    pub fn create(&self) -> Result<Box<dyn Governor>, ShadowError> {
        let mut governor = create(&self.name).map_err(ShadowError::Governor)?;
        for (name, value) in &self.tunables {
            governor.set(name, *value).map_err(ShadowError::Tunable)?;
        }
        Ok(governor)
    }

    /// Refuses a governor that a recording cannot feed, and names what it lacks.
    pub(super) fn check(&self, governor: &dyn Governor, updates: u64) -> Result<(), ShadowError> {
        let Needs { poll, tick_hz, idle, utilization, temperature, .. } = governor.needs();
        let lacks = if poll {
            "busy and idle times at the moments of its own polls: a recording does not tell when the kernel would have polled".to_owned()
        } else if let Some(hz) = tick_hz {
            format!("a sample at each of {hz} statistics ticks per second: no event shows them")
        } else if temperature {
            "the package's temperature: no event shows it".to_owned()
        } else if idle {
            "entries to and exits from idle alone: nothing to set beside the kernel's".to_owned()
        } else if !utilization {
            "nothing from the scheduler: it asks for frequencies by itself, so there is nothing to predict".to_owned()
        } else if updates == 0 {
            "the scheduler's utilisation per CPU: the recording has none".to_owned()
        } else {
            return Ok(());
        };
        let hint = match utilization && updates == 0 {
            true => "record a probe on pelt_cfs_tp as well: docs/traces.md",
            false => "a governor that follows utilisation can be shadowed: schedutil, threshold",
        };
        Err(ShadowError::Need { governor: self.name.clone(), lacks, hint })
    }

    /// Whether it sets this tunable.
    pub(super) fn sets(&self, tunable: &str) -> bool {
        self.tunables.iter().any(|(name, _)| name == tunable)
    }
}

impl FromStr for Choice {
    type Err = ShadowError;

    fn from_str(text: &str) -> Result<Choice, ShadowError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut choice = Choice { name: name.trim().to_owned(), tunables: Vec::new() };
        for part in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let wrong = || ShadowError::Spelling { text: text.to_owned(), part: part.to_owned() };
            let (tunable, value) = part.split_once('=').ok_or_else(wrong)?;
            let value = value.trim().parse().map_err(|_| wrong())?;
            choice.tunables.push((tunable.trim().to_owned(), value));
        }
        choice.create().map(|_| choice)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, (name, value)) in self.tunables.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_governor_with_its_tunables() {
        let choice: Choice = "schedutil:rate_limit_us=500".parse().unwrap();
        assert_eq!(choice.to_string(), "schedutil:rate_limit_us=500");
        let wrong = |text: &str| text.parse::<Choice>().unwrap_err().to_string();
        assert!(wrong("schedutil:rate_limit_us").contains("rate_limit_us"));
        assert!(wrong("schedutil:x=1").contains("no tunable `x`"));
        assert!(wrong("shedutil").contains("shedutil"));
    }

    #[test]
    fn what_a_recording_lacks_is_named() {
        let refuse = |name: &str, updates| {
            let choice: Choice = name.parse().unwrap();
            choice.check(choice.create().unwrap().as_ref(), updates).unwrap_err().to_string()
        };
        assert!(refuse("ondemand", 9).contains("polls"));
        assert!(refuse("tick", 9).contains("statistics ticks"));
        assert!(refuse("performance", 9).contains("nothing to predict"));
        assert!(refuse("schedutil", 0).contains("utilisation"));
        let choice: Choice = "threshold".parse().unwrap();
        assert!(choice.check(choice.create().unwrap().as_ref(), 1).is_ok());
    }
}
