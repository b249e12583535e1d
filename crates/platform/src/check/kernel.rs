//! Kernels.

use crate::error::Problem;
use crate::file::kernel::{
    IdleGovernorFile, IdleTickFile, KernelFile, MigrationMarginFile, Patches, RateLimitRuleFile,
    RulesFile, Series,
};
use crate::file::value::At;
use crate::model::{IdleGovernor, IdleTick, Kernel};
use flyball_pelt::{Features, MigrationMargin, PeltMultiplier};
use flyball_units::{KernelRule, KernelRules, KernelVersion, Nanos, RateLimitRule};

/// What rules on a kernel that does not say otherwise.
const DEFAULT_GOVERNOR: &str = "schedutil";

pub(super) fn build(name: String, file: KernelFile) -> Result<Kernel, Problem> {
    let hz = frequency(&file.clock.hz)?;
    let stat_hz = file.clock.stat_hz.as_ref().map_or(Ok(hz), frequency)?;
    let slice = &file.scheduler.slice_us;
    if slice.value.0 == Nanos::ZERO {
        return Err(Problem::at(&slice.span, "expected a slice above 0, found 0"));
    }
    if file.scheduler.energy_aware.value && !file.scheduler.capacity_aware {
        return Err(Problem::at(
            &file.scheduler.energy_aware.span,
            "expected capacity_aware where placement is energy_aware, found energy_aware alone",
        ));
    }
    let features = file.series.as_ref().map_or(Ok(Features::STOCK), features)?;
    let version = file.version.as_ref().map(version).transpose()?;
    let rules = version.map_or(KernelRules::NONE, KernelRules::of);
    let rules = file.rules.as_ref().map_or(Ok(rules), |exceptions| with(rules, exceptions))?;
    let sources = sources(&file);
    Ok(Kernel {
        name,
        title: file.title,
        notes: file.notes.trim().to_owned(),
        default_governor: file.default_governor.unwrap_or_else(|| DEFAULT_GOVERNOR.to_owned()),
        hz,
        stat_hz,
        idle_tick: match file.clock.idle_tick {
            IdleTickFile::Stops => IdleTick::Stops,
            IdleTickFile::Continues => IdleTick::Continues,
        },
        rate_limit_rule: match file.schedutil.as_ref().map(|table| table.rate_limit_rule) {
            Some(RateLimitRuleFile::UpTo6_8) => RateLimitRule::UpTo6_8,
            Some(RateLimitRuleFile::From6_9) => RateLimitRule::From6_9,
            Some(RateLimitRuleFile::From6_12) => RateLimitRule::From6_12,
            None => version.unwrap_or(KernelVersion::NEWEST).rate_limit_rule(),
        },
        rate_limit_us: file.schedutil.and_then(|table| table.rate_limit_us),
        uclamp: file.scheduler.uclamp,
        capacity_aware: file.scheduler.capacity_aware,
        energy_aware: file.scheduler.energy_aware.value,
        slice: slice.value.0,
        idle_governor: match file.idle.governor {
            IdleGovernorFile::None => IdleGovernor::None,
            IdleGovernorFile::Menu => IdleGovernor::Menu,
            IdleGovernorFile::Teo => IdleGovernor::Teo,
            IdleGovernorFile::Haltpoll => IdleGovernor::Haltpoll,
        },
        latency_limit: None,
        features,
        version,
        rules,
        sources,
    })
}

fn version(file: &At<String>) -> Result<KernelVersion, Problem> {
    file.value.parse().map_err(|error| Problem::at(&file.span, format!("{error}")))
}

/// `rules` with what a file adds and takes away.
fn with(rules: KernelRules, file: &RulesFile) -> Result<KernelRules, Problem> {
    let added = file.with.iter().map(|name| (name, true));
    let mut names = added.chain(file.without.iter().map(|name| (name, false)));
    names.try_fold(rules, |rules, (name, holds)| match name.value.parse::<KernelRule>() {
        Ok(rule) => Ok(rules.set(rule, holds)),
        Err(error) => {
            let problem = Problem::at(&name.span, error.to_string());
            Err(match error.nearest {
                Some(near) => problem.with_hint(format!("did you mean \"{near}\"?")),
                None => problem,
            })
        }
    })
}

fn sources(file: &KernelFile) -> Vec<(String, String)> {
    let groups = [
        ("rules", file.rules.as_ref().map(|table| &table.source)),
        ("clock", Some(&file.clock.source)),
        ("scheduler", Some(&file.scheduler.source)),
        ("idle", Some(&file.idle.source)),
        ("schedutil", file.schedutil.as_ref().map(|table| &table.source)),
        ("series", file.series.as_ref().map(|table| &table.source)),
    ];
    let path = |(path, source): (&str, Option<&crate::file::Source>)| {
        source.map(|source| (path.to_owned(), source.0.clone()))
    };
    groups.into_iter().filter_map(path).collect()
}

fn frequency(file: &At<u32>) -> Result<u32, Problem> {
    if (1..=100_000).contains(&file.value) {
        return Ok(file.value);
    }
    Err(Problem::at(&file.span, format!("expected 1 to 100000 Hz, found {}", file.value)))
}

fn features(file: &Series) -> Result<Features, Problem> {
    let rest = match file.patches {
        Patches::All => Features::SERIES,
        Patches::None => Features::STOCK,
    };
    let pelt_multiplier = match file.pelt_multiplier.as_ref().map(|m| (m.value, &m.span)) {
        None => rest.pelt_multiplier,
        Some((1, _)) => PeltMultiplier::X1,
        Some((2, _)) => PeltMultiplier::X2,
        Some((4, _)) => PeltMultiplier::X4,
        Some((other, span)) => {
            return Err(Problem::at(
                span,
                format!("expected a PELT multiplier of 1, 2 or 4, found {other}"),
            ));
        }
    };
    let margin = match file.migration_margin {
        None => rest.migration_margin,
        Some(MigrationMarginFile::Fixed) => MigrationMargin::Fixed,
        Some(MigrationMarginFile::AsPosted) => MigrationMargin::SeriesAsPosted,
        Some(MigrationMarginFile::ScaledByCapacity) => MigrationMargin::SeriesScaledByCapacity,
    };
    let default_rampup = file.default_rampup_multiplier.unwrap_or(rest.default_rampup_multiplier);
    let mut features = rest
        .migration_margin(margin)
        .pelt_multiplier(pelt_multiplier)
        .default_rampup_multiplier(default_rampup);
    for (flag, given) in [
        (&mut features.headroom_from_delay, file.headroom_from_delay),
        (&mut features.response_time, file.response_time),
        (&mut features.util_est_ramp_up, file.util_est_ramp_up),
        (&mut features.util_est_ramp_up_transient_only, file.util_est_ramp_up_transient_only),
        (&mut features.waiting_avg, file.waiting_avg),
        (&mut features.headroom_covers_waiting, file.headroom_covers_waiting),
        (&mut features.no_headroom_when_falling, file.no_headroom_when_falling),
        (&mut features.zero_multiplier_disables_util_est, file.zero_multiplier_disables_util_est),
        (&mut features.fork_starts_at_zero, file.fork_starts_at_zero),
    ] {
        *flag = given.unwrap_or(*flag);
    }
    Ok(features)
}
