//! The control groups of a playing: made below this program's own one, and gone when it ends.
//!
//! They are threaded (cgroup v2): a thread is in one, its process stays where it is. What a kill leaves behind are
//! empty folders, and the `cpu` controller, where it was switched on for them; their names say whether it was, and the
//! next playing there removes both.

use crate::protocol::score::PlayError;
use flyball_host::{CGROUPS, Errno, Host, HostError, Membership};
use flyball_sim::setup::Cgroup;
use flyball_units::Nanos;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Begins the names of all that are made here; the number of the program follows.
const PREFIX: &str = "flyball-";

/// Between that number and a group's name, where the `cpu` controller was switched on for it, and where it was on.
const SWITCHED_ON: char = '+';
/// See [`SWITCHED_ON`].
const WAS_ON: char = '-';

/// How long the last threads may take to be gone from a group after they have ended.
const GONE: Nanos = Nanos::from_secs(2);

/// Groups while a scenario is played.
#[derive(Debug)]
pub struct Cgroups {
    host: Arc<dyn Host>,
    /// This program's own.
    own: PathBuf,
    /// Name and folder of each.
    made: Vec<(String, PathBuf)>,
    /// Whether the `cpu` controller was switched on for them.
    enabled: bool,
    /// Where the thread is that makes the tasks; None: where its program is.
    present: Option<usize>,
}

/// What is left of the groups of a playing.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// The name of each, and its `cpu.stat`.
    pub groups: Vec<(String, String)>,
    /// Why they could not be removed, if so.
    pub left: Option<HostError>,
}

impl Cgroups {
    /// Makes the groups.
    ///
    /// # Errors
    /// A machine without cgroup v2, without its `cpu` controller here, or one that refuses a value.
    pub fn make(host: &Arc<dyn Host>, groups: &[Cgroup]) -> Result<Cgroups, PlayError> {
        let mut cgroups = Cgroups {
            host: Arc::clone(host),
            own: PathBuf::new(),
            made: Vec::new(),
            enabled: false,
            present: None,
        };
        if groups.is_empty() {
            return Ok(cgroups);
        }
        cgroups.own = own(host.as_ref())?;
        let switched_on = cgroups.remove_stale();
        cgroups.enable()?;
        cgroups.enabled |= switched_on;
        for group in groups {
            cgroups.add(group)?;
        }
        Ok(cgroups)
    }

    /// Whether the thread that makes the tasks has to move for one of this group.
    pub fn is_elsewhere(&self, group: Option<usize>) -> bool {
        self.present != group
    }

    /// The thread that calls this, always the same one, is in a group from now on, or where its program is. The kernel
    /// waits for all CPUs before it does that, so some of its own threads run.
    ///
    /// # Errors
    /// The machine refuses.
    pub fn enter(&mut self, group: Option<usize>) -> Result<(), HostError> {
        if self.is_elsewhere(group) {
            let folder = group.and_then(|at| self.made.get(at)).map_or(&self.own, |(_, at)| at);
            let thread = self.host.thread_id().to_string();
            self.host.write(&folder.join("cgroup.threads"), &thread)?;
            self.present = group;
        }
        Ok(())
    }

    /// Removes the groups, whose threads have ended. What the kernel counted of each, and why one is left, if so: the
    /// playing is whole all the same.
    pub fn end(mut self) -> Counted {
        let stat = |(name, folder): &(String, PathBuf)| {
            let text = self.host.read(&folder.join("cpu.stat")).unwrap_or_default();
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            (name.clone(), lines.join(", "))
        };
        let groups = self.made.iter().map(stat).collect();
        let left = self.enter(None).and_then(|()| self.remove()).err();
        Counted { groups, left }
    }

    /// Switches the `cpu` controller on for groups below this program's own, where it is not.
    fn enable(&mut self) -> Result<(), PlayError> {
        let control = self.own.join("cgroup.subtree_control");
        let has_cpu = |text: &str| text.split_whitespace().any(|word| word == "cpu");
        if has_cpu(&self.host.read(&control).map_err(refused)?) {
            return Ok(());
        }
        let available = self.host.read(&self.own.join("cgroup.controllers")).map_err(refused)?;
        if !has_cpu(&available) {
            return Err(PlayError::unplayable(
                "[[cgroup]]",
                format!("the cpu controller in {}", self.own.display()),
                format!("\"{}\"", available.trim()),
            ));
        }
        self.host.write(&control, "+cpu").map_err(refused)?;
        self.enabled = true;
        Ok(())
    }

    fn add(&mut self, group: &Cgroup) -> Result<(), PlayError> {
        let switch = if self.enabled { SWITCHED_ON } else { WAS_ON };
        let folder = format!("{PREFIX}{}{switch}{}", std::process::id(), group.name);
        let folder = self.own.join(folder);
        self.host.make_dir(&folder).map_err(refused)?;
        self.made.push((group.name.clone(), folder.clone()));
        let mut values = vec![("cgroup.type", "threaded".to_owned())];
        if group.weight != Cgroup::DEFAULT_WEIGHT {
            values.push(("cpu.weight", group.weight.to_string()));
        }
        if let Some(limit) = group.bandwidth {
            let us = |time: Nanos| time.0 / 1000;
            values.push(("cpu.max", format!("{} {}", us(limit.quota), us(limit.period))));
            if limit.burst > Nanos::ZERO {
                values.push(("cpu.max.burst", us(limit.burst).to_string()));
            }
        }
        if group.is_clamping() {
            let percent = |clamp: u32| format!("{:.2}", f64::from(clamp) * 100.0 / 1024.0);
            values.push(("cpu.uclamp.max", percent(group.uclamp_max)));
            values.push(("cpu.uclamp.min", percent(group.uclamp_min)));
        }
        for (file, value) in values {
            self.host.write(&folder.join(file), &value).map_err(refused)?;
        }
        Ok(())
    }

    /// Removes what programs that are gone have left here. Whether one had switched the `cpu` controller on.
    fn remove_stale(&self) -> bool {
        let mut switched_on = false;
        for name in self.host.list(&self.own).unwrap_or_default() {
            let rest = name.strip_prefix(PREFIX).unwrap_or_default();
            let Some((process, _)) = rest.split_once([SWITCHED_ON, WAS_ON]) else { continue };
            let is_gone = process.parse::<u32>().is_ok()
                && !self.host.exists(Path::new(&format!("/proc/{process}")));
            // One that is not empty belongs to somebody after all.
            if is_gone && self.host.remove_dir(&self.own.join(&name)).is_ok() {
                switched_on |= rest[process.len()..].starts_with(SWITCHED_ON);
            }
        }
        switched_on
    }

    fn remove(&mut self) -> Result<(), HostError> {
        let until = self.host.now() + GONE;
        while let Some((_, folder)) = self.made.last() {
            match self.host.remove_dir(folder) {
                Err(error) if error.errno() == Some(Errno::EBUSY) && self.host.now() < until => {
                    self.host.sleep_until(self.host.now() + Nanos::from_millis(1))?;
                }
                Err(error) if error.errno() != Some(Errno::ENOENT) => return Err(error),
                _ => {
                    self.made.pop();
                }
            }
        }
        let others = self.host.list(&self.own).unwrap_or_default();
        if std::mem::take(&mut self.enabled) && !others.iter().any(|name| name.starts_with(PREFIX))
        {
            self.host.write(&self.own.join("cgroup.subtree_control"), "-cpu")?;
        }
        Ok(())
    }
}

impl Drop for Cgroups {
    /// After an error, which is told already.
    fn drop(&mut self) {
        let _ = self.enter(None);
        let _ = self.remove();
    }
}

fn refused(error: HostError) -> PlayError {
    PlayError::Cgroup { error }
}

/// The control group of this program.
fn own(host: &dyn Host) -> Result<PathBuf, PlayError> {
    let groups = host.read(Path::new("/proc/self/cgroup")).map_err(refused)?;
    let path = Membership::unified(&groups);
    let folder = path.map(|path| Path::new(CGROUPS).join(path.trim_start_matches('/')));
    folder.filter(|folder| host.exists(&folder.join("cgroup.controllers"))).ok_or_else(|| {
        let found = groups.lines().next().unwrap_or("nothing").to_owned();
        let expected = format!("control groups of version 2 in {CGROUPS}");
        PlayError::unplayable("[[cgroup]]", expected, found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;
    use flyball_host::manifest::Manifest;
    use std::collections::BTreeMap;

    fn host(listing: &str) -> Arc<dyn Host> {
        let mut manifest = Manifest::default();
        manifest.calls.writable = BTreeMap::from([(CGROUPS.to_owned(), true)]);
        Arc::new(RecordedHost::from_listing(listing).unwrap().with_manifest(manifest))
    }

    fn refusal(host: &Arc<dyn Host>) -> String {
        Cgroups::make(host, &[Cgroup::named("web")]).unwrap_err().to_string()
    }

    #[test]
    fn machines_without_cgroups_or_their_cpu_controller_are_named() {
        let old = host("/proc/self/cgroup = 9:name=systemd:/\n");
        assert!(refusal(&old).ends_with("of version 2 in /sys/fs/cgroup, found 9:name=systemd:/"));
        let bare = "/proc/self/cgroup = 0::/user\n\
                    /sys/fs/cgroup/user/cgroup.controllers = memory pids\n\
                    /sys/fs/cgroup/user/cgroup.subtree_control = \n";
        let found = refusal(&host(bare));
        assert!(
            found.contains("the cpu controller in /sys/fs/cgroup/user, found \"memory pids\""),
            "{found}"
        );
        assert!(Cgroups::make(&old, &[]).is_ok(), "nobody asked for one");
    }

    /// This machine makes the folder and has none of the kernel's files in it: the first value is refused.
    #[test]
    fn what_was_made_until_an_error_is_gone_and_so_is_what_a_killed_program_left() {
        let listing = "/proc/self/cgroup = 0::/user\n\
                       /sys/fs/cgroup/user/cgroup.controllers = cpu memory\n\
                       /sys/fs/cgroup/user/cgroup.subtree_control = memory\n\
                       /sys/fs/cgroup/user/cgroup.threads = 1\n";
        let host = host(listing);
        let own = Path::new("/sys/fs/cgroup/user");
        host.make_dir(&own.join("flyball-999999+old")).unwrap();
        let found = refusal(&host);
        assert!(found.contains("web/cgroup.type"), "{found}");
        let left = host.list(own).unwrap();
        assert!(!left.iter().any(|name| name.starts_with(PREFIX)), "{left:?}");
        // A real file would hold the controllers that are left.
        assert_eq!(host.read(&own.join("cgroup.subtree_control")).unwrap().trim(), "-cpu");
    }
}
