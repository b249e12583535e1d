//! How long programs of this one's control group may run: the CPU limit of a container or a service.

use super::tolerant::Tolerant;
use crate::{CGROUPS, Host, HostError, Membership};

/// A limit that holds for this program: its control group's, or that of one above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuQuota {
    /// The file that says so, and what has to be written there to take it off.
    pub file: String,
    /// See `file`.
    pub unlimited: &'static str,
    /// The time in each period, on all CPUs together, in us.
    pub quota_us: u64,
    /// In us.
    pub period_us: u64,
    /// In how many periods so far tasks had to wait, and of how many; none where nobody counts.
    pub throttled: Option<(u64, u64)>,
}

impl CpuQuota {
    /// All that hold for this program now. What makes no sense counts for none.
    pub fn all(host: &dyn Host) -> Vec<CpuQuota> {
        quotas(&Tolerant::new(host))
    }
}

/// The tightest limit of this program; none without one.
pub(super) fn quota(files: &Tolerant<'_>) -> Option<CpuQuota> {
    // A part of a CPU is compared, crosswise multiplied.
    let part = |limit: &CpuQuota, other: &CpuQuota| {
        u128::from(limit.quota_us) * u128::from(other.period_us)
    };
    quotas(files).into_iter().min_by(|a, b| part(a, b).cmp(&part(b, a)))
}

fn quotas(files: &Tolerant<'_>) -> Vec<CpuQuota> {
    let Some(groups) = files.name("/proc/self/cgroup") else { return Vec::new() };
    let limit = |group: Membership<'_>, path: &str| match group.controllers {
        "" => second(files, &format!("{CGROUPS}{path}")),
        _ if group.has("cpu") => first(files, &format!("{CGROUPS}/cpu{path}")),
        _ => None,
    };
    Membership::all(&groups)
        .flat_map(|group| above(group.path).filter_map(move |path| limit(group, path)))
        .collect()
}

/// A group's path and those above it, up to the empty one.
fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path.trim_end_matches('/')), |path| {
        path.rfind('/').map(|end| &path[..end])
    })
}

/// Version 2: `cpu.max` is `max 100000` or `50000 100000`.
fn second(files: &Tolerant<'_>, folder: &str) -> Option<CpuQuota> {
    let file = format!("{folder}/cpu.max");
    let text = files.name(&file)?;
    let mut words = text.split_whitespace();
    let (quota, period) = (words.next()?, words.next());
    if quota == "max" {
        return None;
    }
    let numbers = (quota.parse(), period.map(str::parse));
    let (Ok(quota_us), Some(Ok(period_us))) = numbers else {
        files.keep(HostError::malformed(&file, "`max` or a number, and a number", &text));
        return None;
    };
    let throttled = throttled(files, folder);
    Some(CpuQuota { file, unlimited: "max", quota_us, period_us, throttled })
}

/// Version 1: two files, and -1 for no limit.
fn first(files: &Tolerant<'_>, folder: &str) -> Option<CpuQuota> {
    let file = format!("{folder}/cpu.cfs_quota_us");
    let quota: i64 = files.number(&file)?;
    let quota_us = u64::try_from(quota).ok()?;
    let period_us = files.number(&format!("{folder}/cpu.cfs_period_us"))?;
    let throttled = throttled(files, folder);
    Some(CpuQuota { file, unlimited: "-1", quota_us, period_us, throttled })
}

/// What `cpu.stat` counts, in both versions.
fn throttled(files: &Tolerant<'_>, folder: &str) -> Option<(u64, u64)> {
    let text = files.quiet(&format!("{folder}/cpu.stat"))?;
    let count = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|count| count.trim().parse().ok())
    };
    Some((count("nr_throttled ")?, count("nr_periods ")?))
}
