//! Operating points and how a wanted frequency becomes one of them.

use crate::KiloHertz;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One operating point of a clock domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Opp {
    /// Its frequency.
    #[serde(rename = "khz")]
    pub frequency: KiloHertz,
    /// Whether another point gives more speed for the same energy or less: the kernel's energy
    /// model marks such points and relation E passes over them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inefficient: bool,
}

/// How a target frequency is resolved to an operating point (cpufreq's `CPUFREQ_RELATION_*`).
///
/// The variants with `E` prefer efficient points; where no efficient one lies inside the limits,
/// they fall back to the plain relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// Lowest point at or above the target.
    #[default]
    L,
    /// Highest point at or below the target.
    H,
    /// Closest point; the lower one of two equally close.
    C,
    /// Lowest efficient point at or above the target.
    LE,
    /// Highest efficient point at or below the target.
    HE,
    /// Closest efficient point.
    CE,
}

/// Operating points in ascending order; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Opp>", into = "Vec<Opp>")]
pub struct OppTable(Vec<Opp>);

/// Why a list is no table of operating points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OppTableError {
    /// There is no point.
    Empty,
    /// A point has the frequency 0.
    Zero,
    /// Two points have the same frequency.
    Duplicate(KiloHertz),
}

impl OppTable {
    /// A table of the given points, in any order.
    pub fn new(mut opps: Vec<Opp>) -> Result<OppTable, OppTableError> {
        opps.sort_by_key(|opp| opp.frequency);
        match opps.first() {
            None => return Err(OppTableError::Empty),
            Some(first) if first.frequency.0 == 0 => return Err(OppTableError::Zero),
            Some(_) => {}
        }
        match opps.windows(2).find(|pair| pair[0].frequency == pair[1].frequency) {
            Some(pair) => Err(OppTableError::Duplicate(pair[0].frequency)),
            None => Ok(OppTable(opps)),
        }
    }

    /// A table of efficient points with these frequencies.
    pub fn from_khz(khz: &[u64]) -> Result<OppTable, OppTableError> {
        let opp = |&khz: &u64| Opp { frequency: KiloHertz(khz), inefficient: false };
        OppTable::new(khz.iter().map(opp).collect())
    }

    /// The points, ascending.
    pub fn as_slice(&self) -> &[Opp] {
        &self.0
    }

    /// Lowest frequency.
    pub fn min(&self) -> KiloHertz {
        self.0[0].frequency
    }

    /// Highest frequency.
    pub fn max(&self) -> KiloHertz {
        self.0[self.0.len() - 1].frequency
    }

    /// Number of the point with exactly this frequency, counted from the lowest.
    pub fn index_of(&self, frequency: KiloHertz) -> Option<usize> {
        self.0.binary_search_by_key(&frequency, |opp| opp.frequency).ok()
    }

    /// The next lower point's frequency; the lowest one's where there is none.
    pub fn step_down(&self, frequency: KiloHertz) -> KiloHertz {
        let below = self.0.partition_point(|opp| opp.frequency < frequency);
        self.0[below.saturating_sub(1)].frequency
    }

    /// The operating point for `target` under policy limits, as cpufreq resolves it: the target is
    /// clamped to the limits first, then the relation is applied inside them. Where no point lies
    /// on the relation's side, the nearest one on the other side is taken.
    #[inline]
    pub fn resolve(
        &self,
        target: KiloHertz,
        min: KiloHertz,
        max: KiloHertz,
        relation: Relation,
    ) -> KiloHertz {
        self.0[self.resolve_index(target, min, max, relation)].frequency
    }

    /// As [`OppTable::resolve`]: the point's number, counted from the lowest.
    pub fn resolve_index(
        &self,
        target: KiloHertz,
        min: KiloHertz,
        max: KiloHertz,
        relation: Relation,
    ) -> usize {
        let target = target.max(min).min(max);
        let split = self.0.partition_point(|opp| opp.frequency < target);
        let (plain, efficient) = match relation {
            Relation::L => (Relation::L, false),
            Relation::H => (Relation::H, false),
            Relation::C => (Relation::C, false),
            Relation::LE => (Relation::L, true),
            Relation::HE => (Relation::H, true),
            Relation::CE => (Relation::C, true),
        };
        if efficient
            && let Some(at) = self.find(split, target, plain, |opp| !opp.inefficient)
            && (min..=max).contains(&self.0[at].frequency)
        {
            return at;
        }
        self.find(split, target, plain, |_| true).unwrap_or(0)
    }

    /// The plain relation over the points that are `wanted`; None where there are none. `split` is
    /// the first point at or above the target.
    #[inline]
    fn find(
        &self,
        split: usize,
        target: KiloHertz,
        relation: Relation,
        wanted: impl Fn(&Opp) -> bool,
    ) -> Option<usize> {
        let (below, above) = self.0.split_at(split);
        let above = above.iter().position(&wanted).map(|at| split + at);
        let below = || below.iter().rposition(&wanted);
        let Some(above) = above else { return below() };
        let distance = self.0[above].frequency.0 - target.0;
        if distance == 0 || relation == Relation::L {
            return Some(above);
        }
        let Some(below) = below() else { return Some(above) };
        let closer_above = target.0 - self.0[below].frequency.0 > distance;
        Some(if relation == Relation::C && closer_above { above } else { below })
    }
}

impl TryFrom<Vec<Opp>> for OppTable {
    type Error = OppTableError;
    fn try_from(opps: Vec<Opp>) -> Result<OppTable, OppTableError> {
        OppTable::new(opps)
    }
}

impl From<OppTable> for Vec<Opp> {
    fn from(table: OppTable) -> Vec<Opp> {
        table.0
    }
}

impl fmt::Display for OppTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OppTableError::Empty => f.write_str("no operating point, at least one expected"),
            OppTableError::Zero => f.write_str("an operating point of 0 kHz"),
            OppTableError::Duplicate(khz) => write!(f, "operating point {} kHz twice", khz.0),
        }
    }
}

impl std::error::Error for OppTableError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> OppTable {
        let opp = |khz, inefficient| Opp { frequency: KiloHertz(khz), inefficient };
        OppTable::new(vec![opp(600, false), opp(800, true), opp(1000, false), opp(1400, true)])
            .unwrap()
    }

    fn resolve(target: u64, relation: Relation) -> u64 {
        table().resolve(KiloHertz(target), KiloHertz(600), KiloHertz(1400), relation).0
    }

    #[test]
    fn each_relation_takes_its_side() {
        assert_eq!(resolve(700, Relation::L), 800);
        assert_eq!(resolve(700, Relation::H), 600);
        assert_eq!(resolve(700, Relation::C), 600, "of two equally close the lower");
        assert_eq!(resolve(701, Relation::C), 800);
        assert_eq!(resolve(800, Relation::H), 800);
        assert_eq!(resolve(9999, Relation::L), 1400);
        assert_eq!(resolve(1, Relation::H), 600);
    }

    #[test]
    fn efficient_relations_pass_over_inefficient_points() {
        assert_eq!(resolve(700, Relation::LE), 1000);
        assert_eq!(resolve(900, Relation::HE), 600);
        assert_eq!(resolve(1300, Relation::LE), 1000, "nothing efficient above: the highest");
        let inside = table().resolve(KiloHertz(800), KiloHertz(800), KiloHertz(800), Relation::LE);
        assert_eq!(inside.0, 800, "no efficient point inside the limits");
    }

    /// The relations in words, without a search.
    fn defined(target: u64, min: u64, max: u64, relation: Relation) -> u64 {
        let target = target.max(min).min(max);
        let among = |points: &[u64]| {
            let above = points.iter().copied().find(|&khz| khz >= target);
            let below = points.iter().copied().rfind(|&khz| khz <= target);
            match (relation, below, above) {
                (_, Some(only), None) | (_, None, Some(only)) => Some(only),
                (Relation::L | Relation::LE, _, above) => above,
                (Relation::H | Relation::HE, below, _) => below,
                (_, Some(below), Some(above)) if target - below > above - target => Some(above),
                (_, below, _) => below,
            }
        };
        let efficient = matches!(relation, Relation::LE | Relation::HE | Relation::CE);
        let preferred = among(&[600, 1000]).filter(|khz| efficient && (min..=max).contains(khz));
        preferred.or_else(|| among(&[600, 800, 1000, 1400])).unwrap()
    }

    #[test]
    fn resolving_is_its_definition() {
        use Relation::{C, CE, H, HE, L, LE};
        let (table, limits) = (table(), [500, 600, 700, 800, 900, 1000, 1200, 1400, 1500]);
        for relation in [L, H, C, LE, HE, CE] {
            for (min, max) in limits.iter().flat_map(|&a| limits.iter().map(move |&b| (a, b))) {
                for target in (500..1600).step_by(10).filter(|_| min <= max) {
                    let (low, high) = (KiloHertz(min), KiloHertz(max));
                    let found = table.resolve(KiloHertz(target), low, high, relation).0;
                    let expected = defined(target, min, max, relation);
                    assert_eq!(found, expected, "{target} {min} {max} {relation:?}");
                    let at = table.resolve_index(KiloHertz(target), low, high, relation);
                    assert_eq!(table.as_slice()[at].frequency.0, found);
                }
            }
        }
    }

    #[test]
    fn limits_clamp_the_target() {
        let frequency =
            table().resolve(KiloHertz(1400), KiloHertz(600), KiloHertz(900), Relation::H);
        assert_eq!(frequency.0, 800);
    }

    #[test]
    fn steps_end_at_the_lowest() {
        assert_eq!(table().step_down(KiloHertz(1000)).0, 800);
        assert_eq!(table().step_down(KiloHertz(600)).0, 600);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert_eq!(OppTable::from_khz(&[]), Err(OppTableError::Empty));
        assert_eq!(OppTable::from_khz(&[0, 1]), Err(OppTableError::Zero));
        assert_eq!(OppTable::from_khz(&[2, 2]), Err(OppTableError::Duplicate(KiloHertz(2))));
    }
}
