//! What a hold changes, on the disk before it changes anything.

use crate::machine::{CPU, Machine};
use crate::{ControlError, Plan};
use flyball_host::{Host, HostError, Policy, ProcessIdentity};
use flyball_units::{Mismatch, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// Version of the journal that this crate writes and reads.
const FORMAT: u32 = 1;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Who holds what, since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub format: u32,
    /// The boot that the settings belong to: after the next one they are all fresh.
    pub boot_id: String,
    pub owner: ProcessIdentity,
    #[serde(rename = "created_realtime_ns")]
    pub created: Nanos,
    /// In the order in which they are written; restored from the last to the first.
    pub files: Vec<Entry>,
}

/// A file that a hold writes, or that changes with one that it writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub path: PathBuf,
    /// What to restore; none where the file means nothing with the other old values
    /// (`scaling_setspeed` under another governor than `userspace`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// What the hold writes; none where it only watches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Whether its owner writes it meanwhile, again and again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moves: bool,
}

impl Journal {
    /// A journal of this process with nothing in it.
    pub fn new(host: &dyn Host) -> Result<Journal, HostError> {
        Ok(Journal {
            format: FORMAT,
            boot_id: boot_id(host)?,
            owner: ProcessIdentity::this(host)?,
            created: host.realtime(),
            files: Vec::new(),
        })
    }

    /// Adds what `plan` writes, and what may change with it.
    pub fn add(&mut self, plan: &Plan, machine: &Machine) {
        let known = self.files.iter().enumerate();
        let mut known: HashMap<PathBuf, usize> =
            known.map(|(at, entry)| (entry.path.clone(), at)).collect();
        for step in plan.all().filter(|step| step.is_change()) {
            let new = Some(step.new.clone());
            match known.get(&step.path).and_then(|at| self.files.get_mut(*at)) {
                // The old value is the one from before the first change, whatever came between.
                Some(entry) => entry.new = new,
                None => {
                    known.insert(step.path.clone(), self.files.len());
                    let old = Some(step.old.clone()).filter(|old| !old.is_empty());
                    self.files.push(Entry { path: step.path.clone(), old, new, moves: false });
                }
            }
        }
        let switches = plan.switches.iter().filter(|step| step.is_change());
        let switched: HashSet<PathBuf> = switches.filter_map(|step| parent(&step.path)).collect();
        let touched: HashSet<PathBuf> = known.keys().filter_map(|path| parent(path)).collect();
        for policy in &machine.policies {
            let folder = PathBuf::from(policy.path());
            let boost = switched.iter().any(|it| !is_policy(it)) || switched.contains(&folder);
            let any = boost || touched.contains(&folder);
            let governor = known.contains_key(&folder.join("scaling_governor"));
            for (name, value, concerned) in values(policy) {
                let moves = plan.moving_in(policy.id).contains(&name);
                let concerned = moves
                    || match concerned {
                        Concerned::Governor => governor,
                        Concerned::Boost => boost,
                        Concerned::Any => any,
                    };
                let path = folder.join(name);
                // Without a value, the file may be absent, or could not be read: see `forget`.
                if concerned && !known.contains_key(&path) {
                    known.insert(path.clone(), self.files.len());
                    self.files.push(Entry { path, old: value, new: None, moves });
                }
            }
        }
        // A governor takes its tunables with it, and comes back with its defaults. Last, because
        // they are there again only when it is.
        let is_governor = |path: &PathBuf| path.ends_with("scaling_governor");
        if !plan.tunables.is_empty() || known.keys().any(is_governor) {
            for (path, value) in &machine.tunables {
                if !known.contains_key(path) {
                    let old = Some(value.clone());
                    self.files.push(Entry { path: path.clone(), old, new: None, moves: false });
                }
            }
        }
    }

    /// Drops the files that are not there, once that is sure.
    pub fn forget(&mut self) {
        self.files.retain(|entry| entry.old.is_some() || entry.new.is_some());
    }

    pub fn to_text(&self) -> String {
        // A struct of texts and numbers always serialises.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads it, and trusts it no further than a journal of ours needs.
    pub fn parse(text: &str, path: &Path) -> Result<Journal, ControlError> {
        let fail = |found: String| {
            ControlError::BadInput(Mismatch::value(format!("a journal of a hold, format {FORMAT}"), found).at(path.display().to_string()).hint(format!(
                "Flyball never leaves a torn journal, so another program wrote to it. Audit the \
                 settings, correct them by hand, then: sudo rm {}",
                path.display()
            )))
        };
        let journal: Journal =
            serde_json::from_str(text).map_err(|error| fail(error.to_string()))?;
        if journal.format != FORMAT {
            return Err(fail(format!("format {}", journal.format)));
        }
        if let Some(entry) = journal.files.iter().find(|entry| !is_setting(&entry.path)) {
            return Err(fail(format!("a file that no hold writes: {}", entry.path.display())));
        }
        let values = |entry: &Entry| [entry.old.clone(), entry.new.clone()].into_iter().flatten();
        let odd = journal.files.iter().flat_map(values).find(|value| !is_value(value));
        if let Some(value) = odd {
            return Err(fail(format!("a value that no setting has: {value:?}")));
        }
        Ok(journal)
    }
}

/// The boot of the running kernel.
pub(crate) fn boot_id(host: &dyn Host) -> Result<String, HostError> {
    host.read(Path::new(BOOT_ID)).map(|text| text.trim().to_owned())
}

/// What brings another setting along.
enum Concerned {
    /// A change of the governor.
    Governor,
    /// A change of boost.
    Boost,
    /// Any change in the policy.
    Any,
}

/// The settings of a policy as they were read, in the order in which they can be set.
fn values(policy: &Policy) -> [(&'static str, Option<String>, Concerned); 5] {
    let khz = |khz: Option<flyball_units::KiloHertz>| khz.map(|khz| khz.0.to_string());
    [
        ("boost", policy.boost.map(|on| if on { "1" } else { "0" }.to_owned()), Concerned::Boost),
        ("scaling_max_freq", khz(policy.max_khz), Concerned::Boost),
        ("scaling_min_freq", khz(policy.min_khz), Concerned::Boost),
        ("scaling_setspeed", khz(policy.set_khz), Concerned::Any),
        (
            "energy_performance_preference",
            policy.energy_performance_preference.clone(),
            Concerned::Governor,
        ),
    ]
}

fn parent(path: &Path) -> Option<PathBuf> {
    path.parent().map(Path::to_owned)
}

/// Whether a folder is a policy's; the others hold what is common to all.
fn is_policy(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("policy"))
}

/// The settings of a policy that a hold writes or brings back.
const OF_POLICY: [&str; 6] = [
    "boost",
    "scaling_governor",
    "scaling_max_freq",
    "scaling_min_freq",
    "scaling_setspeed",
    "energy_performance_preference",
];

/// Root restores what a journal says: the settings that a hold writes and nothing else. Every other file
/// below the CPUs (`online`, what a link leads to) is refused, whatever its name.
fn is_setting(path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(CPU) else { return false };
    let parts: Option<Vec<&str>> = below
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let policy = |name: &str| {
        let number = name.strip_prefix("policy").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    // A governor's folder of tunables; of folders that are none there is `stats`.
    let word = |name: &str| {
        name != "stats" && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match parts.as_deref() {
        Some(["cpufreq", "boost"] | ["intel_pstate", "no_turbo"]) => true,
        Some(["cpufreq", of, name]) if policy(of) => OF_POLICY.contains(name),
        Some(["cpufreq", of, governor, tunable]) => policy(of) && word(governor) && word(tunable),
        Some(["cpufreq", governor, tunable]) => word(governor) && word(tunable),
        _ => false,
    }
}

/// A number or a name, as all settings are.
fn is_value(value: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-<> .:,".contains(&byte);
    value.len() <= 256 && value.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(path: &str) -> Journal {
        Journal {
            format: FORMAT,
            boot_id: "b".into(),
            owner: ProcessIdentity { pid: 7, start: 21 },
            created: Nanos(5),
            files: vec![Entry {
                path: path.into(),
                old: Some("1".into()),
                new: None,
                moves: false,
            }],
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let journal = journal("/sys/devices/system/cpu/cpufreq/boost");
        let text = journal.to_text();
        assert_eq!(Journal::parse(&text, Path::new("/j")), Ok(journal));
        for end in 1..text.trim_end().len() {
            let error = Journal::parse(&text[..end], Path::new("/j")).unwrap_err();
            assert!(error.to_string().starts_with("/j: expected a journal"), "{error}");
        }
    }

    #[test]
    fn nothing_but_settings_of_cpus_is_restored() {
        let others = [
            "/etc/shadow",
            "/sys/devices/system/cpu/../../../../etc/shadow",
            "relative",
            "/sys/devices/system/cpu/cpu3/online",
            "/sys/devices/system/cpu/cpu0/subsystem/drivers_autoprobe",
            "/sys/devices/system/cpu/cpufreq/policy0/stats/reset",
            "/sys/devices/system/cpu/cpufreq/policy0/affected_cpus",
            "/sys/devices/system/cpu/cpufreq/policy0/../../online",
            "/sys/devices/system/cpu/cpufreq/policy0/a/b/c",
            "/sys/devices/system/cpu/online",
        ];
        for path in others {
            let error = Journal::parse(&journal(path).to_text(), Path::new("/j")).unwrap_err();
            assert!(error.to_string().contains("a file that no hold writes"), "{error}");
        }
        for path in
            ["boost", "policy12/scaling_governor", "policy0/ondemand/up_threshold", "ondemand/x"]
        {
            let path = format!("/sys/devices/system/cpu/cpufreq/{path}");
            Journal::parse(&journal(&path).to_text(), Path::new("/j")).unwrap();
        }
        let mut odd = journal("/sys/devices/system/cpu/cpufreq/boost");
        odd.files[0].old = Some("1\n2".into());
        assert!(Journal::parse(&odd.to_text(), Path::new("/j")).is_err());
        let later = Journal { format: 2, ..journal("/sys/devices/system/cpu/cpufreq/boost") };
        assert!(Journal::parse(&later.to_text(), Path::new("/j")).is_err());
    }
}
