//! Decisions beside changes: which were predicted, which were missed and why.

use serde::Serialize;

/// A frequency that was set or asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// When.
    pub t_ns: u64,
    /// Number of the clock domain, in the order given.
    pub domain: usize,
    /// The operating point.
    pub khz: u64,
}

/// All that a report is made of.
#[derive(Debug)]
pub struct Score<'a> {
    /// What the kernel did.
    pub kernel: &'a [Change],
    /// What the shadow decided.
    pub decisions: &'a [Change],
    /// When the shadow was given something, and for which domain.
    pub updates: &'a [(u64, usize)],
    /// Where events were lost.
    pub gaps: &'a [u64],
    /// How far a decision may lie from its change.
    pub tolerance_ns: u64,
}

/// A change of the kernel's that was not predicted, or a decision that the kernel did not take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// What the kernel did, or what the shadow decided alone.
    pub change: Change,
    /// Why, in words.
    pub why: String,
}

/// What the governors decided beside what the kernel did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Changes by the kernel.
    pub changes: usize,
    /// Those that a decision predicts: same domain, same frequency, within the tolerance.
    pub predicted: usize,
    /// Their share; none without changes.
    pub share: Option<f64>,
    /// How far a decision may lie from its change.
    pub tolerance_ns: u64,
    /// The median of how far the kernel's change lies behind its decision; negative where the
    /// signal was recorded only after the change.
    pub median_after_ns: Option<i64>,
    /// The largest distance of a predicted change.
    pub farthest_ns: u64,
    /// Updates that the governors were given.
    pub updates: usize,
    /// Changes that were not predicted.
    pub missed: Vec<Miss>,
    /// Decisions that the kernel did not take.
    pub alone: Vec<Miss>,
}

pub(super) fn report(score: &Score<'_>) -> Report {
    let mut used = vec![false; score.decisions.len()];
    let mut after = Vec::new();
    let mut missed = Vec::new();
    for change in score.kernel {
        // Decisions are in order of time: only those near the change are looked at.
        let earliest = change.t_ns.saturating_sub(score.tolerance_ns);
        let latest = change.t_ns.saturating_add(score.tolerance_ns);
        let from = score.decisions.partition_point(|decision| decision.t_ns < earliest);
        let near = score.decisions.iter().zip(&used).enumerate().skip(from);
        let near = near.take_while(|(_, (decision, _))| decision.t_ns <= latest);
        let found = near
            .filter(|(_, (decision, used))| {
                !**used && (decision.domain, decision.khz) == (change.domain, change.khz)
            })
            .min_by_key(|(_, (decision, _))| decision.t_ns.abs_diff(change.t_ns));
        match found.map(|(at, (decision, _))| (at, change.t_ns as i64 - decision.t_ns as i64)) {
            Some((at, behind)) => {
                after.push(behind);
                if let Some(used) = used.get_mut(at) {
                    *used = true;
                }
            }
            None => missed.push(Miss { change: *change, why: score.why_missed(change) }),
        }
    }
    after.sort_unstable();
    let alone = score.decisions.iter().zip(&used).filter(|(_, used)| !**used);
    let alone =
        alone.map(|(decision, _)| Miss { change: *decision, why: score.why_alone(decision) });
    let changes = score.kernel.len();
    Report {
        changes,
        predicted: after.len(),
        share: (changes > 0).then(|| after.len() as f64 / changes as f64),
        tolerance_ns: score.tolerance_ns,
        median_after_ns: after.get(after.len() / 2).copied(),
        farthest_ns: after.iter().map(|after| after.unsigned_abs()).max().unwrap_or(0),
        updates: score.updates.len(),
        missed,
        alone: alone.collect(),
    }
}

impl Score<'_> {
    fn why_missed(&self, change: &Change) -> String {
        let near = |t_ns: u64| t_ns.abs_diff(change.t_ns) <= self.tolerance_ns;
        let mut of_domain = self.updates.iter().filter(|(_, domain)| *domain == change.domain);
        if !of_domain.any(|(t_ns, _)| *t_ns <= change.t_ns) {
            return "the trace had not yet shown every CPU of the domain: nobody could decide"
                .to_owned();
        }
        if self.gap_before(change) {
            return "events were lost since the change before".to_owned();
        }
        let since = self.before(change);
        let between = |update: &&(u64, usize)| {
            update.1 == change.domain && (since..=change.t_ns).contains(&update.0)
        };
        if !self.updates.iter().any(|update| between(&update)) {
            return "no signal was recorded since the domain's last change: the kernel acted on one that no probe shows".to_owned();
        }
        let same = |decision: &&Change| decision.domain == change.domain;
        let others = self.decisions.iter().filter(same).filter(|decision| near(decision.t_ns));
        if let Some(other) = others.min_by_key(|decision| decision.t_ns.abs_diff(change.t_ns))
            && other.khz != change.khz
        {
            return format!(
                "the shadow asked for {} kHz then: a signal that the trace lacks differs",
                other.khz
            );
        }
        let of_frequency = |decision: &&Change| decision.khz == change.khz;
        let closest = self.decisions.iter().filter(same).filter(of_frequency);
        let closest = closest.min_by_key(|decision| decision.t_ns.abs_diff(change.t_ns));
        let updated =
            self.updates.iter().any(|(t_ns, domain)| *domain == change.domain && near(*t_ns));
        match closest {
            _ if !updated => "no utilisation was recorded for the domain then: the kernel had another reason (limits, real-time or deadline tasks, boost)".to_owned(),
            Some(decision) if decision.t_ns < change.t_ns => {
                format!("the shadow decided so {:.1} ms earlier", (change.t_ns - decision.t_ns) as f64 / 1e6)
            }
            Some(decision) => {
                format!("the shadow decided so {:.1} ms later", (decision.t_ns - change.t_ns) as f64 / 1e6)
            }
            None => "the shadow never decided so: a signal that the trace lacks was larger".to_owned(),
        }
    }

    fn why_alone(&self, decision: &Change) -> String {
        let mut later = self.kernel.iter().filter(|change| change.domain == decision.domain);
        match later.find(|change| change.khz == decision.khz && change.t_ns > decision.t_ns) {
            Some(change) => {
                format!(
                    "the kernel did so {:.1} ms later",
                    (change.t_ns - decision.t_ns) as f64 / 1e6
                )
            }
            None => "the kernel did not do so until the end".to_owned(),
        }
    }

    /// When the kernel last changed the domain's frequency before `change`.
    fn before(&self, change: &Change) -> u64 {
        let own = self.kernel.iter().filter(|other| other.domain == change.domain);
        own.map(|other| other.t_ns).filter(|t_ns| *t_ns < change.t_ns).max().unwrap_or(0)
    }

    fn gap_before(&self, change: &Change) -> bool {
        let since = self.before(change);
        self.gaps.iter().any(|gap| (since..=change.t_ns).contains(gap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(t_ns: u64, khz: u64) -> Change {
        Change { t_ns, domain: 0, khz }
    }

    #[test]
    fn a_miss_says_why() {
        let kernel = [change(1000, 5), change(5000, 6), change(9000, 7), change(20_000, 8)];
        let decisions = [change(990, 5), change(4000, 6), change(9001, 9)];
        let updates = [(990, 0), (4000, 0), (5001, 0), (9001, 0), (20_001, 0)];
        let score = Score {
            kernel: &kernel,
            decisions: &decisions,
            updates: &updates,
            gaps: &[15_000],
            tolerance_ns: 100,
        };
        let report = report(&score);
        assert_eq!((report.changes, report.predicted, report.share), (4, 1, Some(0.25)));
        assert_eq!((report.median_after_ns, report.farthest_ns), (Some(10), 10));
        let whys: Vec<&str> = report.missed.iter().map(|miss| miss.why.as_str()).collect();
        assert!(
            whys[0].contains("earlier") && whys[1].contains("9 kHz") && whys[2].contains("lost"),
            "{whys:?}"
        );
        assert_eq!(report.alone.len(), 2);
    }
}
