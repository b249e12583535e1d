//! What the manifest and the notes of a run say.

use super::Declared;
use crate::kinds::Rows;
use flyball_run::name::REFUSED;

/// The machine in a few words.
pub(super) fn machine(run: &Rows<'_>) -> Option<String> {
    let machine = run.manifest.machine.as_ref()?;
    let parts = [machine.cpu_model.clone(), machine.kernel.clone()];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What the drivers declare.
pub(super) fn declared(run: &Rows<'_>) -> Vec<Declared> {
    let domains = run.manifest.machine.iter().flat_map(|machine| &machine.domains);
    domains
        .filter_map(|domain| {
            let latency_us = domain.declared_latency_ns? as f64 / 1e3;
            Some(Declared { domain: domain.name.clone(), latency_us })
        })
        .collect()
}

/// The notes that were written with the run.
pub(super) fn notes(run: &Rows<'_>) -> Vec<String> {
    severity(run, |severity| severity != REFUSED)
}

/// What was not measured.
pub(super) fn refused(run: &Rows<'_>) -> Vec<String> {
    severity(run, |severity| severity == REFUSED)
}

fn severity(run: &Rows<'_>, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let notes = (0..run.tables.notes.len()).filter_map(|at| run.tables.notes.row(at));
    notes
        .filter(|note| wanted(&note.severity))
        .map(|note| format!("{}: {}", note.object, note.message))
        .collect()
}
