//! `[features]`: the response-time series, patch by patch.

use super::error::ScenarioError;
use super::keys;
use super::reader::Item;
use flyball_pelt::{Features, MigrationMargin, PeltMultiplier};

/// The kernel's features with the scenario's changes.
pub fn read(item: &Item<'_>, kernel: Features) -> Result<Features, ScenarioError> {
    let fields = item.fields(&[keys::FEATURES])?;
    let flag = |key: &str, default: bool| fields.get(key).map_or(Ok(default), |i| i.boolean());
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
    let default_multiplier = i64::from(base.default_rampup_multiplier);
    Ok(Features {
        migration_margin: fields.choice_or("migration_margin", base.migration_margin, &margins)?,
        headroom_from_delay: flag("headroom_from_delay", base.headroom_from_delay)?,
        response_time: flag("response_time", base.response_time)?,
        pelt_multiplier: match fields.get("pelt_multiplier") {
            None => base.pelt_multiplier,
            Some(item) => match item.integer(1..=4)? {
                1 => PeltMultiplier::X1,
                2 => PeltMultiplier::X2,
                4 => PeltMultiplier::X4,
                _ => return Err(item.expected("1, 2 or 4")),
            },
        },
        util_est_ramp_up: flag("util_est_ramp_up", base.util_est_ramp_up)?,
        util_est_ramp_up_transient_only: flag(
            "util_est_ramp_up_transient_only",
            base.util_est_ramp_up_transient_only,
        )?,
        default_rampup_multiplier: fields.integer_or(
            "default_rampup_multiplier",
            default_multiplier,
            0..=16,
        )? as u32,
        waiting_avg: flag("waiting_avg", base.waiting_avg)?,
        headroom_covers_waiting: flag("headroom_covers_waiting", base.headroom_covers_waiting)?,
        no_headroom_when_falling: flag("no_headroom_when_falling", base.no_headroom_when_falling)?,
        zero_multiplier_disables_util_est: flag(
            "zero_multiplier_disables_util_est",
            base.zero_multiplier_disables_util_est,
        )?,
        fork_starts_at_zero: flag("fork_starts_at_zero", base.fork_starts_at_zero)?,
    })
}
