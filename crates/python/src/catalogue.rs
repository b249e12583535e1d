//! What ships: tables, governors, platforms, scenarios.

use crate::error::{json, raise};
use flyball_platform::{Kernel, Platform};
use pyo3::prelude::*;
use serde_json::{Value, json as value};

/// Every table with its columns, JSON.
#[pyfunction]
pub fn registry() -> PyResult<String> {
    let tables = flyball_run::registry().iter().map(|table| {
        let columns = table.columns.iter().map(|column| {
            value!({
                "name": column.name,
                "kind": column.kind.name(),
                "unit": column.unit(),
                "nullable": column.nullable,
                "doc": column.doc.trim(),
            })
        });
        value!({"name": table.name, "doc": table.doc.trim(), "columns": columns.collect::<Vec<_>>()})
    });
    json(&tables.collect::<Vec<_>>())
}

/// Every governor with its tunables, JSON.
#[pyfunction]
pub fn governors() -> PyResult<String> {
    let governors = flyball_governors::catalogue().iter().map(|info| {
        value!({
            "name": info.name,
            "summary": info.summary,
            "source": info.source,
            "needs": info.needs(),
            "tunables": info.create().tunables(),
        })
    });
    json(&governors.collect::<Vec<_>>())
}

/// Every platform and its clock domains, and every kernel, JSON.
#[pyfunction]
pub fn platforms() -> PyResult<String> {
    let shipped = flyball_platform::catalogue();
    let platforms =
        shipped.platforms.iter().map(|entry| Platform::named(entry.name).map(|p| platform(&p)));
    let platforms: Vec<Value> = platforms.collect::<Result<_, _>>().map_err(raise)?;
    let kernels = shipped.kernels.iter().map(|entry| {
        let kernel = Kernel::named(entry.name)?;
        Ok(value!({"name": kernel.name, "hz": kernel.hz, "governor": kernel.default_governor}))
    });
    let kernels: Vec<Value> =
        kernels.collect::<Result<_, flyball_platform::DescriptionError>>().map_err(raise)?;
    json(&value!({"platforms": platforms, "kernels": kernels}))
}

fn platform(platform: &Platform) -> Value {
    let domains = platform.domains.iter().map(|domain| {
        let khz: Vec<u64> = domain.opps.as_slice().iter().map(|opp| opp.frequency.0).collect();
        let cpus: Vec<u32> = domain.cpus.iter().map(|cpu| cpu.0).collect();
        value!({"name": domain.name, "cpus": cpus, "khz": khz})
    });
    let cpus = platform.cpus.iter().map(
        |cpu| value!({"cpu": cpu.id.0, "core_type": cpu.core_type, "capacity": cpu.capacity.0}),
    );
    value!({
        "name": platform.name,
        "title": platform.title,
        "kernel": platform.default_kernel,
        "domains": domains.collect::<Vec<_>>(),
        "cpus": cpus.collect::<Vec<_>>(),
    })
}

/// Every scenario that ships, with what it shows, JSON.
#[pyfunction]
pub fn scenarios() -> PyResult<String> {
    let all = flyball_sim::scenario::EXAMPLES.iter();
    let all = all.map(|own| value!({"name": own.name, "shows": own.summary()}));
    json(&all.collect::<Vec<_>>())
}
