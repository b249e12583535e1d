//! The CPU limit of this program's control group.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::fix;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let Some(limit) = &facts.surroundings.quota else { return Vec::new() };
    let (quota, period) = (limit.quota_us, limit.period_us);
    let ms = |us: u64| us as f64 / 1e3;
    let found = format!(
        "programs of this control group may run {} ms of each {} ms, all together",
        ms(quota),
        ms(period)
    );
    let waited = limit.throttled.filter(|&(throttled, _)| throttled > 0);
    let cpus = facts.allowed.len() as u64;
    let severity = match waited {
        Some(_) => Severity::Bad,
        None if quota >= period.saturating_mul(cpus) => Severity::Ok,
        None => Severity::Warn,
    };
    let found = match waited {
        Some((throttled, periods)) => {
            format!("{found}; they had to wait in {throttled} of {periods} periods")
        }
        None => found,
    };
    let folder = limit.file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let counted = limit.throttled.map(|(throttled, periods)| {
        (format!("{folder}/cpu.stat"), format!("nr_throttled {throttled}, nr_periods {periods}"))
    });
    let finding = Finding::new(Id::CpuQuota, severity, "machine", found)
        .seen(&limit.file, format!("{quota} of {period} us"))
        .seen_all(counted);
    vec![match severity {
        Severity::Ok => finding,
        _ => finding
            .effect(format!(
                "Who has used it up waits, for up to {} ms; at a low frequency it is used up sooner.",
                ms(period.saturating_sub(quota / cpus.max(1)))
            ))
            .fix(fix::tee(limit.unlimited, &limit.file))
            .lasting(
                "take it off where it comes from: the container's CPU limit, or CPUQuota= of a systemd unit",
            ),
    }]
}
