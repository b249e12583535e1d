//! What can be captured, in groups that answer one kind of question each.

use std::fmt;
use std::str::FromStr;

/// A group of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Who ran where, who was woken, who moved.
    Sched,
    /// Changes of frequency.
    Frequency,
    /// Idle states.
    Idle,
    /// Load tracking of tasks and run queues.
    Util,
    /// Load tracking of real-time and deadline tasks.
    Classes,
    /// Capacities of the CPUs.
    Capacity,
    /// What schedutil was given and what it answered.
    Governor,
    /// Interrupts and softirqs.
    Irq,
}

/// The kernel's own events of a group: folder below `events`, names. An entry `_entry/_exit` stands
/// for all events of the folder that end so, of which there may be none.
type Events = &'static [(&'static str, &'static [&'static str])];

/// Stands for every event of a folder that tells when something begins and ends.
pub(super) const BEGINS_AND_ENDS: &str = "_entry/_exit";

impl Group {
    /// All groups.
    pub const ALL: [Group; 8] = [
        Group::Sched,
        Group::Frequency,
        Group::Idle,
        Group::Util,
        Group::Classes,
        Group::Capacity,
        Group::Governor,
        Group::Irq,
    ];

    /// Those that are captured unless told otherwise, as far as the kernel has them.
    pub const DEFAULT: [Group; 7] = [
        Group::Sched,
        Group::Frequency,
        Group::Idle,
        Group::Util,
        Group::Classes,
        Group::Capacity,
        Group::Governor,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Sched => "sched",
            Group::Frequency => "frequency",
            Group::Idle => "idle",
            Group::Util => "util",
            Group::Classes => "classes",
            Group::Capacity => "capacity",
            Group::Governor => "governor",
            Group::Irq => "irq",
        }
    }

    /// The kernel's own events in it; the other groups are probes.
    pub(super) const fn events(self) -> Events {
        match self {
            Group::Sched => &[(
                "sched",
                &[
                    "sched_switch",
                    "sched_waking",
                    "sched_wakeup",
                    "sched_wakeup_new",
                    "sched_migrate_task",
                    "sched_process_fork",
                    "sched_process_exit",
                ],
            )],
            Group::Frequency => &[("power", &["cpu_frequency"])],
            Group::Idle => &[("power", &["cpu_idle"])],
            Group::Irq => &[
                (
                    "irq",
                    &["irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit"],
                ),
                ("irq_vectors", &[BEGINS_AND_ENDS]),
                ("ipi", &[BEGINS_AND_ENDS]),
            ],
            Group::Util | Group::Classes | Group::Capacity | Group::Governor => &[],
        }
    }

    /// Reads a list such as `sched,idle`. Each group counts once, in the order of [`Group::ALL`].
    ///
    /// # Errors
    /// A word that is not a group, or no group at all.
    pub fn parse_list(text: &str) -> Result<Vec<Group>, String> {
        let mut groups = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            groups.push(word.parse()?);
        }
        groups.sort_unstable();
        groups.dedup();
        if groups.is_empty() { Err(format!("{}, found none", expected())) } else { Ok(groups) }
    }
}

fn expected() -> String {
    format!("groups of {}", Group::ALL.map(Group::name).join(", "))
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Group {
    type Err = String;

    fn from_str(text: &str) -> Result<Group, String> {
        let found = Group::ALL.into_iter().find(|group| group.name() == text);
        found.ok_or_else(|| format!("{}, found {text:?}", expected()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        assert_eq!(Group::parse_list("idle, sched,idle"), Ok(vec![Group::Sched, Group::Idle]));
        assert!(Group::parse_list("sched,x").unwrap_err().contains("found \"x\""));
        assert!(Group::parse_list(" ,").is_err());
        for group in Group::ALL {
            assert_eq!(group.to_string().parse(), Ok(group));
        }
    }
}
