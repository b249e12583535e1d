//! The figures that only a model knows, variants side by side.

use crate::protocol::rampup::model::Case;
use flyball_platform::rule;
use flyball_run::name::RAMPUP_TASK;
use flyball_sim::record::{Outcome, Spread, Unit};
use flyball_sim::scenario::Scenario;
use flyball_sim::text::{governors, value};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The figures that answer the question, one column per case with the outcomes of its phases; `spin`
/// is how long each was watched.
pub fn figures(names: &[String], cases: &[Case], results: &[Vec<Outcome>], spin: &str) -> String {
    let Some(first) = cases.first() else { return String::new() };
    let scenario = &first.scenario;
    let mut text = format!(
        "{}; median [1 %, 99 %] over {} phases of tick and poll\n\n",
        scenario.platform.title, scenario.phases
    );
    let own = |label: &str, of: fn(&Scenario) -> String| {
        let cells = cases.iter().map(|case| of(&case.scenario));
        std::iter::once(label.to_owned()).chain(cells).collect()
    };
    let mut cells: Vec<Vec<String>> = vec![own("kernel", kernel), own("governor", governor)];
    cells.extend(rows(scenario).iter().map(|(subject, name, unit, label)| {
        let cell = |outcomes: &Vec<Outcome>| {
            cell(outcomes, subject, name, *unit).unwrap_or_else(|| absent(name, spin))
        };
        std::iter::once(label.clone()).chain(results.iter().map(cell)).collect()
    }));
    let heads = std::iter::once(String::new()).chain(names.iter().cloned());
    let heads: Vec<String> = heads.collect();
    let width = |column: usize| {
        let cells = cells.iter().filter_map(|row| row.get(column)).chain(heads.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + 2
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    for row in std::iter::once(&heads).chain(&cells) {
        let line: String =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn kernel(scenario: &Scenario) -> String {
    format!("{}, HZ={}", scenario.kernel.name, scenario.kernel.hz)
}

/// The governors, and the rate limit that is in force where none was set.
fn governor(scenario: &Scenario) -> String {
    let mut text = governors(scenario);
    let own = scenario.governors.iter().find(|spec| spec.name == "schedutil");
    if own.is_some_and(|spec| spec.tunables.iter().all(|(name, _)| name != "rate_limit_us")) {
        let domains = scenario.platform.domains.iter();
        let limits: BTreeSet<u32> =
            domains.map(|domain| rule::rate_limit_us(domain, &scenario.kernel)).collect();
        let limits: Vec<String> = limits.iter().map(u32::to_string).collect();
        let _ = write!(text, " rate_limit_us={}", limits.join("/"));
    }
    text
}

/// What stands where nothing came to be in any phase.
fn absent(name: &str, spin: &str) -> String {
    match name {
        "frequency_busy_khz" => "never busy".to_owned(),
        name if name.starts_with("util_") || name == "on_largest_ns" => {
            format!("not within {spin}")
        }
        _ => "none".to_owned(),
    }
}

/// Subject, metric, unit, and how the table names it.
fn rows(scenario: &Scenario) -> Vec<(String, String, Unit, String)> {
    let mut rows = Vec::new();
    let mut add = |subject: &str, name: String, unit, label: String| {
        rows.push((subject.to_owned(), name, unit, label));
    };
    for threshold in &scenario.utilization {
        add(
            RAMPUP_TASK,
            format!("util_{threshold}_ns"),
            Unit::Ns,
            format!("util_avg reaches {threshold}"),
        );
    }
    let mut types: Vec<&str> = Vec::new();
    for cpu in &scenario.platform.cpus {
        if !types.contains(&cpu.core_type.as_str()) {
            types.push(&cpu.core_type);
        }
    }
    if types.len() > 1 {
        add(
            RAMPUP_TASK,
            "on_largest_ns".to_owned(),
            Unit::Ns,
            "first on the largest core".to_owned(),
        );
        for core in types {
            add(RAMPUP_TASK, format!("on_{core}_ns"), Unit::Ns, format!("time on {core}"));
        }
    }
    for domain in &scenario.platform.domains {
        let subject = format!("domain {}", domain.name);
        let label = format!("{}: mean frequency while busy", domain.name);
        add(&subject, "frequency_busy_khz".to_owned(), Unit::Khz, label);
    }
    add("machine", "energy_mj".to_owned(), Unit::Mj, "energy".to_owned());
    rows
}

/// Median and range; None where it came to be in no phase.
fn cell(outcomes: &[Outcome], subject: &str, name: &str, unit: Unit) -> Option<String> {
    let found = spread(outcomes, subject, name)?;
    let median = value(unit, found.median);
    let range = match found.min == found.max {
        true => String::new(),
        false => format!(" [{}, {}]", value(unit, found.p1), value(unit, found.p99)),
    };
    let reached = match found.n < outcomes.len() {
        true => format!(" in {} of {}", found.n, outcomes.len()),
        false => String::new(),
    };
    Some(format!("{median}{range}{reached}"))
}

fn spread(outcomes: &[Outcome], subject: &str, name: &str) -> Option<Spread> {
    flyball_sim::record::spread(outcomes.iter().filter_map(|o| o.value(subject, name)))
}
