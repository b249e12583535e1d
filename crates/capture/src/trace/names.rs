//! Who owns an instance and its probes: names made of the process's number and the time of its
//! start, so that a number that was given to somebody else is not taken for the owner.

use flyball_host::{Host, HostError, ProcessIdentity};

/// A process, by its number and the time of its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner(ProcessIdentity);

impl Owner {
    /// This process.
    pub fn this(host: &dyn Host) -> Result<Owner, HostError> {
        ProcessIdentity::this(host).map(Owner)
    }

    /// Whether it still runs. What cannot be read counts as running: nothing of it is removed.
    pub fn is_alive(self, host: &dyn Host) -> bool {
        self.0.is_alive(host)
    }

    /// The name of its instance: `flyball-PID-START`.
    pub fn instance(self) -> String {
        format!("flyball-{}-{}", self.0.pid, self.0.start)
    }

    /// The name of its group of probe events: `flyball_PID_START`.
    pub fn group(self) -> String {
        format!("flyball_{}_{}", self.0.pid, self.0.start)
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
        let identity = ProcessIdentity { pid: pid.parse().ok()?, start: start.parse().ok()? };
        Some(Owner(identity))
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_owner() {
        let owner = Owner(ProcessIdentity { pid: 12, start: 345 });
        assert_eq!(Owner::of_instance(&owner.instance()), Some(owner));
        assert_eq!(Owner::of_group(&owner.group()), Some(owner));
        for other in ["flyball", "flyball-1", "flyball_1_2", "mine", "flyball-a-1", "flyball-1-2-3"]
        {
            assert_eq!(Owner::of_instance(other), None, "{other}");
        }
    }
}
