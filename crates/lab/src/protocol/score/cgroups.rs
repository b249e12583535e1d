//! The control groups of a playing: made below this program's own one, and gone when it ends.
//!
//! They are threaded (cgroup v2): a thread is in one, its process stays where it is. What a kill leaves behind are
//! empty folders, which the next playing there removes.

use crate::protocol::score::PlayError;
use flyball_host::{Errno, Host, HostError};
use flyball_sim::setup::Cgroup;
use flyball_units::Nanos;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where control groups are.
const CGROUPS: &str = "/sys/fs/cgroup";

/// Begins the names of all that are made here; the number of the program follows.
const PREFIX: &str = "flyball-";

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
        cgroups.remove_stale();
        cgroups.enable()?;
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

    /// Of each group what the kernel counted (`cpu.stat`); removes them. Their threads have ended.
    ///
    /// # Errors
    /// A group that cannot be removed.
    pub fn end(mut self) -> Result<Vec<(String, String)>, HostError> {
        self.enter(None)?;
        let stat = |(name, folder): &(String, PathBuf)| {
            let text = self.host.read(&folder.join("cpu.stat")).unwrap_or_default();
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            (name.clone(), lines.join(", "))
        };
        let stats = self.made.iter().map(stat).collect();
        self.remove()?;
        Ok(stats)
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
        let folder = self.own.join(format!("{PREFIX}{}-{}", std::process::id(), group.name));
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

    /// Removes what programs that are gone have left here.
    fn remove_stale(&self) {
        for name in self.host.list(&self.own).unwrap_or_default() {
            let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
            let Some(process) = process.and_then(|number| number.parse::<u32>().ok()) else {
                continue;
            };
            if !self.host.exists(Path::new(&format!("/proc/{process}"))) {
                // One that is not empty belongs to somebody after all.
                let _ = self.host.remove_dir(&self.own.join(name));
            }
        }
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
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let folder = path.map(|path| Path::new(CGROUPS).join(path));
    folder.filter(|folder| host.exists(&folder.join("cgroup.controllers"))).ok_or_else(|| {
        let found = groups.lines().next().unwrap_or("nothing").to_owned();
        let expected = format!("control groups of version 2 in {CGROUPS}");
        PlayError::unplayable("[[cgroup]]", expected, found)
    })
}
