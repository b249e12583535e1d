//! Every governor by name; each has its file beside this one.

mod conservative;
mod ondemand;
mod policy_limit;
mod powerd;
mod powerd_paper;
mod powerdxx;
pub mod schedutil;
mod threshold;
mod tick;
mod userspace;
mod windowed;

pub use conservative::Conservative;
pub use ondemand::Ondemand;
pub use policy_limit::PolicyLimit;
pub use powerd::Powerd;
pub use powerd_paper::PowerdPaper;
pub use powerdxx::Powerdxx;
pub use schedutil::Schedutil;
pub use threshold::Threshold;
pub use tick::Tick;
pub use userspace::Userspace;
pub use windowed::Windowed;

use crate::{Governor, Needs};
use flyball_units::nearest;
use std::fmt;

/// A governor of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct GovernorInfo {
    /// Upstream name; [`create`] takes it.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    create: fn() -> Box<dyn Governor>,
}

impl GovernorInfo {
    /// A governor that has not been started, with its defaults.
    pub fn create(&self) -> Box<dyn Governor> {
        (self.create)()
    }

    /// What it needs with its defaults; tunables may add to that.
    pub fn needs(&self) -> Needs {
        self.create().needs()
    }
}

/// What it does, where that comes from, what it needs, and its tunables: for a reader.
impl fmt::Display for GovernorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nSource: {}\nNeeds: {}\n", self.summary, self.source, self.needs())?;
        let tunables = self.create().tunables();
        f.write_str(match tunables.is_empty() {
            true => "It has no tunables.\n",
            false => "\nTunables (default, range)\n",
        })?;
        for tunable in tunables {
            let range = format!("{} ({} to {})", tunable.default, tunable.min, tunable.max);
            writeln!(f, "  {:<28}{range}\n      {}", tunable.name, tunable.doc)?;
        }
        Ok(())
    }
}

/// No governor has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("no governor `{name}`; there are {}", names())]
pub struct UnknownGovernor {
    /// What was asked for.
    pub name: String,
    /// The nearest name, where one is near.
    pub nearest: Option<&'static str>,
}

impl UnknownGovernor {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        self.nearest.map(|nearest| format!("did you mean `{nearest}`?"))
    }
}

fn names() -> String {
    catalogue().iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// All governors, the simple ones first.
pub fn catalogue() -> &'static [GovernorInfo] {
    &CATALOGUE
}

/// A governor by its name, not yet started.
///
/// # Errors
/// No governor has this name; the nearest one is suggested.
pub fn create(name: &str) -> Result<Box<dyn Governor>, UnknownGovernor> {
    match CATALOGUE.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok(entry.create()),
        None => {
            let nearest = nearest(name, CATALOGUE.iter().map(|entry| entry.name));
            Err(UnknownGovernor { name: name.to_owned(), nearest })
        }
    }
}

fn boxed<G: Governor + Default + 'static>() -> Box<dyn Governor> {
    Box::new(G::default())
}

const LINUX: &str = "Linux, Documentation/admin-guide/pm/cpufreq.rst";
const PAPER: &str = "B. J. Thomson, Improved Power Management for FreeBSD, 2010";

static CATALOGUE: [GovernorInfo; 12] = [
    GovernorInfo {
        name: PolicyLimit::PERFORMANCE,
        summary: "always the highest frequency that the policy allows",
        source: LINUX,
        create: || Box::new(PolicyLimit::performance()),
    },
    GovernorInfo {
        name: PolicyLimit::POWERSAVE,
        summary: "always the lowest frequency that the policy allows",
        source: LINUX,
        create: || Box::new(PolicyLimit::powersave()),
    },
    GovernorInfo {
        name: Userspace::NAME,
        summary: "the frequency that somebody sets",
        source: LINUX,
        create: boxed::<Userspace>,
    },
    GovernorInfo {
        name: Ondemand::NAME,
        summary: "polls: the maximum above a threshold, in proportion to the load below",
        source: LINUX,
        create: boxed::<Ondemand>,
    },
    GovernorInfo {
        name: Conservative::NAME,
        summary: "polls: small steps up and down",
        source: LINUX,
        create: boxed::<Conservative>,
    },
    GovernorInfo {
        name: Schedutil::NAME,
        summary: "the scheduler's utilisation with headroom; with the response-time series where \
                  the kernel has it",
        source: "Linux 6.12, Documentation/scheduler/schedutil.rst; \"sched/fair/schedutil: Better \
                 manage system response time\", 16 patches, August 2024",
        create: boxed::<Schedutil>,
    },
    GovernorInfo {
        name: PowerdPaper::NAME,
        summary: "polls: FreeBSD's powerd as the 2010 paper simplifies it",
        source: PAPER,
        create: boxed::<PowerdPaper>,
    },
    GovernorInfo {
        name: Powerd::NAME,
        summary: "polls: FreeBSD's powerd as it is, modes hadp and adp",
        source: "FreeBSD, powerd(8) and usr.sbin/powerd",
        create: boxed::<Powerd>,
    },
    GovernorInfo {
        name: Tick::NAME,
        summary: "counts busy and idle ticks: the paper's improved rule and its future work",
        source: PAPER,
        create: boxed::<Tick>,
    },
    GovernorInfo {
        name: Powerdxx::NAME,
        summary: "polls: mean demand over a target load, with a thermal bound",
        source: "powerd++(8), https://github.com/lonkamikaze/powerdxx",
        create: boxed::<Powerdxx>,
    },
    GovernorInfo {
        name: Windowed::NAME,
        summary: "two frequencies in turn, to measure what a switch costs",
        source: "CPUFreq frequency switching latency for the NXP i.MX8QM board",
        create: boxed::<Windowed>,
    },
    GovernorInfo {
        name: Threshold::NAME,
        summary: "performance levels by two thresholds, as sched_ext schedulers set them",
        source: "sched_ext, https://github.com/sched-ext/scx (scx_bpfland)",
        create: boxed::<Threshold>,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_creates_the_governor_it_names() {
        for entry in catalogue() {
            let governor = create(entry.name).unwrap();
            assert_eq!(governor.name(), entry.name);
            assert_eq!(governor.needs(), entry.needs());
        }
    }

    #[test]
    fn a_near_name_is_suggested() {
        let nearest = |name| create(name).err().unwrap().nearest;
        assert_eq!(nearest("shedutil"), Some("schedutil"));
        assert_eq!(nearest("Ondemand"), Some("ondemand"));
        assert_eq!(nearest("powerd+"), Some("powerd"));
        assert_eq!(nearest("xyz"), None);
        let error = create("tik").err().unwrap();
        assert_eq!(error.hint().as_deref(), Some("did you mean `tick`?"));
        assert!(error.to_string().starts_with("no governor `tik`; there are performance, "));
    }
}
