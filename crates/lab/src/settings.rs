//! Everything that can be set while something is measured: of the machine, and of the measuring
//! thread. One type and one reader, for conditions, variants and jobs.

use flyball_control::Request;
use flyball_units::{CpuSet, Frequency, Mismatch, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

/// What is set; whatever is none stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A governor, by the name that the driver offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// One frequency, held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// The lower limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Frequency>,
    /// The upper limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Frequency>,
    /// Whether frequencies above the nominal one may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boost: Option<bool>,
    /// Energy performance preference, where the hardware chooses the frequency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epp: Option<String>,
    /// Only idle states that wake within this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_latency: Option<Nanos>,
    /// Lower clamp of the measuring thread's utilisation, 0 to 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uclamp_min: Option<u32>,
    /// Upper clamp of the measuring thread's utilisation, 0 to 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uclamp_max: Option<u32>,
    /// The CPUs that the measuring thread may use; all that the program may where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<CpuSet>,
    /// Tunables of the governor that is then in force, by their upstream names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tunables: BTreeMap<String, i64>,
}

/// The largest utilisation: no upper bound.
const FULL: u32 = 1024;

impl Settings {
    /// Sets one of them, as `key=value` says it; a key that is none of them is a tunable of the
    /// governor, and the machine refuses one that its governor does not have.
    ///
    /// # Errors
    /// A value that does not read.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Mismatch> {
        fn read<T: FromStr<Err = Mismatch>>(key: &str, value: &str) -> Result<Option<T>, Mismatch> {
            value.parse().map(Some).map_err(|slip: Mismatch| slip.at(key))
        }
        fn number<T: FromStr>(key: &str, value: &str) -> Result<T, Mismatch> {
            value.parse().map_err(|_| Mismatch::text("a whole number", value).at(key))
        }
        match key {
            "governor" => self.governor = Some(value.to_owned()),
            "frequency" => self.frequency = read(key, value)?,
            "min" => self.min = read(key, value)?,
            "max" => self.max = read(key, value)?,
            "boost" => {
                self.boost = Some(match value {
                    "on" => true,
                    "off" => false,
                    _ => return Err(Mismatch::text("on or off", value).at(key)),
                });
            }
            "epp" => self.epp = Some(value.to_owned()),
            "idle_latency" => self.idle_latency = read(key, value)?,
            "uclamp_min" => self.uclamp_min = Some(number(key, value)?),
            "uclamp_max" => self.uclamp_max = Some(number(key, value)?),
            "cpus" => self.cpus = read(key, value)?,
            tunable => {
                self.tunables.insert(tunable.to_owned(), number(tunable, value)?);
            }
        }
        Ok(())
    }

    /// Bounds of the measuring thread's utilisation; none where nothing is asked of it.
    pub fn clamp(&self) -> Option<(u32, u32)> {
        let asked = self.uclamp_min.is_some() || self.uclamp_max.is_some();
        asked.then(|| (self.uclamp_min.unwrap_or(0), self.uclamp_max.unwrap_or(FULL)))
    }

    /// What of it the machine is to hold.
    pub fn request(&self) -> Request {
        Request {
            governor: self.governor.clone(),
            tunables: self.tunables.clone(),
            frequency: self.frequency,
            min: self.min,
            max: self.max,
            boost: self.boost,
            epp: self.epp.clone(),
            idle_latency: self.idle_latency,
            ..Request::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_goes_to_its_place() {
        let mut settings = Settings::default();
        for (key, value) in [
            ("governor", "schedutil"),
            ("rate_limit_us", "500"),
            ("epp", "power"),
            ("boost", "off"),
            ("max", "1.2GHz"),
            ("uclamp_min", "512"),
            ("cpus", "0-1"),
        ] {
            settings.set(key, value).unwrap();
        }
        assert_eq!(settings.epp.as_deref(), Some("power"));
        assert_eq!(settings.clamp(), Some((512, 1024)));
        let request = settings.request();
        assert_eq!((request.boost, request.cpus), (Some(false), None));
        assert_eq!(request.tunables["rate_limit_us"], 500);
        let text = toml::to_string(&settings).unwrap();
        assert_eq!(toml::from_str::<Settings>(&text).unwrap(), settings);
    }

    #[test]
    fn a_value_that_does_not_read_names_its_key() {
        let mut settings = Settings::default();
        for (key, value) in [("boost", "maybe"), ("frequency", "fast"), ("uclamp_min", "-1")] {
            assert_eq!(settings.set(key, value).unwrap_err().place, key);
        }
    }
}
