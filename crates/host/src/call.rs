//! Names of the host's calls, as they appear in errors and in the specification of faults.

use std::fmt;
use std::str::FromStr;

macro_rules! calls {
    (
        host { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }
        child { $($(#[$child_doc:meta])* $child:ident = $child_name:literal,)* }
    ) => {
        /// A call that can fail: of [`Host`](crate::Host) or of [`Child`](crate::Child).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Call {
            $($(#[$doc])* $variant,)*
            $($(#[$child_doc])* $child,)*
        }

        impl Call {
            /// Every call of [`Host`](crate::Host) that can fail, in its order. These are the ones
            /// that a [`FaultyHost`](crate::FaultyHost) can break.
            pub const ALL: &[Call] = &[$(Call::$variant,)*];

            /// The name of the method.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Call::$variant => $name,)*
                    $(Call::$child => $child_name,)*
                }
            }
        }
    };
}

calls! {
    host {
        /// Read a file.
        Read = "read",
        /// List a folder.
        List = "list",
        /// Read a symbolic link.
        ReadLink = "read_link",
        /// Ask whether a path exists.
        Exists = "exists",
        /// Ask whether a path could be written.
        Writable = "writable",
        /// Write to a file.
        Write = "write",
        /// Make a folder.
        MakeDir = "make_dir",
        /// Remove a folder.
        RemoveDir = "remove_dir",
        /// Make a folder of one's own, and lock it.
        LockFolder = "lock_folder",
        /// Replace a file whole.
        Save = "save",
        /// Remove a file.
        RemoveFile = "remove_file",
        /// Open a file that delivers as it comes, and read it.
        OpenStream = "open_stream",
        /// Wait for something to read.
        WaitStreams = "wait_streams",
        /// Open a file that is kept open.
        OpenKept = "open_kept",
        /// CPU time of the calling thread.
        ThreadCpuTime = "thread_cpu_time",
        /// CPU time of another thread of this process.
        CpuTimeOf = "cpu_time_of",
        /// CPU time of this process.
        ProcessCpuTime = "process_cpu_time",
        /// Sleep to an absolute time.
        SleepUntil = "sleep_until",
        /// Rate of the cycle-like counter.
        CounterHz = "counter_hz",
        /// The CPU under the calling thread.
        CurrentCpu = "current_cpu",
        /// Set the calling thread's affinity.
        AffinitySet = "affinity_set",
        /// Read the calling thread's affinity.
        AffinityGet = "affinity_get",
        /// Set the calling thread's scheduling class.
        SchedulingSet = "scheduling_set",
        /// Read the calling thread's scheduling class.
        SchedulingGet = "scheduling_get",
        /// Set the calling thread's utilisation clamps.
        UtilizationClampSet = "utilization_clamp_set",
        /// Lock the process's memory.
        LockMemory = "lock_memory",
        /// Unlock the process's memory.
        UnlockMemory = "unlock_memory",
        /// Bring the program's code into memory.
        LoadProgram = "load_program",
        /// Touch the calling thread's stack.
        PrefaultStack = "prefault_stack",
        /// Resource usage of the calling thread.
        Usage = "usage",
        /// Open the scheduler's statistics of a thread.
        Schedstat = "schedstat",
        /// Set the calling thread's timer slack.
        TimerSlackSet = "timer_slack_set",
        /// Read the calling thread's timer slack.
        TimerSlackGet = "timer_slack_get",
        /// Install the handlers of SIGINT and SIGTERM.
        CatchInterrupts = "catch_interrupts",
        /// Start a child process.
        Spawn = "spawn",
        /// Open the cycle counters.
        OpenCycles = "open_cycles",
        /// CPU times of the whole machine.
        CpuTimes = "cpu_times",
        /// Give the kernel a program, and talk to it.
        Bpf = "bpf",
        /// Ask for a bounded latency of idle states.
        HoldIdleLatency = "hold_idle_latency",
        /// Make a bell between threads.
        Bell = "bell",
        /// Wait for a bell or a visitor.
        WaitBell = "wait_bell",
        /// Listen at a control socket.
        Listen = "listen",
        /// Ask at a control socket.
        Ask = "ask",
        /// Tell the service manager.
        Notify = "notify",
        /// Open a thread of a process.
        OpenTask = "open_task",
        /// Read the lower utilisation clamp of a thread.
        LeastUtilization = "least_utilization",
        /// Set the lower utilisation clamp of a thread.
        LeastUtilizationSet = "least_utilization_set",
        /// Read what a fair thread has of its CPU.
        FairShare = "fair_share",
        /// Set what a fair thread has of its CPU.
        FairShareSet = "fair_share_set",
        /// Watch when a thread runs.
        WatchSwitches = "watch_switches",
        /// Wait for records of threads, or for their end.
        WaitTasks = "wait_tasks",
        /// Start a process that outlives this one.
        SpawnDetached = "spawn_detached",
    }
    child {
        /// Wait for a child process.
        Wait = "wait",
        /// Kill a child process.
        Kill = "kill",
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Call {
    type Err = String;

    /// Accepts the names of [`Call::name`] and the short forms `sched_set`, `sched_get`.
    fn from_str(text: &str) -> Result<Call, String> {
        let name = match text {
            "sched_set" => "scheduling_set",
            "sched_get" => "scheduling_get",
            other => other,
        };
        Call::ALL.iter().copied().find(|call| call.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Call::ALL.iter().map(|call| call.name()).collect();
            format!("one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_call() {
        for &call in Call::ALL {
            assert_eq!(call.name().parse(), Ok(call));
        }
        assert_eq!("sched_set".parse(), Ok(Call::SchedulingSet));
        assert!("reed".parse::<Call>().unwrap_err().contains("read"));
    }
}
