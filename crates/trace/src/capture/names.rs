//! Who owns an instance and its probes: names made of the process's number and the time of its
//! start, so that a number that was given to somebody else is not taken for the owner.

use std::path::Path;

use flyball_host::{Host, HostError};

/// A process: its number, and its start in ticks since boot (`/proc/PID/stat`, field 22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner {
    pid: u32,
    start: u64,
}

impl Owner {
    /// This process.
    pub fn this(host: &dyn Host) -> Result<Owner, HostError> {
        let path = Path::new("/proc/self/stat");
        let text = host.read(path)?;
        let malformed =
            || HostError::malformed(path.display(), "a process's numbers, 22 at least", &text);
        let pid = text.split(' ').next().and_then(|pid| pid.parse().ok());
        Ok(Owner { pid: pid.ok_or_else(malformed)?, start: start_of(&text).ok_or_else(malformed)? })
    }

    /// Whether it still runs. What cannot be read counts as running: nothing of it is removed.
    pub fn is_alive(self, host: &dyn Host) -> bool {
        match host.read(Path::new(&format!("/proc/{}/stat", self.pid))) {
            Ok(text) => start_of(&text).is_none_or(|start| start == self.start),
            Err(error) => !error.is_absent() && error.errno() != Some(flyball_host::Errno::ESRCH),
        }
    }

    /// The name of its instance: `flyball-PID-START`.
    pub fn instance(self) -> String {
        format!("flyball-{}-{}", self.pid, self.start)
    }

    /// The name of its group of probe events: `flyball_PID_START`.
    pub fn group(self) -> String {
        format!("flyball_{}_{}", self.pid, self.start)
    }

    /// The owner of an instance of that name.
    pub fn of_instance(name: &str) -> Option<Owner> {
        Owner::parse(name, '-')
    }

    /// The owner of a group of that name.
    pub fn of_group(name: &str) -> Option<Owner> {
        Owner::parse(name, '_')
    }

    fn parse(name: &str, sign: char) -> Option<Owner> {
        let (pid, start) = name.strip_prefix("flyball")?.strip_prefix(sign)?.split_once(sign)?;
        Some(Owner { pid: pid.parse().ok()?, start: start.parse().ok()? })
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {}", self.pid)
    }
}

/// Field 22; the second one, the name in parentheses, may hold anything.
fn start_of(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::{RealHost, RecordedHost};

    #[test]
    fn names_lead_back_to_their_owner() {
        let owner = Owner { pid: 12, start: 345 };
        assert_eq!(Owner::of_instance(&owner.instance()), Some(owner));
        assert_eq!(Owner::of_group(&owner.group()), Some(owner));
        for other in ["flyball", "flyball-1", "flyball_1_2", "mine", "flyball-a-1", "flyball-1-2-3"]
        {
            assert_eq!(Owner::of_instance(other), None, "{other}");
        }
    }

    #[test]
    fn this_process_runs_and_a_namesake_does_not() {
        let host = RealHost::new();
        let this = Owner::this(&host).unwrap();
        assert!(this.is_alive(&host));
        assert!(!Owner { start: this.start + 1, ..this }.is_alive(&host));
        assert!(!Owner { pid: 1 << 30, ..this }.is_alive(&host));
    }

    #[test]
    fn an_odd_name_does_not_confuse() {
        let numbers = (3..=30).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let listing = format!("/proc/self/stat = 7 (a) b) S {numbers}");
        let host = RecordedHost::from_listing(&listing).unwrap();
        assert_eq!(Owner::this(&host).unwrap(), Owner { pid: 7, start: 21 });
        assert!(!Owner { pid: 8, start: 21 }.is_alive(&host));
    }
}
