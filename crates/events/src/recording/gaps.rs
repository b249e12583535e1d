//! Where events were lost. What lies in a gap is unknown: no question counts it as anything.

use flyball_run::Tables;

use super::events::of_trial;

/// The gaps of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// (CPU or all, from, to), ascending in `from`.
    gaps: Vec<(Option<u32>, u64, u64)>,
    /// Events known to be lost.
    events: u64,
}

impl Gaps {
    /// The rows of the table `lost`.
    pub(super) fn of(tables: &Tables, trial: Option<u32>) -> Gaps {
        let lost = &tables.lost;
        let mut found = Gaps::default();
        for row in 0..lost.len() {
            let (Some(&from), Some(&to)) = (lost.from_ns.get(row), lost.to_ns.get(row)) else {
                continue;
            };
            if of_trial(&lost.trial, row, trial) {
                found.gaps.push((lost.cpu.get(row), from, to.max(from)));
                let events = lost.events.get(row).unwrap_or_default();
                found.events = found.events.saturating_add(events);
            }
        }
        found.gaps.sort_by_key(|gap| gap.1);
        found
    }

    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Number of gaps.
    pub fn len(&self) -> usize {
        self.gaps.len()
    }

    /// Number of events that are known to be lost; a gap may have lost more.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How much of `from` to `to` lies in gaps, those of `cpu` and of all CPUs; of every CPU where
    /// `cpu` is none. Overlapping gaps count once.
    pub fn overlap_ns(&self, cpu: Option<u32>, from_ns: u64, to_ns: u64) -> u64 {
        let mut covered_to = from_ns;
        let mut total = 0;
        for &(owner, from, to) in &self.gaps {
            if from >= to_ns {
                break;
            }
            let concerns = cpu.is_none() || owner.is_none() || owner == cpu;
            let (from, to) = (from.max(covered_to), to.min(to_ns));
            if concerns && from < to {
                total += to - from;
                covered_to = to;
            }
        }
        total
    }

    /// The gaps that concern a CPU: its own and those of all; they may overlap.
    pub fn of_cpu(&self, cpu: u32) -> impl Iterator<Item = (u64, u64)> + '_ {
        let concerns = move |owner: Option<u32>| owner.is_none() || owner == Some(cpu);
        let gaps = self.gaps.iter().filter(move |gap| concerns(gap.0));
        gaps.map(|&(_, from, to)| (from, to))
    }

    /// Whether a gap of any CPU touches the stretch from `from` to `to`; nothing is lost in one of
    /// no length.
    pub fn touch(&self, from_ns: u64, to_ns: u64) -> bool {
        from_ns < to_ns && self.gaps.iter().any(|&(_, from, to)| from < to_ns && to > from_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_gaps_count_once_and_only_for_their_cpu() {
        let gaps =
            Gaps { gaps: vec![(Some(0), 10, 20), (None, 15, 25), (Some(1), 30, 40)], events: 0 };
        assert_eq!(gaps.overlap_ns(Some(0), 0, 100), 15);
        assert_eq!(gaps.overlap_ns(Some(1), 0, 100), 20);
        assert_eq!(gaps.overlap_ns(None, 0, 100), 25);
        assert_eq!(gaps.overlap_ns(Some(0), 12, 14), 2);
        assert!(gaps.touch(39, 50) && !gaps.touch(40, 50));
    }
}
