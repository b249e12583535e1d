//! Whether the cores deliver what is held: measured, because sysfs shows what was asked for.

use flyball_control::Plan;
use flyball_host::{Host, Topology};
use flyball_units::{CpuId, CpuSet};
use serde::Serialize;

/// At most so many clock domains are looked at, spread over all: each takes some 0.15 s.
const DOMAINS: usize = 8;
/// What is further off, in thousandths, is another frequency: operating points are further apart,
/// the probe is exact to 10 (on a virtual board 40).
const TOLERANCE_PERMILLE: u64 = 50;

/// What one CPU delivers while it is busy.
#[derive(Clone, Debug, Serialize)]
pub struct Delivered {
    /// The CPU.
    pub cpu: CpuId,
    /// Its clock domain.
    pub policy: u32,
    /// What was measured.
    pub khz: Option<u64>,
    /// What it is held at.
    pub pinned_khz: Option<u64>,
    /// Whether they agree.
    pub verdict: Verdict,
    /// Why nothing is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Whether a CPU delivers the frequency that it is held at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Within a twentieth.
    Agrees,
    /// Further off.
    Differs,
    /// It is held at no single frequency, or the probe gives none.
    Unknown,
}

/// Measures one CPU of each clock domain, of eight at most. What cannot be measured says why: a hold
/// does not fail by it.
pub fn delivered(host: &dyn Host, plan: &Plan) -> Vec<Delivered> {
    let step = plan.domains.len().div_ceil(DOMAINS).max(1);
    let topology = Topology::discover(host);
    let allowed = host.affinity_get().unwrap_or_default();
    plan.domains
        .iter()
        .step_by(step)
        .filter_map(|domain| {
            let cpu = domain.cpus.iter().find(|cpu| allowed.contains(*cpu))?;
            let mut one = Delivered {
                cpu,
                policy: domain.policy,
                khz: None,
                pinned_khz: domain.pinned.map(|khz| khz.0),
                verdict: Verdict::Unknown,
                note: String::new(),
            };
            let topology = match &topology {
                Ok(topology) => topology,
                Err(error) => return Some(Delivered { note: error.to_string(), ..one }),
            };
            match flyball_probe::delivered(host, topology, &CpuSet::from(cpu)) {
                Err(error) => one.note = error.to_string(),
                Ok(seen) => {
                    one.khz = seen.first().and_then(|seen| seen.khz).map(|khz| khz.0);
                    one.verdict = verdict(one.khz, one.pinned_khz);
                    if one.khz.is_none() {
                        one.note = "this core's cycles per multiplication are unknown, or it is \
                                    disturbed too much"
                            .to_owned();
                    }
                }
            }
            Some(one)
        })
        .collect()
}

/// What the cores deliver, a line each; `quiet` leaves out what is as it should be.
pub fn lines(all: &[Delivered], quiet: bool) -> Vec<String> {
    let line = |one: &Delivered| {
        let cpu = one.cpu;
        match (one.verdict, one.khz, one.pinned_khz) {
            (Verdict::Differs, Some(khz), Some(pinned)) => Some(format!(
                "warning: {cpu}: expected {} MHz, found {} MHz delivered",
                pinned / 1_000,
                khz / 1_000
            )),
            (verdict, Some(khz), _) if !quiet => {
                let how = if verdict == Verdict::Agrees { ", as asked for" } else { "" };
                Some(format!("{cpu}: delivers {} MHz{how}", khz / 1_000))
            }
            (Verdict::Unknown, None, Some(_)) if !quiet => {
                Some(format!("note: {cpu}: what it delivers is not known: {}", one.note))
            }
            _ => None,
        }
    };
    all.iter().filter_map(line).collect()
}

fn verdict(found: Option<u64>, pinned: Option<u64>) -> Verdict {
    let (Some(found), Some(pinned)) = (found, pinned) else { return Verdict::Unknown };
    match found.abs_diff(pinned).saturating_mul(1_000) <= pinned.saturating_mul(TOLERANCE_PERMILLE)
    {
        true => Verdict::Agrees,
        false => Verdict::Differs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_agrees_within_a_twentieth() {
        assert_eq!(verdict(Some(2_290_000), Some(2_400_000)), Verdict::Agrees);
        assert_eq!(verdict(Some(2_270_000), Some(2_400_000)), Verdict::Differs);
        assert_eq!(verdict(Some(2_600_000), Some(2_400_000)), Verdict::Differs);
        assert_eq!(verdict(None, Some(2_400_000)), Verdict::Unknown);
        assert_eq!(verdict(Some(1), None), Verdict::Unknown);
    }
}
