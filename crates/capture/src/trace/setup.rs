//! An instance of tracefs of our own: made, filled with what is to be captured, and removed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_host::{Errno, Host, HostError};
use flyball_units::{CpuSet, Diagnostic, ErrorKind};

use super::error::CaptureError;
use super::groups::{BEGINS_AND_ENDS, Group};
use super::names::Owner;
use super::probes::{self, Probe};
use super::recover;
use super::tracefs::{self, Abilities, reason};

/// The clock of the trace: CLOCK_MONOTONIC, the clock of every time in a run.
pub(super) const CLOCK: &str = "mono";
/// How full a CPU's buffer is when the reader is woken, in percent: late enough that a short capture
/// is not disturbed at all, early enough that nothing is lost while the reader wakes up.
const WAKE_PERCENT: u32 = 40;

/// A CPU's buffer unless told otherwise: some 60,000 events.
const BUFFER_BYTES: u64 = 4 << 20;
/// All buffers together unless told otherwise.
const BUFFERS_BYTES: u64 = 256 << 20;

/// Bytes of the buffer of each of so many CPUs, unless told otherwise.
pub(super) fn buffer_bytes(cpus: u64) -> u64 {
    BUFFER_BYTES.min(BUFFERS_BYTES / cpus.max(1))
}

/// CPUs that get a buffer.
pub(super) fn possible_cpus(host: &dyn Host) -> u64 {
    let text = host.read(Path::new("/sys/devices/system/cpu/possible")).unwrap_or_default();
    let cpus = text.trim().parse::<CpuSet>().map_or(1, |cpus| cpus.iter().count());
    cpus.max(1) as u64
}

/// Our instance and our probes. Dropping it removes them.
#[derive(Debug)]
pub(super) struct Setup {
    host: Arc<dyn Host>,
    owner: Owner,
    has_instance: bool,
    /// Probe events that were made: `GROUP/EVENT`.
    probes: Vec<String>,
    /// What is on: `sched:sched_switch`, `probe:pelt_se`.
    pub events: Vec<String>,
    /// The groups of which something is on.
    pub groups: Vec<Group>,
    /// What is missing, in words.
    pub notes: Vec<String>,
}

impl Setup {
    /// Makes the instance with its clock and its buffers, switched off.
    pub fn new(host: &Arc<dyn Host>, buffer_bytes: u64) -> Result<Setup, CaptureError> {
        let failed = CaptureError::host("making an instance of tracefs");
        let owner = Owner::this(host.as_ref()).map_err(&failed)?;
        let mut setup = Setup {
            host: Arc::clone(host),
            owner,
            has_instance: false,
            probes: Vec::new(),
            events: Vec::new(),
            groups: Vec::new(),
            notes: Vec::new(),
        };
        host.make_dir(&setup.instance()).map_err(|error| match error.errno() {
            Some(Errno::EEXIST) => CaptureError::Lacking {
                object: setup.instance().display().to_string(),
                expected: "one capture per process at a time".to_owned(),
                found: "another of this process".to_owned(),
                hint: None,
                permission: false,
            },
            _ => failed(error),
        })?;
        setup.has_instance = true;
        setup.write("tracing_on", "0")?;
        setup.write("trace_clock", CLOCK)?;
        let kib = buffer_bytes.div_ceil(1024).max(1);
        setup.write("buffer_size_kb", &kib.to_string())?;
        setup.check_buffer(kib)?;
        // Kernels before 5.0 have no such file; the reader then looks at the clock.
        if host.exists(&setup.file("buffer_percent")) {
            setup.write("buffer_percent", &WAKE_PERCENT.to_string())?;
        }
        Ok(setup)
    }

    /// The kernel rounds a buffer up to whole pages; less than asked for means that it had no more.
    fn check_buffer(&self, kib: u64) -> Result<(), CaptureError> {
        let text = self.read("buffer_size_kb")?;
        let found = text.split_whitespace().next().and_then(|found| found.parse::<u64>().ok());
        if found.is_some_and(|found| found >= kib) {
            return Ok(());
        }
        Err(CaptureError::Lacking {
            object: self.file("buffer_size_kb").display().to_string(),
            expected: format!("{kib} KiB per CPU"),
            found: text.trim().to_owned(),
            hint: Some("ask for smaller buffers, such as 1M".to_owned()),
            permission: false,
        })
    }

    /// The folder of our instance.
    pub fn instance(&self) -> PathBuf {
        tracefs::instance(self.owner)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.instance().join(name)
    }

    /// Writes to a file of the instance.
    pub fn write(&self, name: &str, text: &str) -> Result<(), CaptureError> {
        let failed = CaptureError::host("setting the instance of tracefs up");
        self.host.write(&self.file(name), text).map_err(failed)
    }

    /// Reads a file of the instance.
    pub fn read(&self, name: &str) -> Result<String, CaptureError> {
        let failed = CaptureError::host("reading the instance of tracefs");
        self.host.read(&self.file(name)).map_err(failed)
    }

    /// Switches the events of `groups` on. What the kernel lacks becomes a note, or an error where
    /// the groups were `named`.
    pub fn enable(&mut self, groups: &[Group], named: bool) -> Result<(), CaptureError> {
        let mut lacking: Vec<(Group, String)> = Vec::new();
        for &group in groups {
            for (folder, events) in group.events() {
                for event in self.expand(folder, events) {
                    match self.kernel_event(group, folder, &event)? {
                        true => {}
                        false => lacking.push((group, format!("event {folder}:{event}"))),
                    }
                }
            }
        }
        self.probe(groups, &mut lacking)?;
        let release = tracefs::release(self.host.as_ref());
        for &group in groups {
            let what: Vec<&str> = lacking
                .iter()
                .filter(|(of, _)| *of == group)
                .map(|(_, what)| what.as_str())
                .collect();
            if what.is_empty() {
                continue;
            }
            if named {
                return Err(CaptureError::Lacking {
                    object: format!("events {group}"),
                    expected: what.join(", "),
                    found: format!("{release} without"),
                    hint: Some(format!("leave {group} out")),
                    permission: false,
                });
            }
            self.notes.push(format!("{group}: {release} lacks {}", what.join(", ")));
        }
        Ok(())
    }

    /// The names that are meant in a folder of events.
    fn expand(&self, folder: &str, events: &[&str]) -> Vec<String> {
        if events != [BEGINS_AND_ENDS] {
            return events.iter().map(|event| (*event).to_owned()).collect();
        }
        let names = self.host.list(&self.file(&format!("events/{folder}"))).unwrap_or_default();
        let meant = |name: &String| name.ends_with("_entry") || name.ends_with("_exit");
        names.into_iter().filter(meant).collect()
    }

    /// Switches one of the kernel's own events on; false where there is none of that name.
    fn kernel_event(
        &mut self,
        group: Group,
        folder: &str,
        event: &str,
    ) -> Result<bool, CaptureError> {
        let switch = format!("events/{folder}/{event}/enable");
        if !self.host.exists(&self.file(&switch)) {
            return Ok(false);
        }
        self.write(&switch, "1")?;
        self.on(group, format!("{folder}:{event}"));
        Ok(true)
    }

    fn on(&mut self, group: Group, event: String) {
        self.events.push(event);
        if !self.groups.contains(&group) {
            self.groups.push(group);
        }
    }

    /// Makes the probes of `groups` and switches them on.
    fn probe(
        &mut self,
        groups: &[Group],
        lacking: &mut Vec<(Group, String)>,
    ) -> Result<(), CaptureError> {
        let probed = [Group::Util, Group::Classes, Group::Capacity, Group::Governor];
        let groups: Vec<Group> =
            groups.iter().copied().filter(|group| probed.contains(group)).collect();
        if groups.is_empty() {
            return Ok(());
        }
        let mut all = |what: &str| {
            lacking.extend(groups.iter().map(|group| (*group, what.to_owned())));
        };
        if !self.host.exists(&tracefs::dynamic_events()) {
            all("dynamic_events (CONFIG_PROBE_EVENTS)");
            return Ok(());
        }
        let abilities = Abilities::of(self.host.as_ref());
        if !abilities.tracepoints && !abilities.functions {
            all("probes on tracepoints (Linux 6.5 or newer with CONFIG_FPROBE_EVENTS)");
            return Ok(());
        }
        let bytes = match self.host.read_bytes(Path::new(probes::BTF)) {
            Ok(bytes) => bytes,
            Err(error) => {
                all(&format!("BTF in {} (CONFIG_DEBUG_INFO_BTF): {}", probes::BTF, reason(&error)));
                return Ok(());
            }
        };
        let btf = match probes::parse(bytes) {
            Ok(btf) => btf,
            Err(error) => {
                all(&format!("readable BTF in {}: {error}", probes::BTF));
                return Ok(());
            }
        };
        for group in groups {
            for probe in probes::of(group, &btf) {
                match probe {
                    Ok(probe) => self.one_probe(&probe, lacking)?,
                    Err(lack) => lacking.push((lack.group, lack.what)),
                }
            }
        }
        Ok(())
    }

    /// Makes a probe and switches it on.
    fn one_probe(
        &mut self,
        probe: &Probe,
        lacking: &mut Vec<(Group, String)>,
    ) -> Result<(), CaptureError> {
        let group = self.owner.group();
        let name = format!("{group}/{}", probe.event);
        // Noted before: whether it took effect is not known while the call is under way.
        self.probes.push(name.clone());
        if let Err(error) = self.host.write(&tracefs::dynamic_events(), &probe.definition(&group)) {
            self.probes.pop();
            return self.refused(probe, &error, lacking);
        }
        let folder = format!("events/{name}");
        if let Some(filter) = probe.filter {
            self.write(&format!("{folder}/filter"), filter)?;
        }
        let failed = CaptureError::host("switching a probe on");
        let switch = self.file(&format!("{folder}/enable"));
        match self.host.write(&switch, "1") {
            Ok(()) => self.on(probe.group, format!("probe:{}", probe.event)),
            // Linux 6.12 lets one probe sit on a tracepoint, and says so only now.
            Err(error) if matches!(error.errno(), Some(Errno::EBUSY | Errno::EEXIST)) => {
                lacking.push((probe.group, taken(probe)));
            }
            Err(error) => return Err(failed(error)),
        }
        Ok(())
    }

    /// A probe that the kernel does not take is lacking; one that we may not make is an error.
    fn refused(
        &self,
        probe: &Probe,
        error: &HostError,
        lacking: &mut Vec<(Group, String)>,
    ) -> Result<(), CaptureError> {
        match (error.kind(), error.errno()) {
            (ErrorKind::Permission, _) => {
                return Err(CaptureError::host("making a probe event")(error.clone()));
            }
            (_, Some(Errno::EBUSY | Errno::EEXIST)) => lacking.push((probe.group, taken(probe))),
            _ => {
                let log = self.host.read(&tracefs::path("error_log")).unwrap_or_default();
                let said = log.lines().rev().find(|line| line.contains("error:"));
                let said = said.map_or_else(|| reason(error), |line| line.trim().to_owned());
                lacking.push((probe.group, format!("a probe on {} ({said})", probe.point)));
            }
        }
        Ok(())
    }

    /// Removes everything; returns what is left. Does nothing the second time.
    pub fn remove(&mut self) -> Vec<String> {
        let probes = std::mem::take(&mut self.probes);
        let has_instance = std::mem::take(&mut self.has_instance);
        recover::remove(self.host.as_ref(), self.owner, has_instance, &probes)
    }
}

fn taken(probe: &Probe) -> String {
    format!("a free {}: another probe sits on it", probe.point)
}

impl Drop for Setup {
    fn drop(&mut self) {
        // Nobody is left to tell; the next capture removes what stays.
        let _ = self.remove();
    }
}
