//! What cpufreq makes of what is written to a recorded machine: what it refuses, what it rounds, and
//! which other files change with it. After the kernel's documentation (admin-guide/pm: cpufreq,
//! intel_pstate, amd-pstate) and what kernels were seen to do; at once, where a kernel takes a moment.

use super::{Entry, Tree};
use crate::Errno;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
/// What `scaling_setspeed` says without the governor `userspace`.
const UNSUPPORTED: &str = "<unsupported>";
const EPP: &str = "energy_performance_preference";

/// What was asked for, as far as the files show something else: the limits before they were clamped,
/// the preference before the governor `performance` forced another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Requests {
    limits: BTreeMap<PathBuf, u64>,
    preferences: BTreeMap<PathBuf, String>,
    /// Once that was seen.
    tunables_in: Option<Tunables>,
}

/// Where a driver has the tunables of its governors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tunables {
    /// In each policy's folder.
    OfEach,
    /// One set for all policies.
    OfAll,
}

impl Tree {
    /// Writes `text` to `path`; none where that is no file of cpufreq with rules of its own.
    pub(super) fn write_cpufreq(&mut self, path: &Path, text: &str) -> Option<Result<(), Errno>> {
        let name = path.file_name()?.to_str()?;
        let folder = path.parent()?.to_owned();
        if path == Path::new("/sys/devices/system/cpu/intel_pstate/no_turbo") {
            return Some(self.switch(path, text));
        }
        if folder == Path::new(CPUFREQ) && name == "boost" {
            return Some(self.switch(path, text).map(|()| self.boost_changed()));
        }
        if !(folder.parent() == Some(Path::new(CPUFREQ)) && folder.is_dir_of_policy()) {
            return None;
        }
        Some(match name {
            "scaling_governor" => self.governor(&folder, text),
            "scaling_min_freq" | "scaling_max_freq" => self.limit(&folder, path, text),
            "scaling_setspeed" => self.set_speed(&folder, text),
            EPP => self.preference(&folder, text),
            "boost" => self.switch(path, text),
            _ => return None,
        })
    }

    fn switch(&mut self, path: &Path, text: &str) -> Result<(), Errno> {
        if !matches!(text, "0" | "1") {
            return Err(Errno::EINVAL);
        }
        self.put(path.to_owned(), text);
        Ok(())
    }

    /// The global switch moves the highest frequency, and the limit with it: what the user had asked
    /// for is forgotten.
    fn boost_changed(&mut self) {
        let on = self.word(&Path::new(CPUFREQ).join("boost")).as_deref() == Some("1");
        for name in self.list(Path::new(CPUFREQ)).unwrap_or_default() {
            let folder = Path::new(CPUFREQ).join(name);
            let highest = |name: &str| self.numbers(&folder.join(name)).into_iter().max();
            let plain = highest("scaling_available_frequencies");
            let Some(boosted) = highest("scaling_boost_frequencies") else { continue };
            let Some(max) = plain.map(|plain| if on { boosted.max(plain) } else { plain }) else {
                continue;
            };
            self.put(folder.join("cpuinfo_max_freq"), &max.to_string());
            self.cpufreq.limits.insert(folder.join("scaling_max_freq"), max);
            self.show_limits(&folder);
        }
    }

    fn governor(&mut self, folder: &Path, text: &str) -> Result<(), Errno> {
        let known = self.word(&folder.join("scaling_available_governors")).unwrap_or_default();
        if !known.is_empty() && !known.split_whitespace().any(|governor| governor == text) {
            return Err(Errno::EINVAL);
        }
        let old = self.word(&folder.join("scaling_governor")).unwrap_or_default();
        if old == text {
            return Ok(());
        }
        self.put(folder.join("scaling_governor"), text);
        self.tunables(folder, &old, text);
        if self.word(&folder.join("scaling_setspeed")).is_some() {
            let speed = match text {
                "userspace" => self.word(&folder.join("scaling_cur_freq")),
                _ => None,
            };
            self.put(folder.join("scaling_setspeed"), speed.as_deref().unwrap_or(UNSUPPORTED));
        }
        let file = folder.join(EPP);
        if let Some(preference) = self.word(&file) {
            if text == "performance" {
                self.cpufreq.preferences.insert(file.clone(), preference);
                self.put(file, "performance");
            } else if old == "performance" {
                let saved = self.cpufreq.preferences.remove(&file);
                self.put(file, saved.as_deref().unwrap_or("balance_performance"));
            }
        }
        Ok(())
    }

    /// A governor takes its tunables with it, and comes with its defaults.
    fn tunables(&mut self, folder: &Path, old: &str, new: &str) {
        let common = Path::new(CPUFREQ);
        if self.list(&folder.join(old)).is_ok() {
            self.cpufreq.tunables_in = Some(Tunables::OfEach);
        } else if self.list(&common.join(old)).is_ok() {
            self.cpufreq.tunables_in = Some(Tunables::OfAll);
        }
        let base = match self.cpufreq.tunables_in {
            None => return,
            Some(Tunables::OfEach) => folder,
            Some(Tunables::OfAll) => common,
        };
        let names = self.list(common).unwrap_or_default();
        let mut policies = names.iter().map(|name| common.join(name));
        let is_used = base == common
            && policies.any(|it| self.word(&it.join("scaling_governor")).as_deref() == Some(old));
        if !is_used {
            for name in self.list(&base.join(old)).unwrap_or_default() {
                // What has been listed is there.
                let _ = self.remove_file(&base.join(old).join(name));
            }
        }
        if self.list(&base.join(new)).unwrap_or_default().is_empty() {
            for (name, value) in defaults(new) {
                self.put(base.join(new).join(name), value);
            }
        }
    }

    fn limit(&mut self, folder: &Path, path: &Path, text: &str) -> Result<(), Errno> {
        let khz = text.parse().map_err(|_| Errno::EINVAL)?;
        self.cpufreq.limits.insert(path.to_owned(), khz);
        self.show_limits(folder);
        Ok(())
    }

    /// Shows the limits as they act: inside the hardware's, and the lower one never above the upper.
    fn show_limits(&mut self, folder: &Path) {
        let number = |tree: &Tree, name: &str| tree.numbers(&folder.join(name)).first().copied();
        let low = number(self, "cpuinfo_min_freq").unwrap_or(0);
        let high = number(self, "cpuinfo_max_freq").unwrap_or(u64::MAX).max(low);
        let asked = |tree: &Tree, name: &str| {
            let request = tree.cpufreq.limits.get(&folder.join(name)).copied();
            request.or_else(|| number(tree, name)).map(|khz| khz.clamp(low, high))
        };
        let max = asked(self, "scaling_max_freq").unwrap_or(high);
        let min = asked(self, "scaling_min_freq").unwrap_or(low).min(max);
        self.put(folder.join("scaling_max_freq"), &max.to_string());
        self.put(folder.join("scaling_min_freq"), &min.to_string());
    }

    fn set_speed(&mut self, folder: &Path, text: &str) -> Result<(), Errno> {
        if self.word(&folder.join("scaling_governor")).as_deref() != Some("userspace") {
            return Err(Errno::EINVAL);
        }
        let khz: u64 = text.parse().map_err(|_| Errno::EINVAL)?;
        let limit = |name: &str| self.numbers(&folder.join(name)).first().copied();
        let low = limit("scaling_min_freq").unwrap_or(0);
        let khz = khz.clamp(low, limit("scaling_max_freq").unwrap_or(u64::MAX).max(low));
        let mut points = self.numbers(&folder.join("scaling_available_frequencies"));
        points.sort_unstable();
        let khz = points.iter().copied().find(|point| *point >= khz).unwrap_or(khz).to_string();
        self.put(folder.join("scaling_setspeed"), &khz);
        self.put(folder.join("scaling_cur_freq"), &khz);
        Ok(())
    }

    fn preference(&mut self, folder: &Path, text: &str) -> Result<(), Errno> {
        let known = self.word(&folder.join("energy_performance_available_preferences"));
        let known = known.unwrap_or_default();
        if !known.split_whitespace().any(|name| name == text) {
            return Err(Errno::EINVAL);
        }
        let forced = self.word(&folder.join("scaling_governor")).as_deref() == Some("performance");
        if forced && text != "performance" {
            return Err(Errno::EBUSY);
        }
        self.put(folder.join(EPP), text);
        Ok(())
    }

    fn put(&mut self, path: PathBuf, text: &str) {
        self.insert(path, Entry::File(format!("{text}\n")));
    }

    fn word(&self, path: &Path) -> Option<String> {
        self.read(path).ok().map(|text| text.trim().to_owned())
    }

    fn numbers(&self, path: &Path) -> Vec<u64> {
        let text = self.word(path).unwrap_or_default();
        text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    }
}

/// What a governor starts with.
fn defaults(governor: &str) -> &'static [(&'static str, &'static str)] {
    match governor {
        "schedutil" => &[("rate_limit_us", "1000")],
        "ondemand" => &[
            ("ignore_nice_load", "0"),
            ("io_is_busy", "1"),
            ("powersave_bias", "0"),
            ("sampling_down_factor", "1"),
            ("sampling_rate", "10000"),
            ("up_threshold", "95"),
        ],
        "conservative" => &[
            ("down_threshold", "20"),
            ("freq_step", "5"),
            ("ignore_nice_load", "0"),
            ("sampling_down_factor", "1"),
            ("sampling_rate", "10000"),
            ("up_threshold", "80"),
        ],
        _ => &[],
    }
}

trait PolicyFolder {
    fn is_dir_of_policy(&self) -> bool;
}

impl PolicyFolder for Path {
    fn is_dir_of_policy(&self) -> bool {
        let name = self.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix("policy").is_some_and(|id| id.parse::<u32>().is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Tree {
        let mut tree = Tree::default();
        for (name, text) in [
            ("scaling_governor", "powersave"),
            ("scaling_available_governors", "performance powersave userspace"),
            ("cpuinfo_min_freq", "800"),
            ("cpuinfo_max_freq", "3000"),
            ("scaling_min_freq", "800"),
            ("scaling_max_freq", "3000"),
            ("scaling_available_frequencies", "2000 1400 800"),
            ("scaling_boost_frequencies", "3000"),
            ("scaling_cur_freq", "800"),
            ("scaling_setspeed", UNSUPPORTED),
            (EPP, "balance_power"),
            ("energy_performance_available_preferences", "performance balance_power power"),
        ] {
            tree.append_line(&Path::new(CPUFREQ).join("policy0").join(name), text);
        }
        tree.append_line(&Path::new(CPUFREQ).join("boost"), "1");
        tree
    }

    fn write(tree: &mut Tree, name: &str, text: &str) -> Result<(), Errno> {
        tree.write(&Path::new(CPUFREQ).join(name), text)
    }

    fn read(tree: &Tree, name: &str) -> String {
        tree.word(&Path::new(CPUFREQ).join("policy0").join(name)).unwrap()
    }

    #[test]
    fn a_limit_is_shown_as_it_acts_and_kept_as_it_was_asked_for() {
        let mut tree = machine();
        write(&mut tree, "policy0/scaling_max_freq", "1400").unwrap();
        write(&mut tree, "policy0/scaling_min_freq", "2000").unwrap();
        assert_eq!(read(&tree, "scaling_min_freq"), "1400");
        write(&mut tree, "policy0/scaling_max_freq", "9000").unwrap();
        assert_eq!(read(&tree, "scaling_min_freq"), "2000");
        assert_eq!(read(&tree, "scaling_max_freq"), "3000");
    }

    #[test]
    fn the_global_boost_forgets_the_upper_limit() {
        let mut tree = machine();
        write(&mut tree, "policy0/scaling_max_freq", "1400").unwrap();
        write(&mut tree, "boost", "0").unwrap();
        assert_eq!(read(&tree, "cpuinfo_max_freq"), "2000");
        assert_eq!(read(&tree, "scaling_max_freq"), "2000");
        assert_eq!(write(&mut tree, "boost", "2"), Err(Errno::EINVAL));
    }

    #[test]
    fn performance_forces_its_preference() {
        let mut tree = machine();
        write(&mut tree, "policy0/scaling_governor", "performance").unwrap();
        assert_eq!(read(&tree, EPP), "performance");
        assert_eq!(write(&mut tree, &format!("policy0/{EPP}"), "power"), Err(Errno::EBUSY));
        write(&mut tree, "policy0/scaling_governor", "powersave").unwrap();
        assert_eq!(read(&tree, EPP), "balance_power");
        assert_eq!(write(&mut tree, "policy0/scaling_governor", "x"), Err(Errno::EINVAL));
    }

    #[test]
    fn a_speed_is_set_under_userspace_alone() {
        let mut tree = machine();
        assert_eq!(write(&mut tree, "policy0/scaling_setspeed", "1400"), Err(Errno::EINVAL));
        write(&mut tree, "policy0/scaling_governor", "userspace").unwrap();
        assert_eq!(read(&tree, "scaling_setspeed"), "800");
        write(&mut tree, "policy0/scaling_setspeed", "1300").unwrap();
        assert_eq!(read(&tree, "scaling_setspeed"), "1400");
        write(&mut tree, "policy0/scaling_governor", "powersave").unwrap();
        assert_eq!(read(&tree, "scaling_setspeed"), UNSUPPORTED);
    }
}
