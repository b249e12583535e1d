//! `[features]`: the response-time series, patch by patch.

use super::error::ScenarioError;
use super::keys;
use super::reader::Item;
use flyball_pelt::{Features, MigrationMargin, PeltMultiplier};

/// The kernel's features with the scenario's changes.
pub fn read(item: &Item<'_>, kernel: Features) -> Result<Features, ScenarioError> {
    let fields = item.fields(&[keys::FEATURES])?;
    let base = match fields.get("series").map(|item| item.boolean()).transpose()? {
        Some(true) => Features::SERIES,
        Some(false) => Features::STOCK,
        None => kernel,
    };
    let margins = [
        ("fixed", MigrationMargin::Fixed),
        ("series", MigrationMargin::SeriesAsPosted),
        ("series-scaled", MigrationMargin::SeriesScaledByCapacity),
    ];
    let pelt_multiplier = match fields.get("pelt_multiplier") {
        None => base.pelt_multiplier,
        Some(item) => match item.integer(1..=4)? {
            1 => PeltMultiplier::X1,
            2 => PeltMultiplier::X2,
            4 => PeltMultiplier::X4,
            _ => return Err(item.expected("1, 2 or 4")),
        },
    };
    let default_multiplier = i64::from(base.default_rampup_multiplier);
    let default_multiplier =
        fields.integer_or("default_rampup_multiplier", default_multiplier, 0..=16)? as u32;
    let mut features = base
        .migration_margin(fields.choice_or("migration_margin", base.migration_margin, &margins)?)
        .pelt_multiplier(pelt_multiplier)
        .default_rampup_multiplier(default_multiplier);
    for (key, flag) in [
        ("headroom_from_delay", &mut features.headroom_from_delay),
        ("response_time", &mut features.response_time),
        ("util_est_ramp_up", &mut features.util_est_ramp_up),
        ("util_est_ramp_up_transient_only", &mut features.util_est_ramp_up_transient_only),
        ("waiting_avg", &mut features.waiting_avg),
        ("headroom_covers_waiting", &mut features.headroom_covers_waiting),
        ("no_headroom_when_falling", &mut features.no_headroom_when_falling),
        ("zero_multiplier_disables_util_est", &mut features.zero_multiplier_disables_util_est),
        ("fork_starts_at_zero", &mut features.fork_starts_at_zero),
    ] {
        if let Some(item) = fields.get(key) {
            *flag = item.boolean()?;
        }
    }
    Ok(features)
}
