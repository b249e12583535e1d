//! Whose a process is.

use flyball_host::Host;
use std::fmt::Display;
use std::path::Path;

/// The users of the process `/proc/NAME`: real, effective, saved, and that of its files. None where it has ended.
pub(crate) fn users_of(host: &dyn Host, name: impl Display) -> Option<[u32; 4]> {
    let status = host.read(Path::new(&format!("/proc/{name}/status"))).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    let users: Vec<u32> = line.split_ascii_whitespace().flat_map(str::parse).collect();
    users.try_into().ok()
}
