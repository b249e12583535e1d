//! The manifest of a model run. It holds nothing of the machine that simulated: no time, no name,
//! no path, so that the run directory is the same everywhere, byte for byte.

use crate::scenario::Scenario;
use flyball_run::manifest::{ClockRecord, ConditionRecord, Manifest, WorkloadRecord};
use flyball_run::{RunState, registry};

/// When virtual time begins.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// The manifest of a run of `kind` (`sim`, `sweep`, `rampup`), before it ends.
pub fn manifest(kind: &str, scenario: &Scenario) -> Manifest {
    let virtual_clock = |table: &flyball_run::TableSpec| ClockRecord {
        table: table.name.to_owned(),
        clock: "virtual".to_owned(),
        ..ClockRecord::default()
    };
    let workloads = scenario.tasks.iter().map(|task| WorkloadRecord {
        name: task.name.clone(),
        deadline_ns: task.deadline.map(|deadline| deadline.0),
        ..WorkloadRecord::default()
    });
    let governors: Vec<&str> = scenario.governors.iter().map(|spec| spec.name.as_str()).collect();
    let condition = ConditionRecord {
        name: scenario.name.clone(),
        governor: Some(joined(&governors)),
        ..ConditionRecord::default()
    };
    Manifest {
        kind: kind.to_owned(),
        created: CREATED.to_owned(),
        state: RunState::Running,
        seed: Some(scenario.seed),
        experiment: Some(scenario.text.clone()),
        workloads: workloads.collect(),
        conditions: vec![condition],
        clocks: registry().iter().filter(|t| has_time(t)).map(virtual_clock).collect(),
        ..Manifest::default()
    }
}

fn has_time(table: &flyball_run::TableSpec) -> bool {
    table
        .columns
        .iter()
        .any(|column| matches!(column.name, "t_ns" | "from_ns" | "woken_ns" | "released_ns"))
}

/// One name where all are the same.
fn joined(names: &[&str]) -> String {
    match names {
        [first, rest @ ..] if rest.iter().all(|name| name == first) => (*first).to_owned(),
        names => names.join(", "),
    }
}
