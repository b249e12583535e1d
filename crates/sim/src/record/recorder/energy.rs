//! Where the energy went: the totals of a phase as rows.

use super::Recorder;
use crate::engine::Summary;
use flyball_run::EnergyShare;
use flyball_units::Nanos;

impl Recorder<'_> {
    /// Busy time and energy of each operating point, the rest of each domain, and the base.
    pub(super) fn energy(&mut self, summary: &Summary) {
        let trial = Some(self.trial);
        for (at, domain) in summary.domains.iter().enumerate() {
            let Some(described) = self.platform.domains.get(at) else { continue };
            let row = |state: &str, point, time: Nanos, energy_mj| EnergyShare {
                kind: "domain".to_owned(),
                cpu: None,
                domain: Some(domain.name.clone()),
                state: state.to_owned(),
                point_khz: point,
                residency_ns: time.0,
                energy_mj,
                trial,
            };
            let (mut busy, mut busy_mj) = (0, 0.0);
            for (residency, point) in domain.residency.iter().zip(&described.points) {
                if residency.busy.0 > 0 {
                    let energy = residency.busy.as_secs_f64() * point.busy_power_mw;
                    (busy, busy_mj) = (busy + residency.busy.0, busy_mj + energy);
                    self.put(&row("busy", Some(residency.frequency.0), residency.busy, energy));
                }
            }
            let all = summary.elapsed.0.saturating_mul(described.cpus.len() as u64);
            let rest = Nanos(all.saturating_sub(busy));
            self.put(&row("idle", None, rest, domain.energy_mj - busy_mj));
        }
        self.put(&EnergyShare {
            kind: "package".to_owned(),
            cpu: None,
            domain: None,
            state: "base".to_owned(),
            point_khz: None,
            residency_ns: summary.elapsed.0,
            energy_mj: summary.base_energy_mj,
            trial,
        });
    }
}
