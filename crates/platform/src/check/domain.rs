//! Clock domains: who is in them, transitions, idle states, control.

use super::{cpu_list, opps};
use crate::error::Problem;
use crate::file::platform::{Control, DomainFile, Idle, SharedBy, State, TransitionFile};
use crate::file::value::{At, CostValue};
use crate::model::{ClockDomain, Cost, FrequencyControl, IdleState, Transition};
use flyball_units::{Capacity, CpuId, Nanos};
use std::collections::BTreeSet;

/// The CPUs of each domain that a table describes.
pub(super) fn groups(
    file: &DomainFile,
    siblings: impl Fn(CpuId) -> Vec<CpuId>,
) -> Result<Vec<Vec<CpuId>>, Problem> {
    let cpus = cpu_list::parse(&file.cpus)?;
    Ok(match file.shared_by {
        SharedBy::All => vec![cpus],
        SharedBy::Cpu => cpus.into_iter().map(|cpu| vec![cpu]).collect(),
        SharedBy::Core => {
            let core = |cpu: CpuId| {
                let mut core: Vec<CpuId> = siblings(cpu).into_iter().chain([cpu]).collect();
                core.sort_unstable();
                core
            };
            cpus.into_iter().map(core).collect::<BTreeSet<_>>().into_iter().collect()
        }
    })
}

/// One domain per group of CPUs, which are all of this capacity; what they are made of is the same.
pub(super) fn build(
    file: &DomainFile,
    groups: Vec<Vec<CpuId>>,
    capacity: Capacity,
    sources: &mut Vec<(String, String)>,
) -> Result<Vec<ClockDomain>, Problem> {
    if file.name.value.trim().is_empty() {
        return Err(Problem::at(
            &file.name.span,
            "expected a name of the clock domain, found an empty text",
        ));
    }
    let (table, points) =
        opps::build(&file.opps, file.power.as_ref(), file.energy_model.then_some(capacity))?;
    let control = file.control.as_ref().map_or(Ok(FrequencyControl::Software), control)?;
    let transition = transition(file, points.len())?;
    let idle =
        idle(&file.idle, points.iter().map(|point| point.busy_power_mw).fold(0.0, f64::max))?;
    sources.extend(sources_of(file));
    let several = groups.len() > 1;
    let name = |cpus: &[CpuId]| match cpus.first() {
        Some(first) if several => format!("{}{}", file.name.value, first.0),
        _ => file.name.value.clone(),
    };
    Ok(groups
        .into_iter()
        .map(|cpus| ClockDomain {
            name: name(&cpus),
            cpus,
            opps: table.clone(),
            points: points.clone(),
            control,
            transition: transition.clone(),
            idle: idle.clone(),
            frequency_invariant: file.frequency_invariant,
            fast_switch: file.fast_switch,
            from_any_cpu: file.from_any_cpu,
            measured_sampler: None,
        })
        .collect())
}

fn sources_of(file: &DomainFile) -> Vec<(String, String)> {
    let columns = &file.opps.source;
    let groups = [
        ("", Some(&file.source)),
        (".control", file.control.as_ref().map(|control| &control.source)),
        (".opps.frequency", Some(&columns.frequency)),
        (".opps.voltage", columns.voltage.as_ref().map(|source| &source.value)),
        (".opps.power", columns.power.as_ref().map(|source| &source.value)),
        (".power", file.power.as_ref().map(|power| &power.source)),
        (".transition", Some(&file.transition.source)),
        (".declared", Some(&file.declared.source)),
        (".idle", Some(&file.idle.source)),
    ];
    let path = |(group, source): (&str, Option<&crate::file::Source>)| {
        source.map(|source| (format!("domains.{}{group}", file.name.value), source.0.clone()))
    };
    groups.into_iter().filter_map(path).collect()
}

fn control(file: &Control) -> Result<FrequencyControl, Problem> {
    if file.period_us.value.0 == Nanos::ZERO {
        return Err(Problem::at(&file.period_us.span, "expected a period above 0, found 0"));
    }
    let (up, down) = (&file.up_percent, file.down_percent);
    if up.value > 100 || down > up.value {
        return Err(Problem::at(
            &up.span,
            format!("expected down_percent <= up_percent <= 100, found {down} and {}", up.value),
        ));
    }
    Ok(FrequencyControl::Demand {
        period: file.period_us.value.0,
        up_percent: up.value,
        down_percent: down,
    })
}

fn transition(file: &DomainFile, points: usize) -> Result<Transition, Problem> {
    let TransitionFile { write_us, stall_us, effect_us, grid_us, .. } = &file.transition;
    if let Some(grid) = grid_us
        && grid.value.0 == Nanos::ZERO
    {
        return Err(Problem::at(&grid.span, "expected a grid above 0, found 0")
            .with_hint("leave grid_us out"));
    }
    Ok(Transition {
        write: cost(write_us, points)?,
        stall: cost(stall_us, points)?,
        effect: cost(effect_us, points)?,
        grid: grid_us.as_ref().map(|grid| grid.value.0),
        declared_latency: file.declared.latency_us.0,
        declared_delay: file.declared.delay_us.map(|delay| delay.0),
        need_update_limits: file.declared.need_update_limits,
    })
}

fn cost(file: &At<CostValue>, points: usize) -> Result<Cost, Problem> {
    Ok(match &file.value {
        CostValue::Constant(time) => Cost::Constant(*time),
        CostValue::Direction { up, down } => Cost::Direction { up: *up, down: *down },
        CostValue::ByDistance { base, per_point } => {
            Cost::ByDistance { base: *base, per_point: *per_point }
        }
        CostValue::Matrix(rows) => {
            let bad = |found: String| {
                Problem::at(
                    &file.span,
                    format!(
                        "expected a matrix of {points} rows (from) by {points} columns (to), lowest point first, found {found}"
                    ),
                )
            };
            if rows.len() != points {
                return Err(bad(format!("{} rows", rows.len())));
            }
            for (from, row) in rows.iter().enumerate() {
                if row.len() != points {
                    return Err(bad(format!("{} columns in row {}", row.len(), from + 1)));
                }
                if row.get(from).is_some_and(|same| *same != Nanos::ZERO) {
                    return Err(bad(format!("a cost of staying at point {}", from + 1)));
                }
            }
            Cost::Matrix(rows.clone())
        }
    })
}

/// Deeper states wake up later, want longer stays and use less power.
fn idle(file: &Idle, most_busy_mw: f64) -> Result<Vec<IdleState>, Problem> {
    let Some(first) = file.states.value.first() else {
        return Err(Problem::at(&file.states.span, "expected at least one idle state, found none")
            .with_hint(
                "every CPU can wait: states = [{ name = \"WFI\", exit_latency_us = 1, ... }]",
            ));
    };
    if first.value.power_mw.0 > most_busy_mw {
        return Err(Problem::at(
            &first.span,
            format!(
                "expected less power than a busy CPU ({most_busy_mw} mW), found {} mW in {}",
                first.value.power_mw.0, first.value.name
            ),
        ));
    }
    for state in &file.states.value {
        let State { exit_latency_us, target_residency_us, name, .. } = &state.value;
        if target_residency_us.0 < exit_latency_us.0 {
            return Err(Problem::at(
                &state.span,
                format!(
                    "expected a residency of at least the exit latency in {name}, found {} < {} us",
                    target_residency_us.0.as_micros_f64(),
                    exit_latency_us.0.as_micros_f64()
                ),
            ));
        }
    }
    if let Some(state) = file.states.value.iter().skip(1).find(|state| state.value.polling) {
        let name = &state.value.name;
        let message =
            format!("expected a polling state to be the first, found {name} behind others");
        return Err(Problem::at(&state.span, message));
    }
    for pair in file.states.value.windows(2) {
        let [shallow, deep] = pair else { continue };
        let (s, d) = (&shallow.value, &deep.value);
        let what = [
            ("exit latency", d.exit_latency_us.0 < s.exit_latency_us.0),
            ("target residency", d.target_residency_us.0 < s.target_residency_us.0),
            ("power", d.power_mw > s.power_mw),
        ];
        if let Some((what, _)) = what.iter().find(|(_, wrong)| *wrong) {
            return Err(Problem::at(
                &deep.span,
                format!("expected idle states from shallow to deep, found the {what} of {} out of order after {}", d.name, s.name),
            )
            .with_hint("deeper states take longer to leave, want longer stays and use less power"));
        }
    }
    Ok(file.states.value.iter().map(|state| idle_state(&state.value)).collect())
}

fn idle_state(file: &State) -> IdleState {
    IdleState {
        name: file.name.clone(),
        exit_latency: file.exit_latency_us.0,
        target_residency: file.target_residency_us.0,
        power_mw: file.power_mw.0,
        stops_timer: file.stops_timer,
        polling: file.polling,
    }
}
