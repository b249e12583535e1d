//! What can be changed on this machine, the smallest kind first, each in levels.

use crate::change::{Candidate, Change, Kind};
use flyball_control::preflight;
use flyball_host::{Host, Policy, Topology};
use flyball_lab::experiment::{Class, Condition, Placement};
use flyball_qos::{By, backend};
use flyball_units::{CpuId, KiloHertz};
use serde::Serialize;

/// The largest utilisation.
const FULL: u32 = 1024;

/// More levels of a kind than this cost time and tell little.
const LEVELS: usize = 5;

/// A kind of change and its levels, from the weakest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// The kind.
    pub kind: Kind,
    /// Its levels; at least one.
    pub levels: Vec<Change>,
}

impl Rung {
    /// The strongest level.
    pub fn top(&self) -> Option<&Change> {
        self.levels.last()
    }
}

/// A kind of change that this machine or this process cannot make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// The kind.
    pub kind: Kind,
    /// Why.
    pub why: String,
}

/// All that can be tried, the smallest kind first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ladder {
    /// What can be.
    pub rungs: Vec<Rung>,
    /// What cannot.
    pub unavailable: Vec<Unavailable>,
    /// CPUs that work may be moved to, with their policies.
    pub(crate) moves: Vec<(CpuId, u32)>,
}

impl Ladder {
    /// What can be tried for work that runs mostly on `home` under the condition `base`. What would
    /// be refused is asked before: nothing is changed.
    pub fn of(host: &dyn Host, topology: &Topology, base: &Condition, home: CpuId) -> Ladder {
        let mut ladder = Ladder::default();
        let policy = topology.policy(home);
        let faster = faster(topology, base, home);
        for change in faster.iter().flatten() {
            if let Change::Placement { cpu } = change
                && let Some(policy) = topology.policy(*cpu)
            {
                ladder.moves.push((*cpu, policy.id));
            }
        }
        let rungs = [
            (Kind::Ramp, ramp(host, base)),
            (Kind::Uclamp, uclamp(host, topology, base, policy)),
            (Kind::MinFrequency, min_frequency(base, policy, home)),
            (Kind::IdleLatency, idle(host, topology, base, home)),
            (Kind::Preference, preference(base, policy, home)),
            (Kind::Placement, faster),
            (Kind::Governor, governor(base, policy, home)),
        ];
        for (kind, levels) in rungs {
            let allowed = levels.and_then(|levels| allowed(host, base, levels));
            match allowed {
                Ok(levels) => ladder.rungs.push(Rung { kind, levels }),
                Err(why) => ladder.unavailable.push(Unavailable { kind, why }),
            }
        }
        ladder
    }

    /// The strongest level of everything together, as far as they go together: the governor
    /// `performance` leaves nothing to a limit or a preference, and a clamp of everything nothing to a ramp.
    pub fn all(&self) -> Candidate {
        let has = |kind: Kind| self.rungs.iter().any(|rung| rung.kind == kind);
        let moot = |kind: Kind| match kind {
            Kind::MinFrequency | Kind::Preference => has(Kind::Governor),
            Kind::Ramp => has(Kind::Uclamp),
            _ => false,
        };
        let tops = self.rungs.iter().filter(|rung| !moot(rung.kind)).filter_map(Rung::top);
        let mut changes: Vec<Change> = tops.cloned().collect();
        // The clock domain that counts is the one that the work was moved to.
        let moved = changes.iter().find_map(|change| match change {
            Change::Placement { cpu } => Some(*cpu),
            _ => None,
        });
        let to = moved.and_then(|cpu| self.moves.iter().find(|to| to.0 == cpu));
        if let Some(&(cpu, id)) = to {
            for change in &mut changes {
                if let Change::Governor { policy, cpu: of, .. } = change {
                    (*policy, *of) = (id, cpu);
                }
            }
        }
        Candidate { changes }
    }
}

/// Refuses what the machine or the kernel would refuse.
fn allowed(host: &dyn Host, base: &Condition, levels: Vec<Change>) -> Result<Vec<Change>, String> {
    let Some(top) = levels.last() else { return Err("no level of it".to_owned()) };
    let condition = Candidate::of(top.clone()).condition(base);
    match condition.held().map(|settings| preflight(host, &settings)) {
        Some(Err(error)) => Err(error.to_string()),
        Some(Ok(_)) | None => Ok(levels),
    }
}

/// Evenly chosen, the last one always.
fn thin<T: Clone>(all: &[T]) -> Vec<T> {
    if all.len() <= LEVELS {
        return all.to_vec();
    }
    let pick = |at: usize| all.get((at + 1) * all.len() / LEVELS - 1).cloned();
    (0..LEVELS).filter_map(pick).collect()
}

/// The operating points above the lowest limit in force, as far as the driver lists them; quarters
/// of the range where it does not.
fn points(policy: &Policy) -> Vec<KiloHertz> {
    let (Some(low), Some(high)) =
        (policy.min_khz.or(policy.hardware_min_khz), policy.max_khz.or(policy.hardware_max_khz))
    else {
        return Vec::new();
    };
    let mut points: Vec<KiloHertz> = match policy.available_khz.is_empty() {
        true => (1..=4).map(|k| KiloHertz(low.0 + (high.0 - low.0.min(high.0)) * k / 4)).collect(),
        false => policy.available_khz.clone(),
    };
    points.retain(|khz| *khz > low && *khz <= high);
    points.sort_unstable();
    points.dedup();
    points
}

/// Multipliers that the series advises, and beyond.
const RAMPS: [u32; 4] = [2, 4, 8, 16];

fn ramp(host: &dyn Host, base: &Condition) -> Result<Vec<Change>, String> {
    if base.settings.response_ramp.is_some() {
        return Err("the experiment sets it".to_owned());
    }
    if base.scheduling != Class::default() {
        return Err(format!("scheduling {}: clamps act on the class other", base.scheduling));
    }
    backend(host, By::Clamps).map_err(|error| error.to_string())?;
    Ok(RAMPS.map(|multiplier| Change::Ramp { multiplier }).to_vec())
}

fn uclamp(
    host: &dyn Host,
    topology: &Topology,
    base: &Condition,
    policy: Option<&Policy>,
) -> Result<Vec<Change>, String> {
    if base.scheduling != Class::default() {
        return Err(format!("scheduling {}: clamps act on the class other", base.scheduling));
    }
    let governors = topology.policies.iter().filter_map(|policy| policy.governor.as_deref());
    if !governors.into_iter().any(|governor| governor == "schedutil") {
        return Err("clamps act through the governor schedutil, which is not in force".to_owned());
    }
    // In a thread of its own, which then ends.
    let tried =
        std::thread::scope(|scope| scope.spawn(|| host.utilization_clamp_set(0, FULL)).join().ok());
    if let Some(Err(error)) = tried {
        return Err(error.to_string());
    }
    // What makes the fastest CPUs' clock reach each of their operating points.
    let largest = topology.policies.iter().max_by_key(|policy| policy.hardware_max_khz);
    let points = largest.or(policy).map(points).unwrap_or_default();
    let top = points.last().map_or(1, |khz| khz.0.max(1));
    let mut levels: Vec<u32> = points
        .iter()
        .map(|khz| (u64::from(FULL) * khz.0).div_ceil(top).min(u64::from(FULL)) as u32)
        .collect();
    if levels.is_empty() {
        levels = vec![256, 512, 768, FULL];
    }
    let least = base.settings.uclamp_min.unwrap_or(0);
    levels.retain(|level| *level > least);
    Ok(thin(&levels).into_iter().map(|least| Change::Uclamp { least }).collect())
}

const NO_CPUFREQ: &str = "no cpufreq: the kernel has no say in the frequency";

fn min_frequency(
    base: &Condition,
    policy: Option<&Policy>,
    home: CpuId,
) -> Result<Vec<Change>, String> {
    let policy = policy.ok_or(NO_CPUFREQ)?;
    if base.settings.frequency.or(base.settings.min).is_some() {
        return Err("the experiment sets the frequency".to_owned());
    }
    let change = |frequency| Change::MinFrequency { policy: policy.id, cpu: home, frequency };
    Ok(thin(&points(policy)).into_iter().map(change).collect())
}

fn idle(
    host: &dyn Host,
    topology: &Topology,
    base: &Condition,
    home: CpuId,
) -> Result<Vec<Change>, String> {
    if base.settings.idle_latency.is_some() {
        return Err("the experiment bounds them".to_owned());
    }
    let group = topology.idle.groups.iter().find(|group| group.cpus.contains(home));
    let group = group.ok_or("no idle states that the kernel chooses from")?;
    let used = group.states.iter().filter(|state| !state.disabled);
    let mut bounds: Vec<u32> =
        used.filter_map(|state| u32::try_from(state.latency_us).ok()).collect();
    bounds.sort_unstable();
    bounds.dedup();
    // The deepest is the baseline's; a bound below the shallowest allows none.
    bounds.pop();
    bounds.reverse();
    if bounds.last() != Some(&0) {
        bounds.push(0);
    }
    // In a thread of its own, so that nothing is held on.
    host.hold_idle_latency(flyball_units::Nanos::from_secs(2))
        .map_err(|error| error.to_string())?;
    Ok(thin(&bounds).into_iter().map(|us| Change::IdleLatency { us }).collect())
}

fn preference(
    base: &Condition,
    policy: Option<&Policy>,
    home: CpuId,
) -> Result<Vec<Change>, String> {
    const FASTER: [&str; 3] = ["balance_power", "balance_performance", "performance"];
    let policy = policy.ok_or(NO_CPUFREQ)?;
    let now = policy.energy_performance_preference.as_deref();
    let now = now.ok_or("the hardware takes no preference here")?;
    if base.settings.epp.is_some() || policy.governor.as_deref() == Some("performance") {
        return Err("it is set by the experiment or by the governor performance".to_owned());
    }
    let from = FASTER.iter().position(|name| *name == now).map_or(0, |at| at + 1);
    let offered = |name: &&&str| policy.available_preferences.iter().any(|it| it == **name);
    let faster = FASTER.iter().skip(from).filter(offered);
    let change =
        |name: &&str| Change::Preference { policy: policy.id, cpu: home, name: (*name).to_owned() };
    Ok(faster.map(change).collect())
}

/// A CPU of the fastest kind, not the first one, which has the interrupts.
fn faster(topology: &Topology, base: &Condition, home: CpuId) -> Result<Vec<Change>, String> {
    let fastest = topology.core_types.first().ok_or("the kinds of cores are not known")?;
    let usable = fastest.cpus.intersection(&topology.online);
    let cpu = usable.iter().find(|cpu| cpu.0 != 0).or_else(|| usable.iter().next());
    let cpu = cpu.ok_or("no CPU of the fastest kind is online")?;
    if base.placement == Placement::Cpus(home.into()) && usable.contains(home) {
        return Err(format!("{home} is of the fastest kind already"));
    }
    Ok(vec![Change::Placement { cpu }])
}

fn governor(base: &Condition, policy: Option<&Policy>, home: CpuId) -> Result<Vec<Change>, String> {
    const NAME: &str = "performance";
    let policy = policy.ok_or(NO_CPUFREQ)?;
    if base.settings.governor.is_some() || base.settings.frequency.is_some() {
        return Err("the experiment sets it".to_owned());
    }
    if policy.governor.as_deref() == Some(NAME) {
        return Err(format!("policy{} has {NAME} already", policy.id));
    }
    Ok(vec![Change::Governor { policy: policy.id, cpu: home, name: NAME.to_owned() }])
}
