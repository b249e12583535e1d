//! A platform as a board: which CPUs share a P-state, how fast each P-state is, and what of the
//! description a board does not have.

use crate::arch::Arch;
use crate::error::{BoardError, Result};
use flyball_platform::{ClockDomain, Cost, FrequencyControl, Platform};
use flyball_units::Nanos;

/// Guest instructions per cycle of a CPU whose work per cycle is 1: what an emulator on an ordinary
/// computer can keep up with for a few CPUs of 3 GHz.
pub const USUAL_IPC: f64 = 0.06;

/// Millions of guest instructions per second that all CPUs together may ask for, busy at their
/// highest frequency. Emulators on two ordinary cores reach about 1000.
pub const USUAL_BUDGET_MIPS: f64 = 800.0;

/// The most CPUs that the plugin has room for.
pub const MAX_CPUS: usize = 64;

/// What the tables of an architecture have room for.
struct Room {
    states: usize,
    mhz: u64,
}

/// A platform, ready to be built as a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The platform's name.
    pub name: String,
    /// Its architecture.
    pub arch: Arch,
    /// Number of CPUs.
    pub cpus: usize,
    /// CPUs that share a P-state, in the order of the platform's clock domains.
    pub policies: Vec<Policy>,
    /// What the platform says and the board does not have.
    pub differences: Vec<String>,
}

/// CPUs that share a P-state.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The clock domain's name.
    pub name: String,
    /// Its CPUs, ascending.
    pub cpus: Vec<u32>,
    /// Capacity of each of them on the kernel's scale.
    pub capacity: u32,
    /// Guest instructions per cycle.
    pub ipc: f64,
    /// P-states, the fastest first: number 0 is the fastest, as in ACPI.
    pub states: Vec<State>,
    /// The transition latency that the driver gets.
    pub latency: Nanos,
}

/// A P-state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// What the kernel calls it, in MHz.
    pub mhz: u32,
    /// The clock that it runs at, in kHz; less than its name for clock modulation.
    pub speed_khz: u64,
    /// Power of one busy CPU, in milliwatts.
    pub power_mw: f64,
}

impl Machine {
    /// The board of `platform`. `ipc` sets the guest instructions per cycle of a CPU whose work per
    /// cycle is 1; without it [`USUAL_IPC`], or less where all CPUs together would then ask for more
    /// than [`USUAL_BUDGET_MIPS`].
    ///
    /// # Errors
    /// A platform whose hardware chooses the frequency by itself, that has more CPUs or P-states
    /// than the board has room for, or CPUs of different capacity in one clock domain.
    pub fn new(platform: &Platform, arch: Arch, ipc: Option<f64>) -> Result<Machine> {
        if platform.cpus.len() > MAX_CPUS {
            let message =
                format!("expected at most {MAX_CPUS} CPUs, found {}", platform.cpus.len());
            return Err(BoardError::input(object(platform), message));
        }
        let ipc = match ipc {
            Some(ipc) if ipc > 0.0 && ipc <= 10.0 => ipc,
            Some(ipc) => {
                let message = format!("expected more than 0 and at most 10, found {ipc}");
                return Err(BoardError::input("instructions per cycle", message));
            }
            None => usual_ipc(platform),
        };
        let policies = platform
            .domains
            .iter()
            .map(|domain| policy(platform, domain, arch, ipc))
            .collect::<Result<Vec<_>>>()?;
        let differences = differences(platform, arch);
        let (name, cpus) = (platform.name.clone(), platform.cpus.len());
        Ok(Machine { name, arch, cpus, policies, differences })
    }

    /// Millions of instructions per second that all CPUs ask for when busy at the top.
    pub fn budget_mips(&self) -> f64 {
        let of = |policy: &Policy| policy.top_mips() * policy.cpus.len() as f64;
        self.policies.iter().map(of).sum()
    }

    /// The policy of a CPU.
    pub fn policy(&self, cpu: u32) -> Option<(usize, &Policy)> {
        self.policies.iter().enumerate().find(|(_, policy)| policy.cpus.contains(&cpu))
    }
}

impl Policy {
    /// Its lowest CPU: cpufreq's directory is `policy` and this number.
    pub fn first(&self) -> u32 {
        self.cpus.first().copied().unwrap_or_default()
    }

    /// Millions of instructions per second of one CPU in the fastest state.
    pub fn top_mips(&self) -> f64 {
        self.states.first().map_or(0.0, |state| self.mips(state))
    }

    /// Millions of instructions per second of one CPU in the slowest state.
    pub fn lowest_mips(&self) -> f64 {
        self.states.last().map_or(0.0, |state| self.mips(state))
    }

    fn mips(&self, state: &State) -> f64 {
        self.ipc * state.speed_khz as f64 / 1000.0
    }
}

/// The architecture that `platform` says, else the one that can express it: only 64-bit ARM tells a kernel of CPUs that differ
/// in capacity, and of power.
pub fn arch_for(platform: &Platform) -> Arch {
    if let Some(architecture) = platform.architecture {
        return architecture.into();
    }
    let unequal = !platform.capacities_equal();
    let energy = platform
        .domains
        .iter()
        .any(|domain| domain.opps.as_slice().iter().any(|opp| opp.inefficient));
    if unequal || energy { Arch::Aarch64 } else { Arch::X86_64 }
}

fn object(platform: &Platform) -> String {
    format!("platform {}", platform.name)
}

/// Guest instructions per cycle of a CPU whose work per cycle is 1 that an emulator on an ordinary
/// computer keeps up with on all CPUs of `platform`: [`USUAL_IPC`] for a few, less for many.
pub fn usual_ipc(platform: &Platform) -> f64 {
    let mhz_of_work: f64 = platform
        .cpus
        .iter()
        .map(|cpu| {
            let domain = platform.domains.get(cpu.domain);
            let top = domain.and_then(|domain| domain.points.last());
            cpu.work_per_cycle * top.map_or(0.0, |point| point.effective.0 as f64 / 1000.0)
        })
        .sum();
    // Rounded down to a thousandth: a figure that can be said and typed again.
    let fits = USUAL_BUDGET_MIPS / mhz_of_work.max(1.0);
    if fits < USUAL_IPC { (fits * 1000.0).floor().max(1.0) / 1000.0 } else { USUAL_IPC }
}

fn policy(platform: &Platform, domain: &ClockDomain, arch: Arch, ipc: f64) -> Result<Policy> {
    let object = format!("{}, clock domain {}", object(platform), domain.name);
    if let FrequencyControl::Demand { .. } = domain.control {
        return Err(BoardError::input(
            object,
            "expected a frequency that the operating system chooses, found hardware that does",
        )
        .with_hint("a board needs a platform that a governor drives, such as board-x86"));
    }
    let cores: Vec<_> =
        domain.cpus.iter().filter_map(|id| platform.cpus.get(id.0 as usize)).collect();
    let (Some(first), Some(top)) = (cores.first(), domain.points.last()) else {
        return Err(BoardError::input(object, "expected CPUs and operating points, found none"));
    };
    if let Some(other) = cores.iter().find(|cpu| cpu.capacity != first.capacity) {
        let message = format!(
            "expected CPUs of one capacity, found {} on {} and {} on {}",
            first.capacity.0, first.id, other.capacity.0, other.id
        );
        return Err(BoardError::input(object, message));
    }
    let room = match arch {
        Arch::X86_64 => Room { states: 64, mhz: u64::from(u32::MAX) / 1000 },
        // Rows of the table, and bits of a row's frequency (drivers/cpufreq/mediatek-cpufreq-hw.c).
        Arch::Aarch64 => Room { states: 32, mhz: 4095 },
    };
    if domain.points.len() > room.states {
        let found = domain.points.len();
        let message = format!("expected at most {} operating points, found {found}", room.states);
        return Err(BoardError::input(object, message));
    }
    if top.frequency.0 / 1000 > room.mhz {
        let found = top.frequency.0 / 1000;
        let message = format!("expected at most {} MHz on {arch}, found {found}", room.mhz);
        return Err(BoardError::input(object, message));
    }
    let states: Vec<State> = domain
        .points
        .iter()
        .rev()
        .map(|point| State {
            mhz: u32::try_from((point.frequency.0 + 500) / 1000).unwrap_or(u32::MAX),
            speed_khz: point.effective.0,
            power_mw: point.busy_power_mw,
        })
        .collect();
    if let Some(pair) = states.windows(2).find(|pair| pair[0].mhz == pair[1].mhz) {
        let message =
            format!("expected points that differ in whole MHz, found {} twice", pair[0].mhz);
        return Err(BoardError::input(object, message));
    }
    Ok(Policy {
        name: domain.name.clone(),
        cpus: domain.cpus.iter().map(|id| id.0).collect(),
        capacity: first.capacity.0,
        // A millionth is far below what matters, and prints as what it is.
        ipc: (ipc * first.work_per_cycle * 1e6).round() / 1e6,
        states,
        latency: domain.transition.declared_latency.unwrap_or(Nanos::from_micros(100)),
    })
}

fn differences(platform: &Platform, arch: Arch) -> Vec<String> {
    let mut list = Vec::new();
    let mut say = |text: &str| list.push(text.to_owned());
    let any = |test: fn(&ClockDomain) -> bool| platform.domains.iter().any(test);
    let costs = |domain: &ClockDomain| {
        let free = |cost: &Cost| *cost == Cost::Constant(Nanos::ZERO);
        let cost = &domain.transition;
        !(free(&cost.write) && free(&cost.stall) && free(&cost.effect)) || cost.grid.is_some()
    };
    if any(costs) {
        say("a switch of frequency acts at once and costs nothing on the board");
    }
    if any(|domain| domain.idle.len() > 1) {
        say("the board has no idle states: an idle CPU waits for an interrupt");
    }
    if platform.cpus.iter().any(|cpu| !cpu.siblings.is_empty()) {
        say("threads of one core are whole CPUs on the board");
    }
    match arch {
        Arch::X86_64 => {
            if any(|domain| domain.frequency_invariant) {
                say("utilisation is not frequency-invariant on the board's x86");
            }
            let first = platform.cpus.first();
            if platform.cpus.iter().any(|cpu| Some(cpu.capacity) != first.map(|cpu| cpu.capacity)) {
                say("the kernel takes all CPUs of an x86 board as equal in capacity");
            }
        }
        Arch::Aarch64 => {
            if any(|domain| !domain.frequency_invariant) {
                say("utilisation is frequency-invariant on the board's aarch64");
            }
        }
    }
    if any(|domain| !domain.fast_switch) {
        say("the board's driver switches from within the scheduler");
    }
    if any(|domain| domain.points.iter().any(|point| point.frequency.0 % 1000 != 0)) {
        say("frequencies are whole MHz on the board");
    }
    list
}
