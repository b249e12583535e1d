//! The names of all findings, and what each is about: the table in `docs/checking.md` comes from
//! here.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

/// A kind of finding.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its stable name.
    pub id: Id,
    /// The name as text.
    pub name: &'static str,
    /// What is looked at.
    pub looks_at: &'static str,
    /// What it does, and from when on it counts.
    pub means: &'static str,
}

macro_rules! catalogue {
    ($($variant:ident = $name:literal: $looks_at:literal; $means:literal)*) => {
        /// Stable name of a kind of finding. The order is that of importance among equals.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum Id {
            $(#[doc = $means] #[serde(rename = $name)] $variant,)*
        }

        /// All kinds of findings.
        pub const CATALOGUE: &[Entry] = &[$(Entry {
            id: Id::$variant, name: $name, looks_at: $looks_at, means: $means,
        },)*];
    };
}

catalogue! {
    GovernorRateLimit = "governor-rate-limit":
        "`rate_limit_us`, `sampling_rate` of the governor in use";
        "The least time between two changes of frequency. bad from 1 s on, warn from 10 ms on for schedutil and from 100 ms on for the others. 6442450 us is 1.5 x 4294967295 ns: since Linux 6.12 schedutil takes the declared latency x 1.5, and a driver that declares 4294967295 (CPUFREQ_ETERNAL, \"unknown\") gets 6.44 s. A declared latency of 0 gives 1 ms."
    CoreTypes = "core-types":
        "capacities, hybrid counters, highest frequencies; the CPUs that this process may use";
        "Different kinds of core in one measurement: the same code has two run times, and a mean of both describes neither. bad while a program started here may land on more than one kind."
    NoFrequencyControl = "no-cpufreq":
        "`cpufreq` without a policy";
        "The kernel has no say in the frequency. A note in a virtual machine, where the host decides; warn on hardware, where a driver is missing."
    FrequencyLimits = "frequency-limits":
        "`scaling_min_freq`, `scaling_max_freq`, `max_perf_pct` against the hardware's limits";
        "Somebody narrowed the range. bad where more than 10 % is missing at the top, warn below that; a raised minimum is a note."
    FirmwareLimit = "firmware-limit":
        "`bios_limit`";
        "The firmware forbids the top frequencies now (power supply, heat, settings). Linux can't lift it. bad from 10 % on."
    DeliveredFrequency = "delivered-frequency":
        "the frequency probe: a chain of multiplications, timed on every clock domain";
        "What a core delivers after a tenth of a second of work, beside what the kernel claims and what the policy allows. bad where 10 % or more is missing, warn from 3 % on and where CPUs of one kind differ by 5 %. In a virtual machine the claim is a constant: a note."
    Governor = "governor":
        "`scaling_governor`, and whether the driver or the hardware decides";
        "A governor answers load after the fact: whoever wakes up runs slowly first. bad for `powersave` where it means the lowest frequency; warn for those that follow load; ok for `performance`. On x86 without `aperfmperf` schedutil reckons from the present frequency: each decision asks for a quarter more at most, for real-time threads, too, which elsewhere begin at the top."
    Boost = "boost":
        "`intel_pstate/no_turbo`, `cpufreq/boost`, `policyN/boost`";
        "Above its base frequency a core is as fast as heat and its neighbours allow: good for latency, bad for repeating. warn while it is on."
    EnergyPreference = "energy-preference":
        "`energy_performance_preference` (EPP)";
        "Where hardware chooses the frequency, EPP says how eagerly. warn from `balance_power` on, note for `balance_performance`. Under `performance` it is fixed at 0, and other values are refused."
    EnergyBias = "energy-bias":
        "`cpuN/power/energy_perf_bias` (EPB)";
        "Older than EPP: how much speed the package may give up for power. warn above 6 and where nothing but EPB steers the hardware; else a note."
    PlatformProfile = "platform-profile":
        "`/sys/firmware/acpi/platform_profile`";
        "The firmware's own limits of power and heat. warn for `low-power`, `quiet` and `cool`."
    Battery = "battery":
        "mains of `/sys/class/power_supply`";
        "On battery, firmware and daemons lower limits and preferences without a trace in cpufreq. warn."
    Temperature = "temperature":
        "thermal zones and their trip points, cooling devices that slow CPUs";
        "bad while a cooling device holds CPUs back or a zone is within 5 degrees of a trip point; warn within 15."
    Throttled = "throttled":
        "`cpuN/thermal_throttle/*` (x86)";
        "Heat has slowed CPUs since boot: it will again under the same load. warn."
    PowerLimit = "power-limit":
        "`/sys/class/powercap/*/constraint_*`";
        "A long load is cut down to what this power sustains. warn where the limit is below the highest that the zone declares."
    FrequencyDaemon = "frequency-daemon":
        "names of processes, enabled services";
        "A program that changes governors, limits or boost behind a measurement's back. bad for those that react to load and heat every few seconds, warn for those that react to profiles or heat, note for those that act once."
    SchedulerExtension = "scheduler-extension":
        "`/sys/kernel/sched_ext/state`";
        "A scheduler loaded from BPF places tasks, and may set frequencies. warn."
    ResponseTime = "response-time":
        "`sched_util_clamp_min`, governors, `scaling_min_freq`, the journal of clamps";
        "How a program's demand can be answered faster here, or why not: ok. warn where a controller of clamps or limits was killed, and so was its guardian: threads may have clamps, slices and nice values of it still, and frequencies raised limits."
    IdleStates = "idle-states":
        "`cpuN/cpuidle/stateN/{latency,disable}`";
        "Leaving a deep idle state takes up to its exit latency, at each wake-up after a pause. warn above 20 us, note above 2 us."
    IdleLatencyHeld = "idle-latency-held":
        "open files of all processes, `pm_qos_resume_latency_us`";
        "Somebody forbids deep idle states while running (cyclictest does): what is measured meanwhile is better than what users get later. warn."
    IdleGovernor = "idle-governor":
        "`cpuidle/current_governor`";
        "Who guesses how long a pause will be. note for `ladder`, which goes deep step by step and is made for kernels with a periodic tick, and for `haltpoll`."
    Smt = "smt":
        "`smt/active`, siblings";
        "Two threads share the units of a core: whatever runs on the sibling slows the measured thread. warn; a note where both threads of the cores are set apart."
    Isolation = "isolation":
        "`isolated`";
        "No CPU is set apart, so any task may run where the measurement does. note."
    Tick = "tick":
        "`nohz_full` against `isolated`";
        "CPUs that are isolated and still get the periodic tick. note."
    Interrupts = "interrupts":
        "`/proc/irq/N/effective_affinity_list`, `/proc/interrupts`";
        "Interrupts that may arrive on CPUs set apart. warn where they did arrive, note where they only may."
    InterruptBalance = "irqbalance":
        "names of processes";
        "Interrupts move between CPUs every ten seconds, also onto the one that measures. warn; a note where CPUs are set apart, because it leaves those alone."
    CpuQuota = "cpu-quota":
        "`cpu.max` and `cpu.stat` of this program's control group and those above it (version 1: `cpu.cfs_quota_us`)";
        "The CPU limit of a container or a service: who has used it up waits for the next period, and the slower the CPU, the sooner that is. bad where somebody had to wait already, warn where the limit is less than the CPUs that may be used."
    StolenTime = "stolen-time":
        "steal in `/proc/stat`";
        "The hypervisor ran somebody else while a CPU here had work. warn from 1 % since boot on, note from 0.1 % on."
    OtherLoad = "other-load":
        "`/proc/loadavg`";
        "Other work competes for CPUs, caches, power and heat. warn from half a task or a tenth of the CPUs on, whichever is more."
    ClockSource = "clock-source":
        "`clocksource0/current_clocksource`";
        "Reading a slow clock (HPET, ACPI) takes a microsecond and a system call. warn on x86 where it is neither the TSC nor the hypervisor's own."
    NumaBalancing = "numa-balancing":
        "`kernel.numa_balancing`, number of nodes";
        "The kernel unmaps pages to see who uses them: page faults in the middle of a measurement. note."
    HugePages = "huge-pages":
        "`transparent_hugepage/enabled`";
        "With `always` a page fault may clear or compact 2 MB, some 0.1 ms and more. note; it costs one read to know, and shows as rare outliers that look like scheduling."
    Swap = "swap":
        "`/proc/meminfo`";
        "Memory of waiting programs has been swapped out: their next wake-up reads a disk. note while any is in use."
    RealTimeLimit = "real-time-limit":
        "`sched_rt_runtime_us`, `sched_rt_period_us`";
        "A real-time thread that never sleeps is stopped for the rest of each period (up to 6.11), or gives way to starving normal tasks (fair server, 6.12 and newer). note."
    TimerSlack = "timer-slack":
        "prctl(PR_GET_TIMERSLACK)";
        "Sleeps of normal threads end up to this much late, 50 us by default; real-time threads have none. note."
    NmiWatchdog = "nmi-watchdog":
        "`kernel.nmi_watchdog`";
        "Takes one hardware counter per CPU and sends an interrupt that nothing masks about every 10 s of work. note."
    SoftWatchdog = "soft-watchdog":
        "`kernel.soft_watchdog`, `watchdog_thresh`, `watchdog_cpumask`";
        "Wakes a thread of the highest class on each watched CPU every 2/5 of the threshold: 4 s. note; ok where the measuring CPUs are left out."
    DeclaredLatency = "declared-latency":
        "`cpuinfo_transition_latency`";
        "What a driver declares is a convention; where this kind of processor was measured, the figure is beside it. warn where \"eternal\" stands there and schedutil could be chosen, else a note."
    FrequencyDriver = "frequency-driver":
        "`scaling_driver`, `intel_pstate/status`, `amd_pstate/status`";
        "Who moves the clock, and in which mode: what the other names mean depends on it. note where a better driver is switched off on the kernel's command line."
    VirtualMachine = "virtual-machine":
        "CPU flags, DMI, device tree, clocks";
        "The host decides frequency, idle and when a CPU runs. note."
    Unreadable = "unreadable":
        "files that refuse to be read";
        "What stands there is unknown. note."
    Malformed = "malformed":
        "files whose content makes no sense";
        "What stands there is unknown, and the kernel or the recording is odd. warn."
}

impl Id {
    /// The entry of the catalogue.
    pub fn entry(self) -> Option<&'static Entry> {
        CATALOGUE.iter().find(|entry| entry.id == self)
    }

    /// The stable name.
    pub fn name(self) -> &'static str {
        self.entry().map_or("", |entry| entry.name)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The catalogue as a Markdown table.
pub fn table() -> String {
    let mut text = String::from("| finding | looks at | means |\n|---|---|---|\n");
    for entry in CATALOGUE {
        let _ = writeln!(text, "| `{}` | {} | {} |", entry.name, entry.looks_at, entry.means);
    }
    text
}
