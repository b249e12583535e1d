//! Whether what is held is still so.

use crate::settle::read;
use crate::{Plan, Step};
use flyball_host::{Host, Topology};
use flyball_units::{CpuSet, Nanos};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Something that changed during a hold, though not by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// When that was seen, on [`Host::now`]'s clock; it happened since the look before.
    #[serde(rename = "t_ns")]
    pub time: Nanos,
    /// The file.
    pub path: PathBuf,
    /// What the hold had set, or found.
    pub expected: String,
    /// What it had instead.
    pub found: String,
}

/// Looks at what is held.
#[derive(Debug)]
pub(crate) struct Watch {
    steps: Vec<Step>,
    online: CpuSet,
    /// What was seen and told, by path.
    told: BTreeMap<PathBuf, String>,
}

const ONLINE: &str = "/sys/devices/system/cpu/online";

impl Watch {
    pub fn new(plan: &Plan, online: CpuSet) -> Watch {
        Watch { steps: plan.all().cloned().collect(), online, told: BTreeMap::new() }
    }

    /// What has changed since the last look.
    pub fn look(&mut self, host: &dyn Host) -> Vec<Change> {
        let mut changes = Vec::new();
        let time = host.now();
        for step in &self.steps {
            if read(host, &step.path).as_ref() == Ok(&step.new) {
                self.told.remove(&step.path);
                continue;
            }
            // Once more, so that a slip of one read is no change.
            let found = match read(host, &step.path) {
                Ok(found) if found == step.new => continue,
                Ok(found) => found,
                Err(error) => error.to_string(),
            };
            let (path, expected) = (step.path.clone(), step.new.clone());
            if self.told.insert(path.clone(), found.clone()).as_ref() != Some(&found) {
                changes.push(Change { time, path, expected, found });
            }
        }
        if let Ok(now) = Topology::online(host)
            && now != self.online
        {
            let (expected, found) = (self.online.to_string(), now.to_string());
            changes.push(Change { time, path: ONLINE.into(), expected, found });
            self.online = now;
        }
        changes
    }
}
