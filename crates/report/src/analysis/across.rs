//! What else than the condition differs between two runs that are compared.
//!
//! Only what both runs record can differ: an import that names no kernel is not another kernel.

use flyball_run::Manifest;
use flyball_run::manifest::WorkloadRecord;

use super::like::CellPair;
use super::source::Context;

/// Known differences between the runs of the two sides, as far as they touch the workloads of
/// `pairs`; none where both sides are of one run.
pub(super) fn differences(
    contexts: [&Context<'_>; 2],
    pairs: &[CellPair<'_>],
) -> Option<Vec<String>> {
    let [subject, baseline] = contexts;
    if subject.index == baseline.index {
        return None;
    }
    let (a, b) = (&subject.run.manifest, &baseline.run.manifest);
    let names = pairs.iter().map(|(cell, _)| cell.model.workload.as_str());
    let mut found: Vec<String> =
        names.filter_map(|name| workload(a.workload(name)?, b.workload(name)?)).collect();
    found.extend(machine(a, b));
    if let (Some(a), Some(b)) = (&a.input, &b.input)
        && a != b
    {
        let of = |file: &Option<String>, kind: &str| file.clone().unwrap_or(kind.to_owned());
        let (a, b) = (of(&a.file, &a.kind), of(&b.file, &b.kind));
        found.push(match a == b {
            true => format!("the input ({a}, but not with the same properties)"),
            false => differs("the input", &a, &b),
        });
    }
    Some(found)
}

fn differs(what: &str, a: &str, b: &str) -> String {
    format!("{what} ({a} against {b})")
}

/// A difference where both are known.
fn known(what: &str, a: &str, b: &str) -> Option<String> {
    (!a.is_empty() && !b.is_empty() && a != b).then(|| differs(what, a, b))
}

fn known_option(what: &str, a: Option<&String>, b: Option<&String>) -> Option<String> {
    known(what, a?, b?)
}

/// What differs in a workload of the same name.
fn workload(a: &WorkloadRecord, b: &WorkloadRecord) -> Option<String> {
    let period = |record: &WorkloadRecord| record.period_ns.map(|ns| format!("{ns} ns"));
    let (period_a, period_b) = (period(a), period(b));
    let parameters = !a.params.is_empty() && !b.params.is_empty() && a.params != b.params;
    // A kernel's description is this program's prose; that of a command is what was run.
    let program = |record: &WorkloadRecord| match record.kernel.as_str() {
        "" | "command" => record.description.clone(),
        _ => String::new(),
    };
    let found: Vec<String> = [
        known("kernel", &a.kernel, &b.kernel),
        known_option("form", a.form.as_ref(), b.form.as_ref()),
        parameters.then(|| "parameters".to_owned()),
        known_option("period", period_a.as_ref(), period_b.as_ref()),
        known("program", &program(a), &program(b)),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!found.is_empty()).then(|| format!("{}: {}", a.name, found.join(" and ")))
}

/// What differs in the machine.
fn machine(a: &Manifest, b: &Manifest) -> Vec<String> {
    let (Some(a), Some(b)) = (&a.machine, &b.machine) else { return Vec::new() };
    [
        known_option("the CPU", a.cpu_model.as_ref(), b.cpu_model.as_ref()),
        known_option("the operating system", a.kernel.as_ref(), b.kernel.as_ref()),
        known_option("virtualisation", a.virtualisation.as_ref(), b.virtualisation.as_ref()),
    ]
    .into_iter()
    .flatten()
    .collect()
}
