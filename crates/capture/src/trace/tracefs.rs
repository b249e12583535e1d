//! Where tracefs is, and what stands in the way of using it.

use flyball_units::{Diagnostic, ErrorKind};
use std::path::{Path, PathBuf};

use flyball_host::{Host, HostError};

use super::CaptureError;
use super::names::Owner;

/// Where tracefs is mounted since Linux 4.1.
pub(super) const ROOT: &str = "/sys/kernel/tracing";

/// A path below tracefs.
pub(super) fn path(below: &str) -> PathBuf {
    Path::new(ROOT).join(below)
}

/// The list of probe events.
pub(super) fn dynamic_events() -> PathBuf {
    path("dynamic_events")
}

/// The folder of an owner's instance.
pub(super) fn instance(owner: Owner) -> PathBuf {
    path("instances").join(owner.instance())
}

/// Fails where tracefs is not mounted or not ours to use, and says how to change that.
pub(super) fn check(host: &dyn Host) -> Result<(), CaptureError> {
    let sudo = "trace as root; the program can be given the user's rights back";
    let lacking = |expected: &str, found: String, hint: &str, permission| CaptureError::Lacking {
        object: ROOT.to_owned(),
        expected: expected.to_owned(),
        found,
        hint: Some(hint.to_owned()),
        permission,
    };
    let names = match host.list(Path::new(ROOT)) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::Permission => {
            return Err(lacking("the right to trace (root)", reason(&error), sudo, true));
        }
        Err(_) => Vec::new(),
    };
    if names.is_empty() {
        let known = host.read(Path::new("/proc/filesystems")).unwrap_or_default();
        return Err(match known.lines().any(|line| line.ends_with("tracefs")) {
            true => lacking(
                "tracefs, mounted",
                "nothing mounted".to_owned(),
                "sudo mount -t tracefs nodev /sys/kernel/tracing",
                true,
            ),
            false => lacking(
                "tracefs",
                "a kernel without it (CONFIG_TRACING)".to_owned(),
                "boot a distribution's kernel, or one with CONFIG_FTRACE=y",
                false,
            ),
        });
    }
    match host.writable(&path("instances")) {
        Ok(true) => Ok(()),
        Ok(false) => Err(lacking(
            "the right to trace (root)",
            "instances may not be written".into(),
            sudo,
            true,
        )),
        Err(error) => Err(CaptureError::host("looking at tracefs")(error)),
    }
}

/// The system's reason alone.
pub(super) fn reason(error: &HostError) -> String {
    error.errno().map_or_else(|| error.to_string(), |errno| errno.to_string())
}

/// What the kernel's own help says that it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Abilities {
    /// Probes on tracepoints (`t:`), since 6.5 with CONFIG_FPROBE_EVENTS.
    pub tracepoints: bool,
    /// Probes on functions by fprobe (`f:`), the same.
    pub functions: bool,
}

impl Abilities {
    /// Reads `README` of tracefs, where every sort of probe is listed.
    pub fn of(host: &dyn Host) -> Abilities {
        let help = host.read(&path("README")).unwrap_or_default();
        let lists = |start: &str| help.lines().any(|line| line.trim_start().starts_with(start));
        Abilities { tracepoints: lists("t[:["), functions: lists("f[:[") }
    }
}

/// The kernel's release, for messages.
pub(super) fn release(host: &dyn Host) -> String {
    let text = host.read(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default();
    if text.trim().is_empty() { "this kernel".to_owned() } else { format!("Linux {}", text.trim()) }
}
