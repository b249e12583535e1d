//! Everything that can be set while something runs: one type, and one table that says how each of
//! them is written, read and told. The keys of experiments, the variants, the flags and the changes
//! that are tried come from it.

use flyball_units::{CpuSet, Frequency, GovernorSpec, Mismatch, Nanos};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The largest utilisation: no upper bound.
const FULL: u32 = 1024;
/// The fastest ramp: its whole is there after 3.6 ms.
const STEEPEST: u32 = 64;

/// What is set; whatever is none stays as it is. The doc comments are those of an experiment's keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Hold /dev/cpu_dma_latency at this many microseconds during the condition. Not held unless
    /// asked: holding it changes the system that is measured.
    #[serde(rename = "idle_latency_us", with = "microseconds")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub idle_latency: Option<Nanos>,
    /// Governor of every clock domain: `performance`, `schedutil`, ..., with tunables where they
    /// differ: `ondemand:up_threshold=60`. On a model any of ours, on a real machine one that its
    /// driver offers; held while the condition is measured, and restored.
    #[serde(deserialize_with = "governor", skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Frequency held on every clock domain: `600MHz`, `1.2GHz`, `min` or `max`, in the place of a
    /// governor. A domain without that operating point takes its next one above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// Lower policy limit of every clock domain.
    #[serde(rename = "min_frequency", skip_serializing_if = "Option::is_none")]
    pub min: Option<Frequency>,
    /// Upper policy limit of every clock domain.
    #[serde(rename = "max_frequency", skip_serializing_if = "Option::is_none")]
    pub max: Option<Frequency>,
    /// Turbo or boost (refused on a model).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boost: Option<bool>,
    /// Energy-performance preference (refused on a model).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epp: Option<String>,
    /// Only the clock domains of these CPUs, such as `"2-3"`, get the settings above; all where
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub domains_of: Option<CpuSet>,
    /// Lower clamp of the measuring thread's utilisation, 0 to 1024 (uclamp).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uclamp_min: Option<u32>,
    /// Upper clamp of the measuring thread's utilisation, 0 to 1024 (uclamp).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uclamp_max: Option<u32>,
    /// The response-time series' ramp, by its multiplier, 1 to 64: the lower clamp of the measuring thread, and of
    /// the programs that it starts, follows it while they run; on a model whose kernel has the series, load
    /// tracking itself does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_ramp: Option<u32>,
    /// The governor's tunables by their upstream names: `{ rate_limit_us = 2000 }`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tunables: BTreeMap<String, i64>,
    /// What the owner of the hold will write again and again while it lasts: it is restored at the
    /// end like the rest. It stands in no file.
    #[serde(skip)]
    pub moving: Option<Moving>,
}

/// What moves during a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Moving {
    /// `scaling_setspeed`, under the governor `userspace`.
    Speed,
    /// `scaling_min_freq` and `scaling_max_freq`, under whatever governor.
    Limits,
    /// `scaling_min_freq` alone.
    LowerLimits,
}

impl Moving {
    /// The files of a policy that move.
    pub(crate) fn files(self) -> &'static [&'static str] {
        match self {
            Moving::Speed => &["scaling_setspeed"],
            Moving::Limits => &["scaling_max_freq", "scaling_min_freq"],
            Moving::LowerLimits => &["scaling_min_freq"],
        }
    }
}

/// What a setting acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Clock domains, on a machine and on a model.
    Domains,
    /// Clock domains of real machines: no model has it.
    Hardware,
    /// All CPUs, as long as the one who asks for it runs.
    Idle,
    /// The thread that is measured.
    Thread,
}

/// How one of the settings is written and told.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its word, of a flag; of a variant with underscores.
    pub name: &'static str,
    /// Its key in files.
    pub key: &'static str,
    /// What stands for its value in a help text; words with `|` between them are all that it takes.
    pub value: &'static str,
    /// One line for a help text.
    pub about: &'static str,
    /// What it acts on.
    pub scope: Scope,
    read: fn(&mut Settings, &str) -> Result<(), Mismatch>,
    told: fn(&Settings) -> Option<String>,
}

/// All of them, in the order in which they are told. Tunables are written beside their governor, or
/// by their upstream names.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "governor",
        key: "governor",
        value: "GOVERNOR",
        about: "Governor of every clock domain, with tunables by their upstream names: \
                NAME[:TUNABLE=VALUE,...]; :TUNABLE=VALUE for the governor that is set",
        scope: Scope::Domains,
        read: |settings, text| {
            let (name, tunables) = GovernorSpec::name_and_tunables(text)?;
            settings.governor = name.or(settings.governor.take());
            settings.tunables.extend(tunables);
            Ok(())
        },
        told: |settings| {
            let tunables = settings.tunables.iter().map(|(name, value)| format!("{name}={value}"));
            let words: Vec<String> = settings.governor.iter().cloned().chain(tunables).collect();
            (!words.is_empty()).then(|| words.join(" "))
        },
    },
    Setting {
        name: "frequency",
        key: "frequency",
        value: "FREQUENCY",
        about: "One frequency, such as 2.4GHz, or min or max of the hardware",
        scope: Scope::Domains,
        read: |settings, text| put(&mut settings.frequency, text),
        told: |settings| settings.frequency.map(|frequency| frequency.to_string()),
    },
    Setting {
        name: "min",
        key: "min_frequency",
        value: "FREQUENCY",
        about: "Lower limit, as a frequency",
        scope: Scope::Domains,
        read: |settings, text| put(&mut settings.min, text),
        told: |settings| settings.min.map(|min| format!("min={min}")),
    },
    Setting {
        name: "max",
        key: "max_frequency",
        value: "FREQUENCY",
        about: "Upper limit, as a frequency",
        scope: Scope::Domains,
        read: |settings, text| put(&mut settings.max, text),
        told: |settings| settings.max.map(|max| format!("max={max}")),
    },
    Setting {
        name: "boost",
        key: "boost",
        value: "on|off",
        about: "Frequencies above the nominal one (boost, turbo)",
        scope: Scope::Hardware,
        read: |settings, text| {
            settings.boost = Some(match text {
                "on" => true,
                "off" => false,
                _ => return Err(Mismatch::text("on or off", text)),
            });
            Ok(())
        },
        told: |settings| {
            settings.boost.map(|on| format!("boost={}", if on { "on" } else { "off" }))
        },
    },
    Setting {
        name: "epp",
        key: "epp",
        value: "PREFERENCE",
        about: "Energy performance preference, where the hardware chooses the frequency",
        scope: Scope::Hardware,
        read: |settings, text| {
            settings.epp = Some(text.to_owned());
            Ok(())
        },
        told: |settings| settings.epp.as_ref().map(|epp| format!("epp={epp}")),
    },
    Setting {
        name: "idle-latency",
        key: "idle_latency_us",
        value: "US",
        about: "Only idle states that wake within this many microseconds; 0 allows none",
        scope: Scope::Idle,
        read: |settings, text| match text.parse::<u32>() {
            Ok(us) => {
                settings.idle_latency = Some(Nanos::from_micros(us.into()));
                Ok(())
            }
            Err(_) => put(&mut settings.idle_latency, text),
        },
        told: |settings| settings.idle_latency.map(|limit| format!("idle<={}us", limit.0 / 1_000)),
    },
    Setting {
        name: "cpus",
        key: "domains_of",
        value: "LIST",
        about: "Only the clock domains of these CPUs, such as 0-3,8",
        scope: Scope::Domains,
        read: |settings, text| put(&mut settings.domains_of, text),
        told: |settings| settings.domains_of.as_ref().map(|cpus| format!("on cpus={cpus}")),
    },
    Setting {
        name: "uclamp-min",
        key: "uclamp_min",
        value: "N",
        about: "Lower clamp of the thread's utilisation, 0 to 1024",
        scope: Scope::Thread,
        read: |settings, text| whole(text).map(|least| settings.uclamp_min = Some(least)),
        told: |settings| settings.uclamp_min.map(|least| format!("uclamp>={least}")),
    },
    Setting {
        name: "uclamp-max",
        key: "uclamp_max",
        value: "N",
        about: "Upper clamp of the thread's utilisation, 0 to 1024",
        scope: Scope::Thread,
        read: |settings, text| whole(text).map(|most| settings.uclamp_max = Some(most)),
        told: |settings| settings.uclamp_max.map(|most| format!("uclamp<={most}")),
    },
    Setting {
        name: "ramp",
        key: "response_ramp",
        value: "M",
        about: "The thread's demand grows this many times as fast as load tracking, 1 to 64",
        scope: Scope::Thread,
        read: |settings, text| whole(text).map(|ramp| settings.response_ramp = Some(ramp)),
        told: |settings| settings.response_ramp.map(|ramp| format!("ramp={ramp}")),
    },
];

fn put<T: FromStr<Err = Mismatch>>(slot: &mut Option<T>, text: &str) -> Result<(), Mismatch> {
    *slot = Some(text.parse()?);
    Ok(())
}

fn whole<T: FromStr>(text: &str) -> Result<T, Mismatch> {
    text.parse().map_err(|_| Mismatch::text("a whole number", text))
}

impl Setting {
    /// What `settings` have of it, in a word or two; none where they leave it.
    pub fn told(&self, settings: &Settings) -> Option<String> {
        (self.told)(settings)
    }

    /// Sets it in `settings`.
    ///
    /// # Errors
    /// A value that does not read; its place is left to the caller.
    pub fn read(&self, settings: &mut Settings, text: &str) -> Result<(), Mismatch> {
        (self.read)(settings, text)
    }
}

impl Settings {
    /// Sets one of them, as `key=value` says it; a key that is none of them is a tunable of the
    /// governor, and the machine refuses one that its governor does not have.
    ///
    /// # Errors
    /// A value that does not read.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Mismatch> {
        let name = key.replace('_', "-");
        match SETTINGS.iter().find(|setting| setting.name == name || setting.key == key) {
            Some(setting) => setting.read(self, value),
            None => whole(value).map(|value| {
                self.tunables.insert(key.to_owned(), value);
            }),
        }
        .map_err(|slip| slip.at(key))
    }

    /// Those of `scopes`, each in a word or two.
    pub fn told<'a>(&'a self, scopes: &'a [Scope]) -> impl Iterator<Item = String> + 'a {
        let those = SETTINGS.iter().filter(|setting| scopes.contains(&setting.scope));
        those.filter_map(|setting| setting.told(self))
    }

    /// Bounds of the measuring thread's utilisation; none where nothing is asked of it.
    pub fn clamp(&self) -> Option<(u32, u32)> {
        let asked = self.uclamp_min.is_some() || self.uclamp_max.is_some();
        asked.then(|| (self.uclamp_min.unwrap_or(0), self.uclamp_max.unwrap_or(FULL)))
    }

    /// Refuses clamps that no kernel takes, and an empty list of CPUs.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn check(&self) -> Result<(), Mismatch> {
        if let Some((least, most)) =
            self.clamp().filter(|(least, most)| least > most || *most > FULL)
        {
            let expected = format!("uclamp_min up to uclamp_max up to {FULL}");
            return Err(Mismatch::value(expected, format_args!("{least} and {most}")));
        }
        if let Some(ramp) = self.response_ramp.filter(|ramp| !(1..=STEEPEST).contains(ramp)) {
            return Err(Mismatch::value(format!("1 to {STEEPEST}"), ramp).at("response_ramp"));
        }
        if self.domains_of.as_ref().is_some_and(CpuSet::is_empty) {
            return Err(Mismatch::value("at least one CPU", "none").at("domains_of"));
        }
        Ok(())
    }

    /// What of it is the machine's, and is held; the rest is the measuring thread's.
    #[must_use]
    pub fn held(&self) -> Settings {
        Settings { uclamp_min: None, uclamp_max: None, response_ramp: None, ..self.clone() }
    }

    /// The same without a bound on idle states, for one who holds that in another way.
    #[must_use]
    pub fn without_idle(&self) -> Settings {
        Settings { idle_latency: None, ..self.clone() }
    }

    /// Whether nothing is asked of the machine.
    pub fn is_empty(&self) -> bool {
        Settings { domains_of: None, ..self.held() } == Settings::default()
    }

    /// Whether a file of cpufreq has to change, and not idle states alone.
    pub(crate) fn needs_cpufreq(&self) -> bool {
        !self.without_idle().is_empty()
    }

    /// Whether a governor may come or go, or its tunables change.
    pub(crate) fn touches_governor(&self) -> bool {
        self.governor.is_some() || self.frequency.is_some() || !self.tunables.is_empty()
    }

    /// Whether frequencies are asked for.
    pub(crate) fn needs_limits(&self) -> bool {
        self.frequency.is_some() || self.min.is_some() || self.max.is_some()
    }

    /// The same without the switches that come first.
    pub(crate) fn without_boost(&self) -> Settings {
        Settings { boost: None, ..self.clone() }
    }

    /// Moves the tunables that stand beside the governor's name to the others, which win.
    pub fn split_governor(&mut self) {
        let Some(text) = self.governor.take_if(|name| name.contains(':')) else { return };
        // What is none was refused when it was read.
        if let Ok(spec) = text.parse::<GovernorSpec>() {
            self.governor = Some(spec.name);
            for (name, value) in spec.tunables {
                self.tunables.entry(name).or_insert(value);
            }
        }
    }
}

/// A governor with or without tunables, checked where it stands.
fn governor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let spec: GovernorSpec = flyball_units::text::deserialize(deserializer)?;
    Ok(Some(spec.to_string()))
}

/// A time as a whole number of microseconds.
mod microseconds {
    use flyball_units::Nanos;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(time: &Option<Nanos>, to: S) -> Result<S::Ok, S::Error> {
        time.map(|time| time.0 / 1_000).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Nanos>, D::Error> {
        Ok(Some(Nanos::from_micros(u32::deserialize(from)?.into())))
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
            ("idle_latency", "20us"),
            ("uclamp_min", "512"),
            ("domains_of", "0-1"),
            ("ramp", "4"),
        ] {
            settings.set(key, value).unwrap();
        }
        assert_eq!(settings.epp.as_deref(), Some("power"));
        assert_eq!(settings.clamp(), Some((512, FULL)));
        assert_eq!((settings.boost, settings.idle_latency), (Some(false), Some(Nanos(20_000))));
        assert_eq!(settings.tunables["rate_limit_us"], 500);
        let scopes = [Scope::Domains, Scope::Hardware, Scope::Thread];
        assert_eq!(
            settings.told(&scopes).collect::<Vec<_>>().join(" "),
            "schedutil rate_limit_us=500 max=1200MHz boost=off epp=power on cpus=0-1 uclamp>=512 ramp=4"
        );
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
        let bare = Settings { uclamp_min: Some(1), domains_of: None, ..Settings::default() };
        assert!(bare.is_empty() && !settings.is_empty(), "a clamp is the thread's");
    }

    #[test]
    fn the_table_has_every_key_of_the_type() {
        let schema = serde_json::to_value(schemars::schema_for!(Settings)).unwrap();
        let keys = schema["properties"].as_object().unwrap().keys();
        let known = |key: &&String| SETTINGS.iter().any(|setting| setting.key == **key);
        assert_eq!(keys.filter(|key| !known(key)).collect::<Vec<_>>(), ["tunables"]);
    }

    #[test]
    fn a_value_that_does_not_read_names_its_key() {
        let mut settings = Settings::default();
        for (key, value) in
            [("boost", "maybe"), ("frequency", "fast"), ("uclamp_min", "-1"), ("ramp", "x")]
        {
            assert_eq!(settings.set(key, value).unwrap_err().place, key);
        }
        let steep = Settings { response_ramp: Some(65), ..Settings::default() };
        assert!(steep.check().is_err() && steep.is_empty(), "a ramp is the thread's");
        assert!(settings.set("governor", ":up_threshold=60").is_ok());
        assert_eq!((settings.governor, settings.tunables["up_threshold"]), (None, 60));
    }
}
