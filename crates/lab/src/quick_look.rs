//! The quick look at delivered frequencies: under a second, a few CPUs.

use flyball_check::{Facts, Probe, ProbedCpu};
use flyball_host::{Host, HostKind};
use flyball_probe as probe;
use flyball_run::manifest::ProbeBasis;
use flyball_units::KiloHertz;

/// CPUs that are probed at most: 0.15 s each.
const MOST: usize = 5;

/// Probes this machine, or says why not, such as that the caller leaves it out.
pub fn quick_look(host: &dyn Host, facts: &Facts, left_out: Option<&str>) -> Probe {
    let skipped = |why: &str| Probe { cpus: Vec::new(), skipped: Some(why.to_owned()) };
    if let Some(why) = left_out {
        return skipped(why);
    }
    if host.kind() == HostKind::Recorded {
        return skipped("a recording delivers none");
    }
    match probe::delivered(
        host,
        &facts.topology,
        &probe::choose(&facts.topology, &facts.allowed, MOST),
    ) {
        Err(error) => skipped(&error.to_string()),
        Ok(seen) => {
            let unknown = seen.iter().all(|cpu| cpu.khz.is_none());
            let why = "the cycles of a multiplication are not known on these cores";
            Probe {
                cpus: seen.iter().map(|cpu| record(facts, cpu)).collect(),
                skipped: unknown.then(|| why.to_owned()),
            }
        }
    }
}

fn record(facts: &Facts, seen: &probe::Delivered) -> ProbedCpu {
    let kind = facts.topology.core_type(seen.cpu);
    ProbedCpu {
        cpu: seen.cpu.0,
        core_type: kind.map_or_else(|| "all".to_owned(), |kind| kind.name.clone()),
        delivered_khz: seen.khz.map(|KiloHertz(khz)| khz),
        claimed_khz: seen.claimed_khz.map(|KiloHertz(khz)| khz),
        basis: match seen.basis {
            ProbeBasis::Measured => "measured",
            ProbeBasis::Assumed => "assumed",
            ProbeBasis::Relative | ProbeBasis::Unknown => "relative",
        }
        .to_owned(),
        spread_permille: seen.spread.map(|spread| spread * 1e3),
        disturbed_permille: (seen.disturbed * 1e3).round() as u32,
    }
}
