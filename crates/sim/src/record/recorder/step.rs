//! A governor's decision as a row.

use super::Recorder;
use flyball_governors::{Decision, Event, Request};
use flyball_run::GovernorStep;
use flyball_units::Nanos;

impl Recorder<'_> {
    /// The event that a domain's governor got, and what it asked for.
    pub(super) fn step(
        &self,
        at: Nanos,
        domain: usize,
        event: &Event<'_>,
        decision: &Decision,
    ) -> GovernorStep {
        let mut step = GovernorStep {
            t_ns: at.0,
            domain: self.rows.domain_name(domain),
            governor: self.rows.governor(domain),
            wake_at_ns: decision.wake_at.map(|at| at.0),
            why: Some(decision.why.to_owned()).filter(|why| !why.is_empty()),
            trial: Some(self.trial),
            ..GovernorStep::default()
        };
        describe(&mut step, event);
        match decision.request {
            Some(Request::Frequency { target, relation }) => {
                step.decision_khz = Some(target.0);
                let opps = self.platform.domains.get(domain).map(|domain| &domain.opps);
                step.resolved_khz =
                    opps.map(|opps| opps.resolve(target, opps.min(), opps.max(), relation).0);
            }
            Some(Request::Range { min, max }) => {
                (step.range_min_khz, step.range_max_khz) = (Some(min.0), Some(max.0));
            }
            Some(Request::Perf(perf)) => step.perf = Some(perf),
            Some(Request::Epp(epp)) => step.epp = Some(u32::from(epp)),
            _ => {}
        }
        step
    }
}

/// What kind of event it was, and the utilisation that it carried.
fn describe(step: &mut GovernorStep, event: &Event<'_>) {
    if let Event::Util { signals, .. } = event {
        step.util = signals.iter().map(|signal| signal.util.max(signal.util_est)).max();
        step.max = signals.iter().map(|signal| signal.capacity).max().filter(|max| *max > 0);
    }
    event.name().clone_into(&mut step.event);
    step.cpu = event.cpu().map(|cpu| cpu.0);
}
