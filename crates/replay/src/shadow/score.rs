//! Decisions beside changes: which were predicted, which were missed and why.

use flyball_stats::median_high;
use std::collections::BTreeMap;

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
    /// Name and CPUs of each clock domain.
    pub domains: &'a [(String, Vec<u32>)],
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
    /// How long CPUs were busy, and how long of it with the frequency that the governor asked for.
    pub busy_ns: u64,
    /// The latter.
    pub same_ns: u64,
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
    /// How long CPUs were busy, each domain's time by itself, after the governor's first answer.
    pub busy_ns: u64,
    /// How long of it with the frequency that the governor asked for.
    pub same_ns: u64,
    /// The same per clock domain, in the order given.
    pub domains: Vec<DomainReport>,
    /// Changes that were not predicted, in order of time.
    pub missed: Vec<Miss>,
    /// Decisions that the kernel did not take, in order of time.
    pub alone: Vec<Miss>,
}

/// One clock domain's part of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DomainReport {
    /// Its name.
    pub name: String,
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// Changes by the kernel.
    pub changes: usize,
    /// Those that a decision predicts.
    pub predicted: usize,
    /// Their share; none without changes.
    pub share: Option<f64>,
    /// Decisions that the kernel did not take.
    pub alone: usize,
    /// The median of how far the kernel's change lies behind its decision.
    pub median_after_ns: Option<i64>,
    /// The largest distance of a predicted change.
    pub farthest_ns: u64,
    /// Updates that the governor was given.
    pub updates: usize,
}

pub(super) fn report(score: &Score<'_>) -> Report {
    let mut after = Vec::new();
    let (mut missed, mut alone, mut domains) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (name, cpus)) in score.domains.iter().enumerate() {
        let side = Side::of(score, number);
        let judged = side.judge();
        domains.push(DomainReport {
            name: name.clone(),
            cpus: cpus.clone(),
            changes: side.kernel.len(),
            predicted: judged.after.len(),
            share: share(judged.after.len(), side.kernel.len()),
            alone: judged.alone.len(),
            median_after_ns: median_high(&judged.after),
            farthest_ns: farthest(&judged.after),
            updates: side.updates.len(),
        });
        after.extend(judged.after);
        missed.extend(judged.missed);
        alone.extend(judged.alone);
    }
    after.sort_unstable();
    missed.sort_by_key(|miss| miss.change.t_ns);
    alone.sort_by_key(|miss| miss.change.t_ns);
    Report {
        changes: score.kernel.len(),
        predicted: after.len(),
        share: share(after.len(), score.kernel.len()),
        tolerance_ns: score.tolerance_ns,
        median_after_ns: median_high(&after),
        farthest_ns: farthest(&after),
        updates: score.updates.len(),
        busy_ns: score.busy_ns,
        same_ns: score.same_ns,
        domains,
        missed,
        alone,
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn farthest(after: &[i64]) -> u64 {
    after.iter().map(|after| after.unsigned_abs()).max().unwrap_or(0)
}

/// One domain's changes and decisions, in order of time: a trace has many of each.
struct Side<'a> {
    score: &'a Score<'a>,
    kernel: Vec<Change>,
    decisions: Vec<Change>,
    updates: Vec<u64>,
    /// Times of the kernel's changes and of the shadow's decisions, by frequency.
    set_at: BTreeMap<u64, Vec<u64>>,
    decided_at: BTreeMap<u64, Vec<u64>>,
}

/// What became of a domain's changes and decisions.
#[derive(Default)]
struct Judged {
    /// How far each predicted change lies behind its decision, ascending.
    after: Vec<i64>,
    missed: Vec<Miss>,
    alone: Vec<Miss>,
}

fn by_frequency(changes: &[Change]) -> BTreeMap<u64, Vec<u64>> {
    let mut times = BTreeMap::<u64, Vec<u64>>::new();
    for change in changes {
        times.entry(change.khz).or_default().push(change.t_ns);
    }
    times
}

impl<'a> Side<'a> {
    fn of(score: &'a Score<'a>, number: usize) -> Side<'a> {
        let own = |changes: &[Change]| {
            let own = changes.iter().filter(|change| change.domain == number);
            let mut own: Vec<Change> = own.copied().collect();
            own.sort_by_key(|change| change.t_ns);
            own
        };
        let (kernel, decisions) = (own(score.kernel), own(score.decisions));
        let updates = score.updates.iter().filter(|(_, domain)| *domain == number);
        let mut updates: Vec<u64> = updates.map(|(t_ns, _)| *t_ns).collect();
        updates.sort_unstable();
        let (set_at, decided_at) = (by_frequency(&kernel), by_frequency(&decisions));
        Side { score, kernel, decisions, updates, set_at, decided_at }
    }

    /// Gives each change the nearest decision of its frequency; a decision predicts one change.
    fn judge(&self) -> Judged {
        let mut judged = Judged::default();
        let mut used = vec![false; self.decisions.len()];
        for change in &self.kernel {
            let near = self.near(change.t_ns).filter(|(at, decision)| {
                decision.khz == change.khz && used.get(*at) == Some(&false)
            });
            match near.min_by_key(|(_, decision)| decision.t_ns.abs_diff(change.t_ns)) {
                Some((at, decision)) => {
                    judged.after.push(change.t_ns as i64 - decision.t_ns as i64);
                    if let Some(used) = used.get_mut(at) {
                        *used = true;
                    }
                }
                None => {
                    let why = self.why_missed(change);
                    judged.missed.push(Miss { change: *change, why });
                }
            }
        }
        judged.after.sort_unstable();
        let alone = self.decisions.iter().zip(&used).filter(|(_, used)| !**used);
        let alone =
            alone.map(|(decision, _)| Miss { change: *decision, why: self.why_alone(decision) });
        judged.alone = alone.collect();
        judged
    }

    /// The decisions within the tolerance of a time, with their positions.
    fn near(&self, t_ns: u64) -> impl Iterator<Item = (usize, &Change)> {
        let earliest = t_ns.saturating_sub(self.score.tolerance_ns);
        let latest = t_ns.saturating_add(self.score.tolerance_ns);
        let from = self.decisions.partition_point(|decision| decision.t_ns < earliest);
        let behind = self.decisions.iter().enumerate().skip(from);
        behind.take_while(move |(_, decision)| decision.t_ns <= latest)
    }

    /// Whether the governor was given anything from one time to another, both included.
    fn updated(&self, from_ns: u64, to_ns: u64) -> bool {
        let at = self.updates.partition_point(|t_ns| *t_ns < from_ns);
        self.updates.get(at).is_some_and(|t_ns| *t_ns <= to_ns)
    }

    fn why_missed(&self, change: &Change) -> String {
        let t_ns = change.t_ns;
        if !self.updated(0, t_ns) {
            return "the trace had not yet shown every CPU of the domain: nobody could decide"
                .to_owned();
        }
        let behind = self.kernel.partition_point(|other| other.t_ns < t_ns);
        let since = behind.checked_sub(1).and_then(|last| self.kernel.get(last));
        let since = since.map_or(0, |last| last.t_ns);
        if self.score.gaps.iter().any(|gap| (since..=t_ns).contains(gap)) {
            return "events were lost since the change before".to_owned();
        }
        if !self.updated(since, t_ns) {
            return "no signal was recorded since the domain's last change: the kernel acted on one that no probe shows".to_owned();
        }
        let nearest = self.near(t_ns).min_by_key(|(_, other)| other.t_ns.abs_diff(t_ns));
        if let Some((_, other)) = nearest.filter(|(_, other)| other.khz != change.khz) {
            return format!(
                "the shadow asked for {} kHz then: a signal that the trace lacks differs",
                other.khz
            );
        }
        if nearest.is_none() && behind == 0 {
            return "the domain's first change: nobody knows what was in force before".to_owned();
        }
        let tolerance = self.score.tolerance_ns;
        if !self.updated(t_ns.saturating_sub(tolerance), t_ns.saturating_add(tolerance)) {
            return "no utilisation was recorded for the domain then: the kernel had another reason (limits, real-time or deadline tasks, boost)".to_owned();
        }
        match self.decided_at.get(&change.khz).and_then(|times| closest(times, t_ns)) {
            Some(decided) if decided < t_ns => {
                format!("the shadow decided so {:.1} ms earlier", (t_ns - decided) as f64 / 1e6)
            }
            Some(decided) => {
                format!("the shadow decided so {:.1} ms later", (decided - t_ns) as f64 / 1e6)
            }
            None => {
                "the shadow never decided so: a signal that the trace lacks was larger".to_owned()
            }
        }
    }

    fn why_alone(&self, decision: &Change) -> String {
        let times = self.set_at.get(&decision.khz).map(Vec::as_slice).unwrap_or_default();
        let later = times.partition_point(|t_ns| *t_ns <= decision.t_ns);
        match times.get(later) {
            Some(t_ns) => {
                format!("the kernel did so {:.1} ms later", (t_ns - decision.t_ns) as f64 / 1e6)
            }
            None => "the kernel did not do so until the end".to_owned(),
        }
    }
}

/// The time closest to another; of two the earlier.
fn closest(sorted: &[u64], t_ns: u64) -> Option<u64> {
    let behind = sorted.partition_point(|time| *time <= t_ns);
    let before = behind.checked_sub(1).and_then(|last| sorted.get(last));
    let around = before.into_iter().chain(sorted.get(behind));
    around.copied().min_by_key(|time| time.abs_diff(t_ns))
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
        let domains = [("policy0".to_owned(), vec![0])];
        let score = Score {
            domains: &domains,
            kernel: &kernel,
            decisions: &decisions,
            updates: &updates,
            gaps: &[15_000],
            tolerance_ns: 100,
            busy_ns: 0,
            same_ns: 0,
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
        let domain = &report.domains[0];
        assert_eq!((domain.changes, domain.predicted, domain.alone), (4, 1, 2));
        assert_eq!((domain.name.as_str(), domain.median_after_ns), ("policy0", Some(10)));
    }
}
