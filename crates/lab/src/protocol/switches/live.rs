//! A clock domain of this machine. The governor `userspace` is told each level where the driver has
//! it; elsewhere the upper limit is moved over a governor that asks for it. `flyball_control` holds
//! what has to be set for that, with its journal, and restores it whatever happens.

use crate::protocol::switches::TransitionError;
use crate::protocol::switches::device::Device;
use flyball_control::{Hold, Machine, Plan as Steps, Settings, plan};
use flyball_host::{Host, Policy};
use flyball_probe::TOLERANCE;
use flyball_probe::board;
use flyball_run::manifest::BoardRecord;
use flyball_units::{CpuId, CpuSet, Frequency, KiloHertz, Mismatch, Nanos};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A loop takes at least this long, so that reading the clock is a small share of it.
const SHORTEST_LOOP: Nanos = Nanos(3_000);
/// Units between two looks at the clock while waiting.
const WAIT_UNITS: u64 = 256;

/// The machine, as far as switching needs it.
///
/// # Errors
/// Where the kernel says something that cannot be understood.
pub fn machine(host: &dyn Host) -> Result<Machine, TransitionError> {
    // Whatever is switched, the governor changes, and with it its tunables.
    let any = Settings { frequency: Some(Frequency::Max), ..Settings::default() };
    Machine::read(host, &any)
        .map_err(|source| TransitionError::Host { doing: "reading what can be switched", source })
}

/// How the levels of a domain are set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// The domain's number.
    pub policy: u32,
    /// The CPU that will write and work.
    pub cpu: CpuId,
    /// The levels to switch between, ascending.
    pub levels: Vec<KiloHertz>,
    /// The file that every switch writes.
    pub path: PathBuf,
    /// What is held meanwhile.
    pub request: Settings,
    /// The level that the hold itself sets.
    pub held: KiloHertz,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Control {
    /// How to switch the domain of `cpu` between `wanted`, or between all that it offers.
    ///
    /// # Errors
    /// A CPU without a clock domain, levels that it does not have, a driver that lists none.
    pub fn of(
        machine: &Machine,
        cpu: CpuId,
        wanted: &[KiloHertz],
    ) -> Result<Control, TransitionError> {
        let policy = machine.policies.iter().find(|policy| policy.cpus.contains(cpu));
        let Some(policy) = policy else {
            return Err(TransitionError::Unsupported(
                Mismatch::value(
                    "a clock domain of cpufreq",
                    "none: the kernel has no say in its frequency",
                )
                .at(format!("{cpu}"))
                .hint("try a model (model:NAME) or a virtual board (board:NAME)"),
            ));
        };
        let userspace = policy.available_governors.iter().any(|name| name == "userspace");
        let mut notes = Vec::new();
        let levels = levels(policy, wanted, userspace, &mut notes)?;
        let current = if userspace { policy.set_khz } else { policy.max_khz };
        // A level that has to be written: what the hold does not write, it does not restore.
        let other = levels.iter().rev().find(|level| Some(**level) != current);
        let held = other.or(levels.last()).copied().unwrap_or_default();
        let at = |khz: KiloHertz| Some(Frequency::At(khz));
        let domains_of = Some(CpuSet::from(cpu));
        let (file, request) = if userspace {
            (
                "scaling_setspeed",
                Settings { frequency: at(held), domains_of, ..Settings::default() },
            )
        } else {
            let offers = |name: &str| policy.available_governors.iter().any(|it| it == name);
            let governor = offers("performance").then(|| "performance".to_owned());
            let lowest = levels.first().copied().unwrap_or_default();
            notes.push(format!(
                "policy{} has no governor userspace: switches move its upper limit, which the kernel \
                 hands to a worker: the write may return before the hardware is asked",
                policy.id
            ));
            let (min, max) = (at(lowest), at(held));
            ("scaling_max_freq", Settings { governor, min, max, domains_of, ..Settings::default() })
        };
        let path = Path::new(&policy.path()).join(file);
        Ok(Control { policy: policy.id, cpu, levels, path, request, held, notes })
    }

    /// What the hold will write.
    ///
    /// # Errors
    /// What cannot be held.
    pub fn steps(&self, machine: &Machine) -> Result<Steps, TransitionError> {
        Ok(plan(&self.request, machine)?)
    }
}

fn levels(
    policy: &Policy,
    wanted: &[KiloHertz],
    userspace: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<KiloHertz>, TransitionError> {
    let list = |levels: &[KiloHertz]| {
        let each: Vec<String> =
            levels.iter().map(|khz| format!("{} MHz", khz.0 as f64 / 1e3)).collect();
        each.join(", ")
    };
    let object = || format!("levels of policy{}", policy.id);
    let mut offered: Vec<KiloHertz> =
        policy.available_khz.iter().chain(&policy.boost_khz).copied().collect();
    offered.sort_unstable();
    offered.dedup();
    let any = offered.is_empty();
    if any && wanted.is_empty() {
        let ends = [policy.hardware_min_khz, policy.hardware_max_khz];
        return Err(TransitionError::Unsupported(
            Mismatch::value("a list of frequencies that the driver offers", "none: it takes any")
                .at(object())
                .hint(format!(
                    "name some between {}, such as 1.2GHz and 2.4GHz",
                    list(&ends.into_iter().flatten().collect::<Vec<_>>())
                )),
        ));
    }
    let within = |khz: &KiloHertz| {
        policy.min_khz.is_none_or(|min| *khz >= min) && policy.max_khz.is_none_or(|max| *khz <= max)
    };
    let mut levels = if wanted.is_empty() { offered.clone() } else { wanted.to_vec() };
    if let Some(unknown) = levels.iter().find(|khz| !any && !offered.contains(khz)) {
        return Err(TransitionError::BadInput(
            Mismatch::value(list(&offered), list(&[*unknown])).at(object()),
        ));
    }
    // `userspace` cannot pass the limits; they are the user's.
    let outside: Vec<KiloHertz> =
        levels.iter().filter(|khz| userspace && !within(khz)).copied().collect();
    if !outside.is_empty() {
        notes.push(format!("policy{}: left out for its limits: {}", policy.id, list(&outside)));
        levels.retain(within);
    }
    levels.sort_unstable();
    levels.dedup();
    match levels.len() {
        0 | 1 => Err(TransitionError::BadInput(
            Mismatch::value(
                "two levels or more within its limits",
                if levels.is_empty() { "none".to_owned() } else { list(&levels) },
            )
            .at(object()),
        )),
        _ => Ok(levels),
    }
}

/// A clock domain of this machine whose levels are ours to set, until it is ended or dropped.
#[derive(Debug)]
pub struct Live {
    host: Arc<dyn Host>,
    control: Control,
    hold: Hold,
    board: Option<BoardRecord>,
}

impl Live {
    /// Takes the domain over and confines this thread to its CPU.
    ///
    /// # Errors
    /// Missing permission, or what the machine cannot do.
    pub fn start(
        host: &Arc<dyn Host>,
        folder: &Path,
        control: Control,
    ) -> Result<Live, TransitionError> {
        let hold = Hold::start(host, folder, &control.request)?;
        host.affinity_set(&CpuSet::from(control.cpu)).map_err(|source| TransitionError::Host {
            doing: "confining the work to its CPU",
            source,
        })?;
        let board = board::discover(host.as_ref());
        Ok(Live { host: Arc::clone(host), control, hold, board })
    }

    /// Restores everything; what was changed by others meanwhile.
    ///
    /// # Errors
    /// With every setting that is not as it was.
    pub fn end(self) -> Result<Vec<String>, TransitionError> {
        // What the hold had written, so that it does not take our own switches for somebody else's.
        let back = self.write(self.control.held);
        let ended = self.hold.end()?;
        back?;
        let told = ended.foreign.iter().map(|foreign| {
            format!("{}: somebody else had written {}", foreign.path.display(), foreign.found)
        });
        Ok(told.collect())
    }

    fn write(&self, to: KiloHertz) -> Result<(), TransitionError> {
        let written = self.host.write(&self.control.path, &to.0.to_string());
        written.map_err(|source| TransitionError::Host { doing: "switching the frequency", source })
    }
}

impl Device for Live {
    fn levels(&self) -> Vec<KiloHertz> {
        self.control.levels.clone()
    }

    fn domain(&self) -> String {
        format!("policy{}", self.control.policy)
    }

    fn cpu(&self) -> Option<u32> {
        Some(self.control.cpu.0)
    }

    fn now(&mut self) -> Nanos {
        self.host.now()
    }

    fn set(&mut self, to: KiloHertz) -> Result<(), TransitionError> {
        self.write(to)
    }

    fn work(&mut self, units: u64) {
        std::hint::black_box(self.host.multiply_chain(units));
    }

    fn busy_for(&mut self, time: Nanos) {
        let until = self.host.now() + time;
        while self.host.now() < until && self.host.interrupted() == 0 {
            self.work(WAIT_UNITS);
        }
    }

    /// On a board eight steps of its pacing at the highest speed, as for the frequency probe: shorter
    /// ones do not have the speed of their level.
    fn shortest_loop(&self) -> Nanos {
        let Some(board) = &self.board else { return SHORTEST_LOOP };
        let cpu = self.control.cpu.0;
        let policy = board.policies.iter().find(|policy| policy.cpus.contains(&cpu));
        let mips = policy.map_or(1.0, |policy| policy.highest_mips).max(1e-3);
        let instructions = board::chain(board).multiplies as f64;
        Nanos((instructions * 1e3 / mips) as u64).max(SHORTEST_LOOP)
    }

    fn loop_scatter(&self) -> f64 {
        // A loop of eight steps begins and ends anywhere in one.
        match &self.board {
            Some(_) => 1.0 / 8.0,
            None => TOLERANCE,
        }
    }

    fn interrupted(&self) -> bool {
        self.host.interrupted() > 0
    }
}

/// What a virtual board cannot show; nothing on other machines.
pub fn board_notes(host: &dyn Host) -> Vec<String> {
    let Some(board) = board::discover(host) else { return Vec::new() };
    let step = |mips: f64| board.step_instructions as f64 / mips.max(1e-3);
    let slowest = board.policies.iter().map(|policy| policy.lowest_mips).fold(f64::MAX, f64::min);
    let fastest = board.policies.iter().map(|policy| policy.highest_mips).fold(0.0, f64::max);
    vec![format!(
        "a virtual board: a P-state acts at once and stalls nothing, but speed is right over steps of \
         {} instructions only, {:.0} us at its highest and {:.0} us at its lowest speed. A transition \
         that is not longer than a loop is the board's pacing, no figure of a switch; writes are the \
         kernel's own path on an emulated CPU",
        board.step_instructions,
        step(fastest),
        step(slowest),
    )]
}
