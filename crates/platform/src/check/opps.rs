//! Operating points and their power.

use crate::energy::{self, PowerFormula};
use crate::error::Problem;
use crate::file::platform::{Kind, Opps, Point, Power};
use crate::file::value::At;
use crate::model::{OperatingPoint, PointKind};
use flyball_units::{Capacity, KiloHertz, Opp, OppTable, OppTableError};

/// The governor's table and the points behind it, in the same order. Points are marked inefficient
/// where the kernel has an energy model, of CPUs of this `modelled` capacity.
pub(super) fn build(
    file: &Opps,
    power: Option<&Power>,
    modelled: Option<Capacity>,
) -> Result<(OppTable, Vec<OperatingPoint>), Problem> {
    let rows = &file.points.value;
    ascending(file)?;
    columns_have_sources(file)?;
    let formula = power.map(formula).transpose()?;
    let points = rows
        .iter()
        .map(|row| point(row, rows, formula.as_ref(), power))
        .collect::<Result<Vec<_>, _>>()?;
    power_rises(rows, &points)?;
    let model = modelled.map(|capacity| energy::energy_model(&points, capacity));
    let inefficient =
        |at: usize| model.as_ref().and_then(|rows| rows.get(at)).is_some_and(|row| row.inefficient);
    let opp = |(at, point): (usize, &OperatingPoint)| Opp {
        frequency: point.frequency,
        inefficient: inefficient(at),
    };
    let opps = points.iter().enumerate().map(opp);
    let table = OppTable::new(opps.collect()).map_err(|error: OppTableError| {
        Problem::at(&file.points.span, format!("expected operating points, found {error}"))
    })?;
    Ok((table, points))
}

fn ascending(file: &Opps) -> Result<(), Problem> {
    for pair in file.points.value.windows(2) {
        let [lower, higher] = pair else { continue };
        if higher.value.khz <= lower.value.khz {
            return Err(Problem::at(
                &higher.span,
                format!(
                    "expected operating points from low to high, found {} kHz after {} kHz",
                    higher.value.khz, lower.value.khz
                ),
            ));
        }
    }
    match file.points.value.iter().find(|row| !(1..=100_000_000).contains(&row.value.khz)) {
        Some(row) => Err(Problem::at(
            &row.span,
            format!("expected 1 to 100000000 kHz, found {}", row.value.khz),
        )),
        None => Ok(()),
    }
}

fn columns_have_sources(file: &Opps) -> Result<(), Problem> {
    let columns: [(&str, &str, bool, Option<&std::ops::Range<usize>>); 2] = [
        (
            "voltage",
            "`mv`",
            file.points.value.iter().any(|row| row.value.mv.is_some()),
            file.source.voltage.as_ref().map(|source| &source.span),
        ),
        (
            "power",
            "`busy_mw` or `idle_mw`",
            file.points
                .value
                .iter()
                .any(|row| row.value.busy_mw.is_some() || row.value.idle_mw.is_some()),
            file.source.power.as_ref().map(|source| &source.span),
        ),
    ];
    for (key, column, used, source) in columns {
        match (used, source) {
            (true, None) => {
                return Err(Problem::at(
                    &file.points.span,
                    format!("expected a source of the {key} ({column} of the points), found none"),
                )
                .with_hint(format!("source = {{ ..., {key} = \"...\" }}, or \"assumed: why\"")));
            }
            (false, Some(span)) => {
                return Err(Problem::at(
                    span,
                    format!("expected {column} in the points, found only their source"),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn formula(power: &Power) -> Result<PowerFormula, Problem> {
    if let Some(idle) = &power.idle_percent
        && idle.value.0 > 100.0
    {
        return Err(Problem::at(
            &idle.span,
            format!("expected at most 100 %, found {}", idle.value.0),
        ));
    }
    Ok(PowerFormula {
        coefficient_uw_per_mhz_v2: power
            .coefficient_uw_per_mhz_v2
            .as_ref()
            .map_or(0.0, |c| c.value.0),
        static_mw: power.static_mw.map_or(0.0, |power| power.0),
    })
}

fn point(
    row: &At<Point>,
    rows: &[At<Point>],
    formula: Option<&PowerFormula>,
    power: Option<&Power>,
) -> Result<OperatingPoint, Problem> {
    let file = &row.value;
    check_clock(row, rows)?;
    let effective = effective(row)?;
    let millivolts = file.mv.map(|mv| mv.0);
    let by_formula = || {
        let formula = formula
            .filter(|_| power.is_some_and(|power| power.coefficient_uw_per_mhz_v2.is_some()));
        formula.zip(millivolts).map(|(formula, millivolts)| formula.busy_mw(effective, millivolts))
    };
    let missing = |what: &str, how: &str| {
        Problem::at(&row.span, format!("expected {what}, found none for {} kHz", file.khz))
            .with_hint(how)
    };
    let busy = file.busy_mw.map(|busy| busy.0).or_else(by_formula).ok_or_else(|| {
        missing("`busy_mw`", "give busy_mw, or mv and domains.power.coefficient_uw_per_mhz_v2: nothing is interpolated")
    })?;
    let share = power
        .and_then(|power| power.idle_percent.as_ref())
        .map(|percent| busy * percent.value.0 / 100.0);
    let idle = file
        .idle_mw
        .map(|idle| idle.0)
        .or(share)
        .ok_or_else(|| missing("`idle_mw`", "give idle_mw, or domains.power.idle_percent"))?;
    if idle > busy {
        return Err(Problem::at(
            &row.span,
            format!("expected idle_mw of at most busy_mw ({busy}), found {idle}"),
        ));
    }
    let kind = match file.kind {
        Kind::Normal => PointKind::Normal,
        Kind::Boost => PointKind::Boost,
        Kind::Throttle => PointKind::Throttle,
    };
    Ok(OperatingPoint {
        frequency: KiloHertz(file.khz),
        effective,
        kind,
        millivolts,
        busy_power_mw: busy,
        idle_power_mw: idle,
    })
}

/// What software sees: what is listed, or less.
fn effective(row: &At<Point>) -> Result<KiloHertz, Problem> {
    let Point { khz, effective_khz, .. } = row.value;
    match effective_khz {
        None => Ok(KiloHertz(khz)),
        Some(effective) if (1..=khz).contains(&effective) => Ok(KiloHertz(effective)),
        Some(effective) => Err(Problem::at(
            &row.span,
            format!(
                "expected an effective speed of 1 to {khz} kHz, the point's, found {effective}"
            ),
        )),
    }
}

/// Throttle levels name the clock that they modulate; boost points lie above all others.
fn check_clock(row: &At<Point>, rows: &[At<Point>]) -> Result<(), Problem> {
    let Point { khz, kind, clock_khz, .. } = row.value;
    match (kind, clock_khz) {
        (Kind::Throttle, None) => {
            Err(Problem::at(&row.span, "expected `clock_khz` of a throttle level, found none")
                .with_hint("the frequency of the clock that is modulated"))
        }
        (Kind::Throttle, Some(clock)) => check_throttle(row, clock, rows),
        (_, Some(clock)) => Err(Problem::at(
            &row.span,
            format!(
                "expected `clock_khz` at points of kind \"throttle\" only, found {clock} at {khz} kHz"
            ),
        )),
        (Kind::Boost, None) => {
            let above = rows.iter().find(|o| o.value.khz > khz && o.value.kind != Kind::Boost);
            above.map_or(Ok(()), |other| {
                Err(Problem::at(
                    &row.span,
                    format!(
                        "expected boost points above all others, found {khz} kHz below {} kHz",
                        other.value.khz
                    ),
                ))
            })
        }
        (Kind::Normal, None) => Ok(()),
    }
}

/// A throttle level is slower than its clock, which is a point, and gains nothing in voltage.
fn check_throttle(row: &At<Point>, clock: u64, rows: &[At<Point>]) -> Result<(), Problem> {
    let Point { khz, mv, .. } = row.value;
    if clock <= khz {
        return Err(Problem::at(
            &row.span,
            format!("expected a throttle level below its clock of {clock} kHz, found {khz} kHz"),
        ));
    }
    let real = |o: &&At<Point>| o.value.khz == clock && o.value.kind != Kind::Throttle;
    let Some(real) = rows.iter().find(real) else {
        return Err(Problem::at(
            &row.span,
            format!("expected a clock that is an operating point itself, found {clock} kHz"),
        ));
    };
    match (mv, real.value.mv) {
        (Some(own), Some(of_clock)) if own != of_clock => Err(Problem::at(
            &row.span,
            format!("expected the voltage of its clock, {} mV, found {} mV", of_clock.0, own.0),
        )
        .with_hint("a throttled clock runs at its own voltage")),
        _ => Ok(()),
    }
}

fn power_rises(rows: &[At<Point>], points: &[OperatingPoint]) -> Result<(), Problem> {
    for (pair, row) in points.windows(2).zip(rows.iter().skip(1)) {
        let [lower, higher] = pair else { continue };
        if higher.busy_power_mw < lower.busy_power_mw {
            return Err(Problem::at(
                &row.span,
                format!(
                    "expected power that does not fall as speed rises, found {} mW at {} kHz after {} mW",
                    higher.busy_power_mw, higher.frequency.0, lower.busy_power_mw
                ),
            ));
        }
    }
    Ok(())
}
